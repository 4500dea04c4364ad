/**
 * Where inside nested graphs a thread stands at the cursor: the nodes around the graph that runs next, the outermost first.
 * The canvas goes there with a step into a nested graph and with a breakpoint in one; where one asks or failed, and at
 * moments of the past, the way there is offered. Stepping out, or that graph's end, leads back.
 */
import { create } from "zustand";
import type { EdgeCount } from "../../ipc/bindings/EdgeCount";
import type { RunView } from "../../ipc/bindings/RunView";
import type { SnapshotView } from "../../ipc/bindings/SnapshotView";
import type { TaskStatus } from "../../ipc/bindings/TaskStatus";
import type { TaskView } from "../../ipc/bindings/TaskView";
import type { WithinStep } from "../../ipc/bindings/WithinStep";
import { rpc, subscribe } from "../../ipc/client";
import { useSession } from "../../state/session";
import { isRunning } from "./live";
import { edgeKey, waysOf } from "./ways";
import { type RunStore, threadOf, useRuns } from "./runStore";
import { lastRun } from "./status";

export interface Level {
  /** The node that runs the graph. */
  readonly node: string;
  /** Where that graph keeps its checkpoints. */
  readonly ns: string;
}

export interface NestedStore {
  readonly threadId: string | null;
  /** The checkpoint of the outermost graph; null is now. */
  readonly at: string | null;
  readonly path: readonly Level[];
  /** How many of these levels the canvas shows; 0 is the graph itself. */
  readonly depth: number;
  /** What runs next in the innermost graph. */
  readonly next: readonly string[];
}

const OUTSIDE: NestedStore = { threadId: null, at: null, path: [], depth: 0, next: [] };
export const useNested = create<NestedStore>(() => OUTSIDE);

export const showLevel = (depth: number): void => useNested.setState({ depth });

/** Shows the innermost graph: the one that stopped. */
export const showInnermost = (): void => showLevel(useNested.getState().path.length);

/** Whether the canvas shows a nested graph, so that a step is a step of that graph. */
export const isInside = (): boolean => shownLevels(useNested.getState(), useSession.getState()).length > 0;

/** The levels that the canvas shows: only of the thread and at the moment that it stands at. */
export function shownLevels(
  nested: NestedStore,
  session: Pick<ReturnType<typeof useSession.getState>, "cursor" | "use">,
): readonly Level[] {
  return standsInside(nested, session) ? nested.path.slice(0, nested.depth) : [];
}

export const standsInside = (
  { threadId, at, path }: NestedStore,
  { cursor, use }: Pick<ReturnType<typeof useSession.getState>, "cursor" | "use">,
): boolean =>
  use === "debug" && path.length > 0 && cursor.threadId === threadId && cursor.checkpointId === at;

/** The thread whose run was asked to stop inside of nested graphs. */
let stepping: string | null = null;

export function noteStep({ threadId, runId }: RunView, into: boolean): void {
  followNested();
  const known = useRuns.getState().live.get(threadId)?.run;
  // A short run is over before the answer to its request is here.
  const over = known?.runId === runId && known.status !== "running";
  stepping = into && !over ? threadId : null;
  if (into && over) enter(threadId);
}

type Read = (ns: string) => Promise<WithinStep | undefined>;

/**
 * The levels from a checkpoint's tasks down to the graph that goes on next. With `ended` a task that is done leads into its
 * graph as well: what it did then is looked at in the past.
 */
export async function locate(
  tasks: readonly TaskView[],
  read: Read,
  ended = false,
): Promise<Pick<NestedStore, "path" | "next">> {
  const path: Level[] = [];
  let next: readonly string[] = [];
  for (let open = openTask(tasks, ended); open;) {
    const step = await read(open.ns);
    if (!step || (step.checkpoint.next.length === 0 && !ended)) break;
    path.push(open);
    next = unfinished(step);
    open = openTask(step.tasks, ended);
  }
  return { path, next };
}

/** What comes next at a step: of one that is open, the nodes that have not finished. */
const unfinished = ({ checkpoint, tasks }: WithinStep): readonly string[] =>
  checkpoint.next.filter((node) => {
    const own = tasks.filter((task) => task.node === node);
    return own.length === 0 || own.some(({ status }) => status !== "done");
  });

/** Of several tasks that run graphs, the one that a person looks for. */
const FIRST: readonly TaskStatus[] = ["failed", "asking", "running", "waiting", "done"];

function openTask(tasks: readonly TaskView[], ended: boolean): Level | undefined {
  for (const wanted of FIRST) {
    if (wanted === "done" && !ended) return undefined;
    for (const { node, status, within } of tasks)
      if (within !== undefined && status === wanted) return { node, ns: within };
  }
  return undefined;
}

/** The thread whose innermost graph is shown as soon as it is found. */
let entering: string | null = null;
let asked = 0;

function enter(threadId: string): void {
  entering = threadId;
  void relocate(threadId, null);
}

