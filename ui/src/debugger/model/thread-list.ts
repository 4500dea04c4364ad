/** The list of threads: its pages, its filter, and the one that is selected. */
import { foundThreads } from "./found-threads";
import { asProblem } from "../parts/problem";
import type { ThreadView } from "../../ipc/bindings/ThreadView";
import { rpc } from "../../ipc/client";
import { useSession } from "../../state/session";
import { sortThreads } from "./pages";
import { type ThreadFilter, useRuns } from "./runStore";

const get = useRuns.getState;
const set = useRuns.setState;

const PAGE = 200;
let threadsRequest = 0;

export async function loadThreads(more = false): Promise<void> {
  const { graphId } = useSession.getState();
  if (graphId === null) {
    threadsRequest += 1;
    set({
      threads: new Map(),
      order: [],
      total: 0,
      threadsNext: null,
      threadsSorting: false,
      threadsState: "idle",
      threadsProblem: null,
    });
    return;
  }
  const { filter, order, threads, threadsNext } = get();
  if (more && threadsNext === null) return;
  const request = (threadsRequest += 1);
  if (get().threadsState !== "ready") set({ threadsState: "loading" });
  try {
    if (filter.found !== null) {
      const { threads: found, more: others } = await foundThreads(
        filter.found,
        () => request === threadsRequest,
      );
      if (request !== threadsRequest) return;
      const next = withEvents(found, threads);
      set({
        threads: next,
        order: [...next.keys()],
        total: others ? Math.max(get().total, next.size) : next.size,
        threadsNext: null,
        threadsSorting: false,
        threadsState: "ready",
        threadsProblem: null,
      });
      return;
    }
    const answer = await rpc("thread.list", {
      graphId,
      ...(filter.search !== "" && { search: filter.search }),
      ...(filter.status !== null && { status: filter.status }),
      ...(filter.labels !== null && { labels: filter.labels }),
      ...(more && threadsNext !== null && { after: threadsNext }),
      // What had been scrolled into view stays.
      limit: more ? PAGE : Math.max(PAGE, Math.min(order.length, 2000)),
    });
    if (request !== threadsRequest) return;
    const next = new Map([...(more ? get().threads : []), ...withEvents(answer.threads, threads)]);
    set({
      threads: next,
      order: sortThreads(next),
      total: answer.total ?? (answer.sorting ? next.size : Math.max(get().total, next.size)),
      threadsNext: answer.next ?? null,
      threadsSorting: answer.sorting === true,
      threadsState: "ready",
      threadsProblem: null,
    });
    const { cursor } = useSession.getState();
    if (cursor.threadId !== null && !next.has(cursor.threadId)) await keepSelected(cursor.threadId, request);
  } catch (problem) {
    if (request === threadsRequest) set({ threadsState: "failed", threadsProblem: asProblem(problem) });
  }
}

/**
 * The rows that were read, but for those that an event has changed, removed or added since they were asked for, when it was
 * `before`: what it said may be newer, and no other event would say it again.
 */
function withEvents(
  read: readonly ThreadView[],
  before: ReadonlyMap<string, ThreadView>,
): Map<string, ThreadView> {
  const now = get().threads;
  const rows = new Map<string, ThreadView>();
  for (const thread of read) {
    const known = now.get(thread.threadId);
    if (known === before.get(thread.threadId)) rows.set(thread.threadId, thread);
    else if (known) rows.set(thread.threadId, known);
  }
  for (const [id, thread] of now) if (!before.has(id) && !rows.has(id)) rows.set(id, thread);
  return rows;
}

/** The selected thread may be hidden by the filter or further down: its view is still needed for the title and status. */
async function keepSelected(threadId: string, request: number): Promise<void> {
  const before = get().selected;
  try {
    const thread = await rpc("thread.get", { threadId });
    if (request === threadsRequest && get().selected === before) set({ selected: thread });
  } catch (problem) {
    const { cursor, setCursor } = useSession.getState();
    if (asProblem(problem).code === "not-found" && cursor.threadId === threadId) {
      setCursor({ threadId: null, checkpointId: null });
    }
  }
}

export function setThreadFilter(filter: Partial<ThreadFilter>): void {
  set({ filter: { ...get().filter, ...filter } });
  reloadThreadsSoon(120);
}

const debounced = (run: () => void) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (millis = 150) => {
    timer ??= setTimeout(() => {
      timer = undefined;
      run();
    }, millis);
  };
};

export const reloadThreadsSoon = debounced(() => void loadThreads());

export function noteThread(thread: ThreadView): void {
  const { threads } = get();
  const next = new Map(threads).set(thread.threadId, thread);
  set({ threads: next, order: sortThreads(next) });
}
