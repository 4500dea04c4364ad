/**
 * What the canvas shows over the document for one moment of one thread: pure functions from a snapshot, the live tasks
 * after it and the breakpoints. `overlay.ts` keeps the results stable and hands them to React.
 */
import type { Breakpoint } from "../../ipc/bindings/Breakpoint";
import type { SnapshotView } from "../../ipc/bindings/SnapshotView";
import type { TakenWay } from "../../ipc/bindings/TakenWay";
import type { TaskStatus } from "../../ipc/bindings/TaskStatus";
import { readableError } from "../parts/format";
import type { LiveThread } from "../model/live";
import { edgeKey, waysOf } from "../model/ways";

export { edgeKey } from "../model/ways";

/** `rerouted`: it failed, and the run went on along its error way. */
type NodeState = "idle" | "next" | "waiting" | "running" | "done" | "rerouted" | "failed" | "asking";

export interface NodeOverlay {
  readonly state: NodeState;
  readonly runs: number;
  readonly millis?: number;
  /** Tail of streaming text. */
  readonly text?: string;
  readonly error?: string;
  readonly breakBefore: boolean;
  readonly breakAfter: boolean;
}

export interface EdgeOverlay {
  readonly times: number;
  readonly active: boolean;
}

export interface Overlay {
  readonly nodes: ReadonlyMap<string, NodeOverlay>;
  readonly edges: ReadonlyMap<string, EdgeOverlay>;
}

export const IDLE_NODE: NodeOverlay = { state: "idle", runs: 0, breakBefore: false, breakAfter: false };
export const IDLE_EDGE: EdgeOverlay = { times: 0, active: false };

/** A line of the canvas: a wire by its own id, or a way that no wire is drawn for. */
export interface WayDrawn {
  readonly id?: string;
  readonly from: string;
  readonly to: string;
}

/**
 * What is known of a line. Where a run recorded which wire it followed, only that one was taken; what an older one leaves
 * open counts for every wire between the two nodes.
 */
export function wayOverlay(edges: ReadonlyMap<string, EdgeOverlay>, way: WayDrawn): EdgeOverlay {
  const own = way.id === undefined ? undefined : edges.get(way.id);
  const open = edges.get(edgeKey(way.from, way.to));
  if (!own || !open) return own ?? open ?? IDLE_EDGE;
  return { times: own.times + open.times, active: own.active || open.active };
}

export interface Moment {
  readonly snapshot?: SnapshotView;
  /** `LiveThread.era` when the snapshot was asked for. */
  readonly snapshotEra?: number;
  readonly live?: LiveThread;
  /** True when the cursor is at "now"; the past never mixes with live events. */
  readonly now: boolean;
  /** The thread is running; known from its row when this window has not seen the run begin. */
  readonly running?: boolean;
  readonly breakpoints: readonly Breakpoint[];
}

/** A node with several tasks shows the one that most wants attention. */
const RANK: Record<NodeState, number> = {
  idle: 0,
  done: 1,
  rerouted: 2,
  next: 3,
  waiting: 4,
  asking: 5,
  running: 6,
  failed: 7,
};

/** Of some nodes, the one that most wants attention. */
export function mostUrgent(nodes: Iterable<NodeOverlay>): NodeOverlay {
  let most = IDLE_NODE;
  for (const node of nodes) if (RANK[node.state] > RANK[most.state]) most = node;
  return most;
}

interface MutableNode {
  state: NodeState;
  runs: number;
  millis?: number;
  text?: string;
  error?: string;
  breakBefore: boolean;
  breakAfter: boolean;
}

interface MutableEdge {
  times: number;
  active: boolean;
}

interface Task {
  id: string;
  node: string;
  step: number;
  status: TaskStatus;
  millis?: number;
  error?: string;
  ways: readonly TakenWay[];
  /** Counted among the snapshot's visits and taken edges: those of "now" include what the open step has finished. */
  counted?: boolean;
}