/** Did the thread stop at a breakpoint inside of a nested graph? */
const stoppedInside = (threadId: string): boolean => {
  const store = useRuns.getState();
  const run = lastRun(threadOf(store, threadId), store.live.get(threadId));
  return run?.status === "paused" && run.stop !== undefined && run.stop.within !== "";
};

/** Waits before a stop is looked for again that could not be read: its graph may be busy, or built as it was just now. */
const AGAIN_MS: readonly number[] = [250, 1000, 4000];

async function relocate(
  threadId: string,
  at: string | null,
  known?: readonly TaskView[],
  failures = 0,
): Promise<void> {
  const turn = (asked += 1);
  try {
    // What the cursor read may be older than the stop that is entered.
    const read = entering === threadId ? undefined : known;
    const tasks = read ?? (await rpc("thread.snapshot", { threadId })).tasks;
    const found = await locate(
      tasks,
      async (ns) => {
        const { steps } = await rpc("thread.within", { threadId, ns, limit: 1 });
        return steps[0];
      },
      at !== null,
    );
    if (turn !== asked) return;
    const before = useNested.getState();
    const isSame = before.threadId === threadId && before.at === at;
    const into = entering === threadId || (!isSame && at === null && stoppedInside(threadId));
    entering = null;
    if (isSame && before.path.length + found.path.length === 0) return;
    const depth = into ? found.path.length : isSame ? Math.min(before.depth, found.path.length) : 0;
    useNested.setState({ threadId, at, ...found, depth });
  } catch {
    if (turn !== asked) return;
    // Who stepped into a graph waits for it; and what is shown of it may not stay as it was before the step.
    const wait =
      entering === threadId || useNested.getState().threadId === threadId ? AGAIN_MS[failures] : undefined;
    if (wait !== undefined)
      setTimeout(() => turn === asked && void relocate(threadId, at, undefined, failures + 1), wait);
    else {
      // The thread may be gone; the graph itself is shown.
      entering = null;
      useNested.setState(OUTSIDE);
    }
  }
}

/** A cursor that is held down passes moments faster than they are looked into. */
const REST_MS = 120;
let resting: ReturnType<typeof setTimeout> | undefined;

/** The moment under the cursor is here: its tasks say whether there is a nested graph to go into. */
function look({ shown, live }: RunStore): void {
  clearTimeout(resting);
  if (shown === null) return;
  const { place, view } = shown;
  const { threadId, checkpointId } = useSession.getState().cursor;
  if (place.threadId !== threadId || place.checkpointId !== checkpointId) return;
  // While it runs the canvas stays with the graph that it shows.
  if (checkpointId === null && isRunning(live.get(threadId))) return;
  resting = setTimeout(() => void relocate(threadId, checkpointId, view.tasks), REST_MS);
}

let following = false;

/** Follows runs and the cursor, once for the window's life. */
export function followNested(): void {
  if (following) return;
  following = true;
  subscribe(
    (events) => {
      for (const event of events) {
        if (event.type !== "run" || event.run.status === "running") continue;
        const { threadId } = event.run;
        const { cursor } = useSession.getState();
        const isHere = cursor.threadId === threadId && cursor.checkpointId === null;
        const stopped = event.run.stop !== undefined && event.run.stop.within !== "";
        const { threadId: known, path } = useNested.getState();
        if (stepping === threadId || (isHere && stopped)) enter(threadId);
        else if (isHere && known === threadId && path.length > 0) void relocate(threadId, null);
        if (stepping === threadId) stepping = null;
      }
    },
    () => {
      const { threadId, at } = useNested.getState();
      // The end of the step may be among what was lost.
      if (stepping !== null) enter(stepping);
      else if (threadId !== null && at === null) void relocate(threadId, null);
    },
  );
  useRuns.subscribe((now, before) => {
    if (now.shown !== before.shown) look(now);
  });
  useSession.subscribe((now, before) => {
    if (
      now.cursor.threadId !== before.cursor.threadId &&
      now.cursor.threadId !== useNested.getState().threadId
    )
      useNested.setState(OUTSIDE);
  });
}

/** The steps of a nested graph as the snapshot that the overlay is made from. */
export function asSnapshot(threadId: string, steps: readonly WithinStep[]): SnapshotView | undefined {
  const [newest, ...older] = steps;
  if (!newest) return undefined;
  const runs = new Map<string, number>();
  const taken = new Map<string, EdgeCount>();
  for (const { tasks } of older) {
    for (const task of tasks) {
      const { node, status } = task;
      if (status !== "done") continue;
      runs.set(node, (runs.get(node) ?? 0) + 1);
      for (const { times, ...way } of waysOf(task)) {
        const key = way.way ?? edgeKey(node, way.to);
        taken.set(key, { from: node, ...way, times: (taken.get(key)?.times ?? 0) + times });
      }
    }
  }
  return {
    threadId,
    checkpoint: newest.checkpoint,
    isHead: true,
    keys: [],
    next: newest.checkpoint.next,
    tasks: newest.tasks,
    previousTasks: older[0]?.tasks ?? [],
    visits: [...runs].map(([node, times]) => ({ node, runs: times })),
    taken: [...taken.values()],
  };
}
