/**
 * What the debugger knows: threads, runs, checkpoints and the snapshot under the cursor (questions are in `inbox.ts`).
 * It is a reader of the event stream and of the workbench's answers; it never edits the document. Components subscribe to
 * the smallest part they show; what changes with every frame (tokens, task states) reaches the canvas through
 * `overlay.ts` and the logs through `stream-log.ts`.
 */
import { type FoundFilter, foundThreads } from "./found-threads";
import { asProblem, type ShownProblem } from "../parts/problem";
import { create } from "zustand";
import type { AppEvent } from "../../ipc/bindings/AppEvent";
import type { RunLabels } from "../../ipc/bindings/RunLabels";
import type { RunStatus } from "../../ipc/bindings/RunStatus";
import type { RunView } from "../../ipc/bindings/RunView";
import type { ThreadView } from "../../ipc/bindings/ThreadView";
import { host, rpc, subscribe } from "../../ipc/client";
import { useSession } from "../../state/session";
import { foldEvents, forgetTasks, isRunning, pruneTo, type LiveThread, type LiveThreads } from "./live";
import { type CheckpointPages, type Loading, sortThreads, withCheckpoint, withRun } from "./pages";
import { interrupted, settledView } from "./settled";
import { type Loaded, SnapshotLoader } from "./snapshots";
import type { ShownStatus } from "../parts/StatusMark";
import { type ReadKept, StreamLog } from "./stream-log";

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

// ---------------------------------------------------------------- events

