/** What a thread is doing: its last run, the program that runs it, its status. */
import type { RunView } from "../../ipc/bindings/RunView";
import type { ThreadView } from "../../ipc/bindings/ThreadView";
import { isRunning, type LiveTasks } from "./live";
import type { ShownStatus } from "../parts/StatusMark";
import { type RunStore, useRuns, threadOf } from "./runStore";

/** The last run of a thread: the one that was received, or one of before a reload or of another program. */
export function lastRun(thread: ThreadView | undefined, live: LiveTasks | undefined): RunView | undefined {
  const [known, received] = [thread?.run, live?.run];
  return known && (!received || received.startedAt < known.startedAt) ? known : received;
}

/** The program that runs a thread, when that is another one. */
export function programOf(thread: ThreadView | undefined, live: LiveTasks | undefined): string | undefined {
  return isRunning(live) ? live?.run?.program : thread?.status === "running" ? thread.program : undefined;
}

/** Does another program run the thread? */
export const runsElsewhere = (store: RunStore, threadId: string | null): boolean =>
  threadId !== null && programOf(threadOf(store, threadId), store.live.get(threadId)) !== undefined;

/** A run that was received is fresher than the thread's row. */
export function statusOf(store: RunStore, threadId: string | null): ShownStatus | undefined {
  if (threadId === null) return undefined;
  const live = store.live.get(threadId);
  const status = isRunning(live) ? "running" : (threadOf(store, threadId)?.status ?? live?.run?.status);
  return status === "running" && store.away ? "unknown" : status;
}

export function useStatus(threadId: string | null): ShownStatus | undefined {
  return useRuns((store) => statusOf(store, threadId));
}
