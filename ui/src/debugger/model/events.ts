/** What the event stream changes in the store, and what is read again when it was cut. */
import { create } from "zustand";
import type { AppEvent } from "../../ipc/bindings/AppEvent";
import type { RunView } from "../../ipc/bindings/RunView";
import type { ThreadView } from "../../ipc/bindings/ThreadView";
import { rpc } from "../../ipc/client";
import { useSession } from "../../state/session";
import { foldEvents, forgetTasks, isRunning, type LiveThreads } from "./live";
import { type CheckpointPages, sortThreads, withCheckpoint, withRun } from "./pages";
import { readOnlyRead } from "./only-read";
import { interrupted } from "./settled";
import type { ReadKept } from "./stream-log";
import { streamLog, snapshots, useRuns } from "./runStore";
import { loadThreads, reloadThreadsSoon } from "./thread-list";
import { loadCheckpoints, refreshCheckpoints } from "./checkpoints";

const get = useRuns.getState;
const set = useRuns.setState;

/** Applies a batch of events of the stream. */
export function receive(events: readonly AppEvent[]): void {
  streamLog.append(events);
  const before = get();
  const live = foldEvents(before.live, events);
  let { threads, checkpoints } = before;
  let resort = false;
  /** Threads on which something happened, and whether a run has ended. */
  const touched = new Map<string, boolean>();
  const touch = (threadId: string) => touched.set(threadId, touched.get(threadId) ?? false);
  const unknown = new Set<string>();
  const deleted: string[] = [];
  let moved = false;
  let elsewhere = false;
  let settings = false;

  for (const event of events) {
    switch (event.type) {
      case "run": {
        touched.set(event.run.threadId, event.run.status !== "running");
        const pages = checkpoints.get(event.run.threadId);
        if (pages) checkpoints = new Map(checkpoints).set(event.run.threadId, withRun(pages, event.run));
        break;
      }
      case "taskStarted":
      case "taskEnded":
        touch(event.threadId);
        break;
      case "checkpoint": {
        touch(event.threadId);
        const pages = checkpoints.get(event.threadId);
        // Also while the list is on its way: what comes meanwhile is joined with it.
        if (pages && pages.state !== "failed") {
          checkpoints = new Map(checkpoints).set(event.threadId, withCheckpoint(pages, event.checkpoint));
        }
        break;
      }
      case "thread":
        if (threads.has(event.thread.threadId)) {
          threads = new Map(threads).set(event.thread.threadId, event.thread);
          resort = true;
        } else {
          unknown.add(event.thread.threadId);
          // One that has just begun is the newest of its list, which is read again behind it.
          if (isListed(event.thread)) {
            threads = new Map(threads).set(event.thread.threadId, event.thread);
            resort = true;
          }
          if (event.thread.threadId === useSession.getState().cursor.threadId)
            set({ selected: event.thread });
        }
        break;
      case "threadDeleted":
        deleted.push(event.threadId);
        break;
      case "storage":
        moved = true;
        break;
      case "changed":
        elsewhere ||= event.threads;
        settings ||= event.settings;
        break;
      default:
        break;
    }
  }

  if (deleted.length > 0) {
    threads = new Map(threads);
    checkpoints = new Map(checkpoints);
    for (const id of deleted) {
      (threads as Map<string, ThreadView>).delete(id);
      (checkpoints as Map<string, CheckpointPages>).delete(id);
    }
    resort = true;
  }
  if (live !== before.live || threads !== before.threads || checkpoints !== before.checkpoints) {
    set({
      live,
      threads,
      checkpoints,
      ...(resort && {
        order: sortThreads(threads),
        total: Math.max(threads.size, before.total - deleted.length),
      }),
    });
  }
  const { cursor, setCursor } = useSession.getState();
  if (cursor.threadId !== null && deleted.includes(cursor.threadId)) {
    setCursor({ threadId: null, checkpointId: null });
  }
  for (const [id, ended] of touched) snapshots.touch(id, ended);
  if (moved) {
    void readOnlyRead();
    reload();
  } else if (elsewhere) refresh(before.live);
  else if (unknown.size > 0) reloadThreadsSoon();
  if (elsewhere || settings) useChanges.setState(({ n }) => ({ n: n + 1 }));
  if (settings) void rpc("app.info", {}).then(useSession.getState().setAppInfo, () => {});
}

/** Does a thread that the list does not have yet belong to it? Which ones a filter leaves, the workbench knows. */
function isListed({ threadId, graphPath }: ThreadView): boolean {
  const { filter, threadsState } = get();
  const { search, status, labels, found } = filter;
  const { graphKey, cursor } = useSession.getState();
  return (
    threadsState === "ready" &&
    search === "" &&
    status === null &&
    labels === null &&
    found === null &&
    (threadId === cursor.threadId || (graphPath !== undefined && graphPath === graphKey))
  );
}

/** Counts what other programs changed: who shows what no event brings asks again. */
export const useChanges = create<{ readonly n: number }>(() => ({ n: 0 }));

export const readKept =
  (threadId: string): ReadKept =>
  (request) =>
    rpc("thread.events", { threadId, ...request });

/** Events were lost: everything that is shown is asked for again. */
export function recover(): void {
  streamLog.gap();
  reload();
}

/** Nothing is shown as running while nobody can say whether it does. */
export function noteAway(away: boolean): void {
  if (away === get().away) return;
  const { live, shown } = get();
  set({
    away,
    ...(away && { live: forgetTasks(live), shown: shown && { ...shown, view: interrupted(shown.view) } }),
  });
}

/** Asks again for everything that is shown. */
function reload(): void {
  const { live, checkpoints } = get();
  set({ live: forgetTasks(live) });
  const { cursor, graphId } = useSession.getState();
  // Lists of other threads are loaded when they are looked at.
  const kept = new Map([...checkpoints].filter(([id]) => id === cursor.threadId));
  set({ checkpoints: kept });
  snapshots.reset();
  if (graphId !== null) void loadThreads();
  if (cursor.threadId !== null) {
    void loadCheckpoints(cursor.threadId, true);
    void streamLog.open(cursor.threadId, readKept(cursor.threadId));
  }
}

/** Another program changed something: what is shown is read again, and stays in view meanwhile. */
function refresh(before: LiveThreads): void {
  reloadThreadsSoon();
  const { threadId } = useSession.getState().cursor;
  // A run that is known already comes with its events; what came before those is read.
  if (threadId === null || isRunning(before.get(threadId))) return;
  snapshots.touch(threadId);
  void refreshCheckpoints(threadId);
  void streamLog.refresh(threadId, readKept(threadId));
}

/** A run's answer to `run.start` says the same as the event that will follow; taking it now makes the button react at once. */
export function noteRun(run: RunView): void {
  if (get().live.get(run.threadId)?.run?.runId === run.runId) return;
  receive([{ type: "run", run }]);
}
