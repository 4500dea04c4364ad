/**
 * Where inside nested graphs a thread stands: the nodes around the graph that runs next, the outermost first. A step into
 * a nested graph leads there; stepping out, or that graph's end, leads back.
 */
import { create } from "zustand";
import type { RunView } from "../../ipc/bindings/RunView";
import type { SnapshotView } from "../../ipc/bindings/SnapshotView";
import type { TaskView } from "../../ipc/bindings/TaskView";
import type { WithinStep } from "../../ipc/bindings/WithinStep";
import { rpc, subscribe } from "../../ipc/client";
import { useSession } from "../../state/session";
import { useRuns } from "./runStore";

export interface Level {
  /** The node that runs the graph. */
  readonly node: string;
  /** Where that graph keeps its checkpoints. */
  readonly ns: string;
}

export interface NestedStore {
  readonly threadId: string | null;
  readonly path: readonly Level[];
  /** How many of these levels the canvas shows; 0 is the graph itself. */
  readonly depth: number;
  /** What runs next in the innermost graph. */
  readonly next: readonly string[];
}

const OUTSIDE: NestedStore = { threadId: null, path: [], depth: 0, next: [] };
export const useNested = create<NestedStore>(() => OUTSIDE);

export const showLevel = (depth: number): void => useNested.setState({ depth });

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
  { threadId, path }: NestedStore,
  { cursor, use }: Pick<ReturnType<typeof useSession.getState>, "cursor" | "use">,
): boolean =>
  use === "debug" && path.length > 0 && cursor.threadId === threadId && cursor.checkpointId === null;

/** The thread whose run was asked to stop inside of nested graphs. */
let stepping: string | null = null;

export function noteStep({ threadId, runId }: RunView, into: boolean): void {
  follow();
  const known = useRuns.getState().live.get(threadId)?.run;
  // A short run is over before the answer to its request is here.
  const over = known?.runId === runId && known.status !== "running";
  stepping = into && !over ? threadId : null;
  if (into && over) void relocate(threadId, true);
}

type Read = (ns: string) => Promise<WithinStep | undefined>;

/** The levels from a checkpoint's tasks down to the graph that goes on next. */
export async function locate(
  tasks: readonly TaskView[],
  read: Read,
): Promise<Pick<NestedStore, "path" | "next">> {
  const path: Level[] = [];
  let next: readonly string[] = [];
  for (let open = openTask(tasks); open;) {
    const step = await read(open.ns);
    if (!step || step.checkpoint.next.length === 0) break;
    path.push(open);
    next = step.checkpoint.next;
    open = openTask(step.tasks);
  }
  return { path, next };
}

function openTask(tasks: readonly TaskView[]): Level | undefined {
  for (const { node, status, within } of tasks)
    if (within !== undefined && status !== "done") return { node, ns: within };
  return undefined;
}

let asked = 0;

async function relocate(threadId: string, into: boolean): Promise<void> {
  const turn = (asked += 1);
  try {
    const { tasks } = await rpc("thread.snapshot", { threadId });
    const found = await locate(tasks, async (ns) => {
      const { steps } = await rpc("thread.within", { threadId, ns, limit: 1 });
      return steps[0];
    });
    if (turn !== asked) return;
    const before = useNested.getState();
    const depth = into ? found.path.length : Math.min(before.depth, found.path.length);
    useNested.setState({ threadId, ...found, depth });
  } catch {
    // The thread may be gone; the graph itself is shown.
    if (turn === asked) useNested.setState(OUTSIDE);
  }
}

let following = false;

function follow(): void {
  if (following) return;
  following = true;
  subscribe(
    (events) => {
      for (const event of events) {
        if (event.type !== "run" || event.run.status === "running") continue;
        const { threadId } = event.run;
        const into = stepping === threadId;
        const { threadId: known, path } = useNested.getState();
        if (into || (known === threadId && path.length > 0)) void relocate(threadId, into);
        if (into) stepping = null;
      }
    },
    () => {
      const { threadId } = useNested.getState();
      if (threadId !== null) void relocate(threadId, false);
    },
  );
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
  const taken = new Map<string, { from: string; to: string; times: number }>();
  for (const { tasks } of older) {
    for (const { node, status, targets } of tasks) {
      if (status !== "done") continue;
      runs.set(node, (runs.get(node) ?? 0) + 1);
      for (const to of targets) {
        const key = `${node}\u0000${to}`;
        const known = taken.get(key) ?? { from: node, to, times: 0 };
        taken.set(key, { ...known, times: known.times + 1 });
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