/** Applies a batch of events of the stream. */
export function receive(events: readonly AppEvent[]): void {
  streamLog.append(events);
  const before = get();
  const live = foldEvents(before.live, events);
  let { threads, checkpoints } = before;
  let resort = false;
  const touched = new Set<string>();
  const unknown = new Set<string>();
  const deleted: string[] = [];
  let moved = false;
  let elsewhere = false;
  let settings = false;

  for (const event of events) {
    switch (event.type) {
      case "run": {
        touched.add(event.run.threadId);
        const pages = checkpoints.get(event.run.threadId);
        if (pages) checkpoints = new Map(checkpoints).set(event.run.threadId, withRun(pages, event.run));
        break;
      }
      case "taskStarted":
      case "taskEnded":
        touched.add(event.threadId);
        break;
      case "checkpoint": {
        touched.add(event.threadId);
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
  for (const id of touched) snapshots.touch(id);
  if (moved) reload();
  else if (elsewhere) refresh(before.live);
  else if (unknown.size > 0) reloadThreadsSoon();
  if (elsewhere || settings) useChanges.setState(({ n }) => ({ n: n + 1 }));
  if (settings) void rpc("app.info", {}).then(useSession.getState().setAppInfo, () => {});
}

/** Counts what other programs changed: who shows what no event brings asks again. */
export const useChanges = create<{ readonly n: number }>(() => ({ n: 0 }));

/** Runs of an answer, with those that events brought while it was on its way, or before the list was asked for. */
function runsOf(threadId: string, answered: readonly RunView[] | undefined): ReadonlyMap<string, RunView> {
  const known = get().checkpoints.get(threadId)?.runs ?? [];
  const runs = new Map([...known, ...(answered ?? []).map((run) => [run.runId, run] as const)]);
  const last = get().live.get(threadId)?.run;
  const pages: CheckpointPages = { list: [], more: false, state: "ready", runs };
  return (last ? withRun(pages, last).runs : runs) ?? runs;
}

const readKept =
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

// ---------------------------------------------------------------- threads

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
      set({
        threads: new Map(found.map((thread) => [thread.threadId, thread])),
        order: found.map(({ threadId }) => threadId),
        total: others ? Math.max(get().total, found.length) : found.length,
        threadsNext: null,
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
    const next = new Map(more ? threads : []);
    for (const thread of answer.threads) next.set(thread.threadId, thread);
    set({
      threads: next,
      order: sortThreads(next),
      total: answer.total ?? Math.max(get().total, next.size),
      threadsNext: answer.next ?? null,
      threadsState: "ready",
      threadsProblem: null,
    });
    const { cursor } = useSession.getState();
    if (cursor.threadId !== null && !next.has(cursor.threadId)) await keepSelected(cursor.threadId, request);
  } catch (problem) {
    if (request === threadsRequest) set({ threadsState: "failed", threadsProblem: asProblem(problem) });
  }
}

/** The selected thread may be hidden by the filter or further down: its view is still needed for the title and status. */
async function keepSelected(threadId: string, request: number): Promise<void> {
  try {
    const thread = await rpc("thread.get", { threadId });
    if (request === threadsRequest) set({ selected: thread });
  } catch (problem) {
    const { cursor, setCursor } = useSession.getState();
    if (asProblem(problem).code === "not-found" && cursor.threadId === threadId) {
      setCursor({ threadId: null, checkpointId: null });
    }
  }
}

function threadOf(store: RunStore, threadId: string | null): ThreadView | undefined {
  if (threadId === null) return undefined;
  return store.threads.get(threadId) ?? (store.selected?.threadId === threadId ? store.selected : undefined);
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

const reloadThreadsSoon = debounced(() => void loadThreads());

// ---------------------------------------------------------------- checkpoints

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
async function refreshCheckpoints(threadId: string): Promise<void> {
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

const loadingOlder = new Set<string>();

export async function loadOlderCheckpoints(threadId: string, limit = CHECKPOINT_PAGE): Promise<void> {
  const pages = get().checkpoints.get(threadId);
  const last = pages?.list.at(-1);
  if (!pages?.more || !last || loadingOlder.has(threadId)) return;
  loadingOlder.add(threadId);
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
  } finally {
    loadingOlder.delete(threadId);
  }
}

function patchPages(threadId: string, patch: Partial<CheckpointPages>): void {
  const { checkpoints } = get();
  const pages = checkpoints.get(threadId) ?? { list: [], more: false, state: "idle" as const };
  set({ checkpoints: new Map(checkpoints).set(threadId, { ...pages, ...patch }) });
}

// ---------------------------------------------------------------- life

let started = false;

/** Connects the store to the event stream and to the session. Every view that reads it may call this; once is enough. */
export function ensureStarted(): void {
  if (started) return;
  started = true;
  subscribe(receive, recover);
  host.watchConnection((connection) => noteAway(connection === "lost" || connection === "refused"));
  let last = useSession.getState();
  const follow = (session: typeof last, force: boolean) => {
    if (force || session.graphId !== last.graphId) {
      set({
        threads: new Map(),
        order: [],
        total: 0,
        threadsNext: null,
        threadsState: "idle",
        filter: NO_FILTER,
      });
      void loadThreads();
    }
    const before = last;
    last = session;
    const { cursor } = session;
    if (
      force ||
      cursor.threadId !== before.cursor.threadId ||
      cursor.checkpointId !== before.cursor.checkpointId
    ) {
      snapshots.want(
        cursor.threadId === null
          ? undefined
          : { threadId: cursor.threadId, checkpointId: cursor.checkpointId },
      );
      if (cursor.threadId !== null) {
        void loadCheckpoints(cursor.threadId);
        void streamLog.open(cursor.threadId, readKept(cursor.threadId));
        if (cursor.threadId !== before.cursor.threadId) showTimelineOnce();
      }
    }
  };
  useSession.subscribe((session) => follow(session, false));
  follow(last, true);
}

/**
 * The first thread shows where its checkpoints are; after that the panel stays as it was left. Who has it open already
 * looks at something there, as at the messages a run is started below.
 */
function showTimelineOnce(): void {
  const key = "superstep.timeline-shown";
  try {
    if (localStorage.getItem(key) !== null) return;
    localStorage.setItem(key, "1");
  } catch {
    return;
  }
  const session = useSession.getState();
  if (session.panels.bottom.folded) session.showTab("bottom", "timeline", "debug");
}

/** A run's answer to `run.start` says the same as the event that will follow; taking it now makes the button react at once. */
export function noteRun(run: RunView): void {
  if (get().live.get(run.threadId)?.run?.runId === run.runId) return;
  receive([{ type: "run", run }]);
}

export function noteThread(thread: ThreadView): void {
  const { threads } = get();
  const next = new Map(threads).set(thread.threadId, thread);
  set({ threads: next, order: sortThreads(next) });
}

// ---------------------------------------------------------------- narrow readers

export function useThread(threadId: string | null): ThreadView | undefined {
  return useRuns((store) => threadOf(store, threadId));
}

export function useLive(threadId: string | null): LiveThread | undefined {
  return useRuns((store) => (threadId === null ? undefined : store.live.get(threadId)));
}

/** The last run of a thread: the one that was received, or one of before a reload or of another program. */
export function lastRun(thread: ThreadView | undefined, live: LiveThread | undefined): RunView | undefined {
  const [known, received] = [thread?.run, live?.run];
  return known && (!received || received.startedAt < known.startedAt) ? known : received;
}

/** The program that runs a thread, when that is another one. */
export function programOf(thread: ThreadView | undefined, live: LiveThread | undefined): string | undefined {
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

export function useCheckpoints(threadId: string | null): CheckpointPages | undefined {
  return useRuns((store) => (threadId === null ? undefined : store.checkpoints.get(threadId)));
}
