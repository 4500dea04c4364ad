/** The lists of checkpoints of threads, read page by page. */
import { asProblem } from "../parts/problem";
import type { RunView } from "../../ipc/bindings/RunView";
import { rpc } from "../../ipc/client";
import { type CheckpointPages, withCheckpoint, withRun } from "./pages";
import { useRuns } from "./runStore";

const get = useRuns.getState;
const set = useRuns.setState;

/** Runs of an answer, with those that events brought while it was on its way, or before the list was asked for. */
function runsOf(threadId: string, answered: readonly RunView[] | undefined): ReadonlyMap<string, RunView> {
  const known = get().checkpoints.get(threadId)?.runs ?? [];
  const runs = new Map([...known, ...(answered ?? []).map((run) => [run.runId, run] as const)]);
  const last = get().live.get(threadId)?.run;
  const pages: CheckpointPages = { list: [], more: false, state: "ready", runs };
  return (last ? withRun(pages, last).runs : runs) ?? runs;
}

const CHECKPOINT_PAGE = 500;

export async function loadCheckpoints(threadId: string, again = false): Promise<void> {
  const known = get().checkpoints.get(threadId);
  if (known && !again && (known.state === "ready" || known.state === "loading")) return;
  patchPages(threadId, { state: "loading" });
  try {
    const answer = await rpc("thread.checkpoints", { threadId, limit: CHECKPOINT_PAGE });
    // Events may have brought newer ones while the answer was on its way.
    let pages: CheckpointPages = {
      list: answer.checkpoints,
      runs: runsOf(threadId, answer.runs),
      more: answer.more,
      state: "ready",
    };
    const newest = answer.checkpoints[0]?.id ?? "";
    for (const checkpoint of get().checkpoints.get(threadId)?.list ?? []) {
      if (checkpoint.id > newest) pages = withCheckpoint(pages, checkpoint);
    }
    set({ checkpoints: new Map(get().checkpoints).set(threadId, pages) });
  } catch (problem) {
    patchPages(threadId, { state: "failed", problem: asProblem(problem) });
  }
}

/** Joins the newest checkpoints, as they are now, with the older ones that were loaded. */
export async function refreshCheckpoints(threadId: string): Promise<void> {
  if (get().checkpoints.get(threadId)?.state !== "ready") return;
  try {
    const answer = await rpc("thread.checkpoints", { threadId, limit: CHECKPOINT_PAGE });
    const known = get().checkpoints.get(threadId);
    if (known?.state !== "ready") return;
    const [newest, oldest] = [answer.checkpoints[0]?.id ?? "", answer.checkpoints.at(-1)?.id ?? ""];
    const older = answer.more ? known.list.filter(({ id }) => id < oldest) : [];
    let pages: CheckpointPages = {
      ...known,
      list: [...answer.checkpoints, ...older],
      runs: runsOf(threadId, answer.runs),
      more: older.length > 0 ? known.more : answer.more,
    };
    // Events may have brought newer ones while the answer was on its way.
    for (const checkpoint of known.list)
      if (checkpoint.id > newest) pages = withCheckpoint(pages, checkpoint);
    set({ checkpoints: new Map(get().checkpoints).set(threadId, pages) });
  } catch {
    // The thread may have been deleted: the list of threads says so.
  }
}

const loadingOlder = new Map<string, Promise<void>>();

/** Reads the page before what is here. Who asks while one is on its way waits for that one. */
export function loadOlderCheckpoints(threadId: string, limit = CHECKPOINT_PAGE): Promise<void> {
  const loading = loadingOlder.get(threadId);
  if (loading) return loading;
  const reading = readOlder(threadId, limit).finally(() => loadingOlder.delete(threadId));
  loadingOlder.set(threadId, reading);
  return reading;
}

async function readOlder(threadId: string, limit: number): Promise<void> {
  const pages = get().checkpoints.get(threadId);
  const last = pages?.list.at(-1);
  if (!pages?.more || !last) return;
  try {
    const answer = await rpc("thread.checkpoints", { threadId, before: last.id, limit });
    const now = get().checkpoints.get(threadId);
    if (now) {
      const known = new Set(now.list.map((checkpoint) => checkpoint.id));
      patchPages(threadId, {
        list: [...now.list, ...answer.checkpoints.filter((checkpoint) => !known.has(checkpoint.id))],
        more: answer.more,
      });
    }
  } catch (problem) {
    patchPages(threadId, { problem: asProblem(problem), more: false });
  }
}

function patchPages(threadId: string, patch: Partial<CheckpointPages>): void {
  const { checkpoints } = get();
  const pages = checkpoints.get(threadId) ?? { list: [], more: false, state: "idle" as const };
  set({ checkpoints: new Map(checkpoints).set(threadId, { ...pages, ...patch }) });
}
