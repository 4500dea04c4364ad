/**
 * What the debugger knows: threads, runs, checkpoints and the snapshot under the cursor (questions are in `inbox.ts`).
 * It is filled by the event stream (`events.ts`) and by the workbench's answers (`thread-list.ts`, `checkpoints.ts`); it
 * never edits the document. Components subscribe to the smallest part they show; what changes with every frame (tokens,
 * task states) reaches the canvas through `overlay.ts` and the logs through `stream-log.ts`.
 */
import type { FoundFilter } from "./found-threads";
import { asProblem, type ShownProblem } from "../parts/problem";
import { create } from "zustand";
import { useShallow } from "zustand/react/shallow";
import type { RunLabels } from "../../ipc/bindings/RunLabels";
import type { RunStatus } from "../../ipc/bindings/RunStatus";
import type { ThreadView } from "../../ipc/bindings/ThreadView";
import { rpc } from "../../ipc/client";
import { type LiveTasks, type LiveThreads, pruneTo, withoutText } from "./live";
import type { CheckpointPages, Loading } from "./pages";
import { settledView } from "./settled";
import { type Loaded, SnapshotLoader } from "./snapshots";
import { StreamLog } from "./stream-log";

export interface ThreadFilter {
  readonly search: string;
  readonly status: RunStatus | null;
  /** Tags and metadata that the last run has all of. */
  readonly labels: RunLabels | null;
  /** A saved search; the list has what it finds. */
  readonly found: FoundFilter | null;
}

export const NO_FILTER: ThreadFilter = { search: "", status: null, labels: null, found: null };

export interface RunStore {
  readonly threads: ReadonlyMap<string, ThreadView>;
  /** Changed last first. */
  readonly order: readonly string[];
  readonly total: number;
  /** Where the next page of the list begins; `null` when all of it is here. */
  readonly threadsNext: string | null;
  /** Another program's threads are looked through for the newest; those that are shown are the first by their ids. */
  readonly threadsSorting: boolean;
  readonly threadsState: Loading;
  readonly threadsProblem: ShownProblem | null;
  readonly filter: ThreadFilter;
  /** The thread under the cursor when the list does not have it (filtered out, or further down). */
  readonly selected: ThreadView | null;
  readonly live: LiveThreads;
  /** The host does not answer: whether anything runs is not known. */
  readonly away: boolean;
  readonly checkpoints: ReadonlyMap<string, CheckpointPages>;
  readonly shown: Loaded | null;
  readonly snapshotLoading: boolean;
  readonly snapshotProblem: ShownProblem | null;
}

export const useRuns = create<RunStore>()(() => ({
  threads: new Map(),
  order: [],
  total: 0,
  threadsNext: null,
  threadsSorting: false,
  threadsState: "idle",
  threadsProblem: null,
  filter: NO_FILTER,
  selected: null,
  live: new Map(),
  away: false,
  checkpoints: new Map(),
  shown: null,
  snapshotLoading: false,
  snapshotProblem: null,
}));

const get = useRuns.getState;
const set = useRuns.setState;

export const streamLog = new StreamLog(() => Date.now());

export const snapshots = new SnapshotLoader({
  fetch: async (place, signal) =>
    settledView(
      await rpc(
        "thread.snapshot",
        {
          threadId: place.threadId,
          ...(place.checkpointId !== null && { checkpointId: place.checkpointId }),
        },
        signal,
      ),
    ),
  era: (threadId) => get().live.get(threadId)?.era ?? 0,
  shown: (loaded) => {
    set({ shown: loaded ?? null, snapshotProblem: null });
    if (loaded?.place.checkpointId === null && loaded.view.checkpoint) {
      const { live } = get();
      const pruned = pruneTo(live, loaded.place.threadId, loaded.era, loaded.view.checkpoint.step);
      if (pruned !== live) set({ live: pruned });
    }
  },
  loading: (loading) => {
    if (get().snapshotLoading !== loading) set({ snapshotLoading: loading });
  },
  failed: (_place, problem) => set({ shown: null, snapshotProblem: asProblem(problem) }),
  now: () => performance.now(),
  later: (run, millis) => setTimeout(run, millis),
});

export function threadOf(store: RunStore, threadId: string | null): ThreadView | undefined {
  if (threadId === null) return undefined;
  return store.threads.get(threadId) ?? (store.selected?.threadId === threadId ? store.selected : undefined);
}

export function useThread(threadId: string | null): ThreadView | undefined {
  return useRuns((store) => threadOf(store, threadId));
}

/** What is live of a thread but its text, which grows with every frame; the same object while nothing else has changed. */
export function useLive(threadId: string | null): LiveTasks | undefined {
  return useRuns(
    useShallow((store) => {
      const live = threadId === null ? undefined : store.live.get(threadId);
      return live && withoutText(live);
    }),
  );
}

export function useCheckpoints(threadId: string | null): CheckpointPages | undefined {
  return useRuns((store) => (threadId === null ? undefined : store.checkpoints.get(threadId)));
}
