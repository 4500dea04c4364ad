/** Walking the checkpoints of a thread along one branch; "now" is what comes after the newest. */
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { useSession } from "../../state/session";
import { branchThrough } from "./lanes";
import { loadOlderCheckpoints, useRuns } from "../model/runStore";

/** The branch the cursor is on, oldest first. */
function currentBranch(): string[] {
  const { cursor } = useSession.getState();
  const list =
    cursor.threadId === null ? undefined : useRuns.getState().checkpoints.get(cursor.threadId)?.list;
  if (!list) return [];
  return branchThrough(list, cursor.checkpointId ?? list[0]?.id);
}

/** The checkpoint at a distance of steps from the cursor on its branch: an id, null for now, undefined when there is none. */
export function neighbour(by: number): string | null | undefined {
  const { cursor } = useSession.getState();
  const branch = currentBranch();
  if (branch.length === 0) return undefined;
  const newest = useRuns.getState().checkpoints.get(cursor.threadId ?? "")?.list[0]?.id;
  // "Now" stands one place after the newest checkpoint, and shows the same state with what is being worked on.
  const at = cursor.checkpointId === null ? branch.length - 1 : branch.indexOf(cursor.checkpointId);
  if (at < 0) return undefined;
  const to = Math.max(0, Math.min(branch.length - 1, at + by));
  const id = branch[to];
  if (id === undefined) return undefined;
  return id === newest ? null : id;
}

const here = (): { threadId: string; list: readonly CheckpointView[] } | null => {
  const { threadId } = useSession.getState().cursor;
  const list = threadId === null ? undefined : useRuns.getState().checkpoints.get(threadId)?.list;
  return threadId === null || !list ? null : { threadId, list };
};

/** The next place of a branch at which something holds, from a place on. */
export function nextAt(
  branch: readonly string[],
  from: number,
  by: -1 | 1,
  holds: (id: string) => boolean,
): string | undefined {
  for (let at = from + by; at >= 0 && at < branch.length; at += by) {
    const id = branch[at];
    if (id !== undefined && holds(id)) return id;
  }
  return undefined;
}

function walkTo(by: -1 | 1, holds: (checkpoint: CheckpointView) => boolean): string | null | undefined {
  const known = here();
  if (!known) return undefined;
  const byId = new Map(known.list.map((checkpoint) => [checkpoint.id, checkpoint]));
  const branch = currentBranch();
  const { checkpointId } = useSession.getState().cursor;
  const from = checkpointId === null ? branch.length - 1 : branch.indexOf(checkpointId);
  const found = nextAt(branch, from, by, (id) => {
    const checkpoint = byId.get(id);
    return checkpoint !== undefined && holds(checkpoint);
  });
  return found === known.list[0]?.id ? null : found;
}

/** The moment before an earlier (-1) or later (1) visit of a node. */
export const visitOf = (node: string, by: -1 | 1): string | null | undefined =>
  walkTo(by, (checkpoint) => checkpoint.next.includes(node));

/** The moment after an earlier (-1) or later (1) write of a key. */
export const writeOf = (key: string, by: -1 | 1): string | null | undefined =>
  walkTo(by, (checkpoint) => checkpoint.updated.includes(key));

/** The first moment of the branch of the cursor; older checkpoints are loaded for it. */
export async function firstMoment(): Promise<string | undefined> {
  await loadUntil((branch) => !branch.more);
  return currentBranch()[0];
}

/** The moment after a step, on the branch of the cursor; null for now, undefined when there is none. */
export async function momentAfter(step: number): Promise<string | null | undefined> {
  const find = (list: readonly CheckpointView[]) => {
    const ours = new Set(currentBranch());
    return list.find((checkpoint) => checkpoint.step === step && ours.has(checkpoint.id));
  };
  await loadUntil(
    ({ list, more }) => !more || (list.at(-1)?.step ?? step) <= step || find(list) !== undefined,
  );
  const known = here();
  const found = known && find(known.list);
  if (!known || !found) return undefined;
  return found.id === known.list[0]?.id ? null : found.id;
}

interface Loaded {
  readonly list: readonly CheckpointView[];
  readonly more: boolean;
}

async function loadUntil(enough: (loaded: Loaded) => boolean): Promise<void> {
  const threadId = here()?.threadId;
  if (threadId === undefined) return;
  for (let before = -1; ;) {
    const pages = useRuns.getState().checkpoints.get(threadId);
    // A page that brought nothing is the last that comes.
    if (!pages || enough(pages) || pages.list.length === before) return;
    before = pages.list.length;
    await loadOlderCheckpoints(threadId);
  }
}