export function computeOverlay(moment: Moment): Overlay {
  const { snapshot, now } = moment;
  const live = now ? moment.live : undefined;
  const running = now && (moment.running ?? live?.run?.status === "running");
  const nodes = new Map<string, MutableNode>();
  const edges = new Map<string, MutableEdge>();
  const node = (id: string): MutableNode => {
    let found = nodes.get(id);
    if (!found) nodes.set(id, (found = { ...IDLE_NODE }));
    return found;
  };
  const edge = (from: string, { to, way }: Pick<TakenWay, "to" | "way">): MutableEdge => {
    const key = way ?? edgeKey(from, to);
    let found = edges.get(key);
    if (!found) edges.set(key, (found = { ...IDLE_EDGE }));
    return found;
  };
  const raise = (id: string, state: NodeState) => {
    const found = node(id);
    if (RANK[state] > RANK[found.state]) found.state = state;
  };

  for (const visit of snapshot?.visits ?? []) {
    const found = node(visit.node);
    found.runs = visit.runs;
    if (visit.runs > 0) found.state = visit.rerouted ? "rerouted" : "done";
  }
  for (const taken of snapshot?.taken ?? []) edge(taken.from, taken).times += taken.times;
  for (const task of snapshot?.previousTasks ?? []) {
    if (task.millis !== undefined) node(task.node).millis = task.millis;
  }

  const baseStep = snapshot?.checkpoint?.step ?? Number.NEGATIVE_INFINITY;
  const sameBranch = live !== undefined && moment.snapshotEra === live.era;
  // A snapshot of before this run may be of another branch: its open tasks say nothing once live ones are known.
  const trusted = !live || sameBranch || live.tasks.size === 0;
  // A task with a result is among the visits of its snapshot, whether it is known yet to have ended or not, and also
  // when a later run goes on with the same step.
  const counted = new Set<string>();
  for (const task of snapshot?.tasks ?? [])
    if (task.status === "done" || task.result !== undefined) counted.add(task.id);
  const tasks = new Map<string, Task>();
  for (const task of trusted ? (snapshot?.tasks ?? []) : []) {
    tasks.set(task.id, {
      id: task.id,
      node: task.node,
      step: baseStep + 1,
      status: task.status,
      ...(task.millis !== undefined && { millis: task.millis }),
      ...(task.error !== undefined && { error: task.error }),
      ways: waysOf(task),
      counted: counted.has(task.id),
    });
  }
  for (const task of live?.tasks.values() ?? []) {
    if (sameBranch && task.step <= baseStep) continue;
    tasks.set(task.id, {
      id: task.id,
      node: task.node,
      step: task.step,
      status: task.status,
      ...(task.startedAt !== undefined &&
        task.endedAt !== undefined && { millis: Math.max(0, task.endedAt - task.startedAt) }),
      ...(task.error !== undefined && { error: task.error }),
      ways: waysOf(task),
      counted: counted.has(task.id),
    });
  }

  // Without a snapshot of this branch yet, the newest live step is the present one.
  let currentStep = trusted ? baseStep + 1 : Number.NEGATIVE_INFINITY;
  for (const task of live?.tasks.values() ?? []) currentStep = Math.max(currentStep, task.step);

  const runningNodes = new Set<string>();
  for (const task of tasks.values()) {
    const current = task.step >= currentStep;
    if (task.millis !== undefined && task.status === "done") node(task.node).millis = task.millis;
    if (task.status === "done") {
      if (now) {
        if (!task.counted) {
          node(task.node).runs += 1;
          for (const way of task.ways) edge(task.node, way).times += way.times;
        }
        const found = node(task.node);
        if (found.state === "rerouted") found.state = "done";
        raise(task.node, "done");
      } else {
        // In the past, a task that went on to finish is simply what comes next.
        raise(task.node, "next");
      }
    } else if (task.status === "failed") {
      if (current) {
        raise(task.node, "failed");
        if (task.error !== undefined) node(task.node).error = readableError(task.error);
      } else if (now && task.step >= baseStep) {
        // The run has gone on since, which the snapshot does not know yet.
        raise(task.node, "rerouted");
      }
    } else if (task.status === "asking") {
      if (current) raise(task.node, "asking");
    } else if (task.status === "running") {
      if (now && running) {
        raise(task.node, "running");
        runningNodes.add(task.node);
      } else if (current) raise(task.node, "next");
    } else if (current) {
      raise(task.node, running ? "waiting" : "next");
    }
  }
  if (trusted && currentStep === baseStep + 1) {
    for (const id of snapshot?.next ?? []) {
      // A node whose tasks are all known has its state from them.
      let known = false;
      for (const task of tasks.values()) if (task.node === id && task.step === currentStep) known = true;
      if (!known) raise(id, running ? "waiting" : "next");
    }
  }

  if (running) {
    const mark = (task: Parameters<typeof waysOf>[0] & { readonly node: string }) => {
      for (const way of waysOf(task)) if (runningNodes.has(way.to)) edge(task.node, way).active = true;
    };
    if (trusted && currentStep === baseStep + 1) {
      for (const task of snapshot?.previousTasks ?? []) mark(task);
    }
    for (const task of live?.tasks.values() ?? []) {
      if (task.step === currentStep - 1 && task.status === "done") mark(task);
    }
    if (runningNodes.size > 0) {
      // What the start leads to has no task before it.
      for (const taken of snapshot?.taken ?? []) {
        const { from, to } = taken;
        if (from === "__start__" && runningNodes.has(to) && node(to).runs === 0)
          edge(from, taken).active = true;
      }
    }
    for (const [id, text] of live?.text ?? []) if (runningNodes.has(id)) node(id).text = text;
  }

  for (const point of moment.breakpoints) {
    if (!point.enabled || point.within !== undefined || point.node === "" || point.node === "*") continue;
    if (point.when === "before") node(point.node).breakBefore = true;
    else if (point.when === "after") node(point.node).breakAfter = true;
  }
  return { nodes, edges };
}

/** The same objects where nothing changed, and the ids of what did. */
export function keepIdentities(
  old: Overlay,
  next: Overlay,
): { overlay: Overlay; changedNodes: string[]; changedEdges: string[] } {
  const nodes = reuse(old.nodes, next.nodes);
  const edges = reuse(old.edges, next.edges);
  return {
    overlay: { nodes: nodes.map, edges: edges.map },
    changedNodes: nodes.changed,
    changedEdges: edges.changed,
  };
}

function reuse<T extends object>(
  old: ReadonlyMap<string, T>,
  next: ReadonlyMap<string, T>,
): { map: Map<string, T>; changed: string[] } {
  const map = new Map<string, T>();
  const changed: string[] = [];
  for (const [id, value] of next) {
    const before = old.get(id);
    if (before && sameFields(before, value)) map.set(id, before);
    else {
      map.set(id, value);
      changed.push(id);
    }
  }
  for (const id of old.keys()) if (!next.has(id)) changed.push(id);
  return { map, changed };
}

function sameFields(a: object, b: object): boolean {
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => left[key] === right[key]);
}
