/** Graph files with a run under way, also those that are not shown: by the events of their threads, asked once at the start. */
import { create } from "zustand";
import type { AppEvent } from "../../ipc/bindings/AppEvent";
import { host, rpc, subscribe } from "../../ipc/client";

/** Threads that run, each with its graph's file. */
type RunningThreads = ReadonlyMap<string, string>;

/** Threads that are asked for at the start; more than this run in no window. */
const MOST = 200;

export const useRunningThreads = create<{ readonly paths: RunningThreads }>(() => ({ paths: new Map() }));

/** Gives what runs after these events; the same map when nothing changed. */
export function withRuns(paths: RunningThreads, events: readonly AppEvent[]): RunningThreads {
  const next = new Map(paths);
  let changed = false;
  const ended = (threadId: string) => {
    changed = next.delete(threadId) || changed;
  };
  for (const event of events) {
    if (event.type === "thread") {
      const { threadId, status, graphPath } = event.thread;
      if (status !== "running" || graphPath === undefined) ended(threadId);
      else if (next.get(threadId) !== graphPath) {
        next.set(threadId, graphPath);
        changed = true;
      }
    } else if (event.type === "run" && event.run.status !== "running") ended(event.run.threadId);
    else if (event.type === "threadDeleted") ended(event.threadId);
  }
  return changed ? next : paths;
}

const set = (paths: RunningThreads) => {
  if (paths !== useRunningThreads.getState().paths) useRunningThreads.setState({ paths });
};

async function load(): Promise<void> {
  const { threads } = await rpc("thread.list", { status: "running", limit: MOST });
  const running = threads.map((thread): AppEvent => ({ type: "thread", thread }));
  set(withRuns(new Map(), running));
}
const loadOrKeep = () => void load().catch(() => {});

let started = false;

/** Follows the runs of all graphs. Every view that reads them may call this; once is enough. */
export function watchRunningGraphs(): void {
  if (started) return;
  started = true;
  subscribe((events) => set(withRuns(useRunningThreads.getState().paths, events)), loadOrKeep);
  // Nobody can say what runs while the connection is lost; it is asked again when it is back.
  host.watchConnection((connection) => {
    if (connection === "lost" || connection === "refused") set(new Map());
  });
  loadOrKeep();
}
