/**
 * What ran when, as a tree: run, step or node, task, then its attempts, its requests to models and the tasks of the graph
 * that it runs. Sums of time, tokens and cost stand at every level. Pure.
 */
import type { RunView } from "../../ipc/bindings/RunView";
import type { SpanCall } from "../../ipc/bindings/SpanCall";
import type { TraceSpan } from "../../ipc/bindings/TraceSpan";

/** A span, or a task that is at work and has no end yet. */
export type Span = Omit<TraceSpan, "end"> & { readonly end: TraceSpan["end"] | "running" };

type TraceKind = "run" | "pause" | "step" | "node" | "task" | "attempt" | "wait" | "call";

/** A stretch of time as it is drawn. */
export interface Bar {
  readonly from: number;
  readonly to: number;
  /** `queued` waited for a place, `wait` for the next attempt; `tried` failed, and its task went on to another attempt. */
  readonly tone: "work" | "failed" | "tried" | "asking" | "left" | "running" | "wait" | "model" | "queued";
  /** It is on the critical path. */
  readonly critical?: boolean;
}

export interface TraceNode {
  readonly id: string;
  readonly kind: TraceKind;
  readonly label: string;
  readonly from: number;
  readonly to: number;
  /** Milliseconds at work: of a task its own, of a group those of its tasks together. */
  readonly millis: number;
  /** Milliseconds for which it waited for a place. */
  readonly waited: number;
  /** It, or something in it, is on the critical path. */
  readonly critical: boolean;
  /** Tokens that models were sent, and that they answered. */
  readonly input: number;
  readonly output: number;
  /** By currency. */
  readonly cost: ReadonlyMap<string, number>;
  /** Requests in it whose tokens have no price: the cost is not all of it. */
  readonly unpriced: number;
  /** Tasks in it. */
  readonly tasks: number;
  readonly failed: number;
  readonly retries: number;
  readonly bars: readonly Bar[];
  readonly error?: string;
  readonly step?: number;
  /** Of a task and what is below it: the span of its task. */
  readonly span?: Span;
  readonly run?: RunView;
  readonly children: readonly TraceNode[];
}

export type Column = "start" | "name" | "millis" | "input" | "output" | "cost";

export interface Shape {
  /** Tasks of a node in one row, or step by step. */
  readonly group: boolean;
  readonly sort: Column;
  /** Tasks that are marked: those of the critical path. */
  readonly critical?: ReadonlySet<Span>;
}

const NONE: readonly TraceNode[] = [];
export const NO_COST: ReadonlyMap<string, number> = new Map();
/** Stretches that a group draws; more lie on top of each other. */
const MOST_BARS = 400;

export const total = (cost: ReadonlyMap<string, number>): number =>
  [...cost.values()].reduce((sum, amount) => sum + amount, 0);

/** Was it counted, and has no price? A script counts nothing. */
export const isUnpriced = ({ tokens, cost }: SpanCall): boolean =>
  tokens !== undefined && tokens.input + tokens.output > 0 && cost === undefined;

export function added(costs: readonly ReadonlyMap<string, number>[]): ReadonlyMap<string, number> {
  const filled = costs.filter((cost) => cost.size > 0);
  if (filled.length === 0) return NO_COST;
  if (filled.length === 1) return filled[0] ?? NO_COST;
  const sum = new Map<string, number>();
  for (const cost of filled)
    for (const [currency, amount] of cost) sum.set(currency, (sum.get(currency) ?? 0) + amount);
  return sum;
}

const by: Record<Column, (a: TraceNode, b: TraceNode) => number> = {
  start: (a, b) => a.from - b.from || a.to - b.to,
  name: (a, b) => a.label.localeCompare(b.label, "en") || a.from - b.from,
  millis: (a, b) => b.millis - a.millis || a.from - b.from,
  input: (a, b) => b.input - a.input || a.from - b.from,
  output: (a, b) => b.output - a.output || a.from - b.from,
  cost: (a, b) => total(b.cost) - total(a.cost) || a.from - b.from,
};

const sorted = (nodes: readonly TraceNode[], column: Column): readonly TraceNode[] =>
  nodes.toSorted(by[column]);

const TONE: Record<Span["end"], Bar["tone"]> = {
  done: "work",
  failed: "failed",
  asking: "asking",
  left: "left",
  running: "running",
};

function callNode(span: Span, call: SpanCall, at: number): TraceNode {
  const to = call.at + call.millis;
  const cost = call.cost ? new Map([[call.cost.currency, call.cost.amount]]) : NO_COST;
  return {
    id: `${span.runId}/${span.taskId}/call${at}`,
    kind: "call",
    label: call.model,
    from: call.at,
    to,
    millis: call.millis,
    input: call.tokens?.input ?? 0,
    output: call.tokens?.output ?? 0,
    cost,
    unpriced: isUnpriced(call) ? 1 : 0,
    waited: 0,
    critical: false,
    tasks: 0,
    failed: call.ended === "failed" ? 1 : 0,
    retries: 0,
    bars: [{ from: call.at, to, tone: call.ended === "failed" ? "failed" : "model" }],
    span,
    children: NONE,
  };
}

export const waitedOf = (span: Span): number =>
  (span.waits ?? []).reduce((sum, wait) => sum + wait.to - wait.from, 0);

/** From its start to its end, without the time for which it waited for a place. */
export const workedOf = (span: Span): number => Math.max(0, span.ended - span.started - waitedOf(span));

/** A stretch without the times at which the task waited for a place, and those as stretches of their own. */
function apart(span: Span, bar: Bar): readonly Bar[] {
  const waits = (span.waits ?? []).filter((wait) => wait.to > bar.from && wait.from < bar.to);
  if (waits.length === 0 || bar.tone === "wait") return [bar];
  const bars: Bar[] = [];
  let { from } = bar;
  for (const wait of waits) {
    const [start, end] = [Math.max(from, wait.from), Math.min(bar.to, wait.to)];
    if (start > from) bars.push({ ...bar, from, to: start });
    bars.push({ from: start, to: end, tone: "queued" });
    from = end;
  }
  if (bar.to > from) bars.push({ ...bar, from });
  return bars;
}

/** Attempts that failed, the waits after them, and the last one. */
function attemptNodes(span: Span): readonly TraceNode[] {
  const failed = span.attempts ?? [];
  if (failed.length === 0) return NONE;
  const nodes: TraceNode[] = [];
  const part = (
    kind: "attempt" | "wait",
    n: number,
    from: number,
    to: number,
    tone: Bar["tone"],
    error?: string,
  ) =>
    nodes.push({
      id: `${span.runId}/${span.taskId}/${kind}${n}`,
      kind,
      label: String(n),
      from,
      to,
      millis: to - from,
      input: 0,
      output: 0,
      cost: NO_COST,
      unpriced: 0,
      waited: 0,
      critical: false,
      tasks: 0,
      failed: error === undefined ? 0 : 1,
      retries: 0,
      bars: apart(span, { from, to, tone }),
      ...(error !== undefined && { error }),
      span,
      children: NONE,
    });
  let from = span.started;
  for (const one of failed) {
    part("attempt", one.attempt, from, one.ended, span.end === "failed" ? "failed" : "tried", one.error);
    from = one.ended;
    if (one.waitMillis !== undefined && one.waitMillis > 0) {
      const to = Math.min(one.ended + one.waitMillis, span.ended);
      part("wait", one.attempt, from, to, "wait");
      from = to;
    }
  }
  part("attempt", failed.length + 1, from, span.ended, TONE[span.end], span.error);
  return nodes;
}

const summed = (nodes: readonly TraceNode[], what: "input" | "output" | "unpriced"): number =>
  nodes.reduce((sum, node) => sum + node[what], 0);

const taskKey = (runId: string, taskId: string): string => `${runId}/${taskId}`;

/** Spans by the task around them; what is around may be missing, then they stand at the top. */
function childrenOf(spans: readonly Span[]): ReadonlyMap<string, readonly Span[]> {
  const known = new Set(spans.map((span) => taskKey(span.runId, span.taskId)));
  const within = new Map<string, Span[]>();
  for (const span of spans) {
    const parent = span.parent === undefined ? "" : span.parent;
    const key = taskKey(span.runId, parent !== "" && known.has(taskKey(span.runId, parent)) ? parent : "");
    const list = within.get(key);
    if (list) list.push(span);
    else within.set(key, [span]);
  }
  return within;
}

function taskNode(span: Span, within: ReadonlyMap<string, readonly Span[]>, shape: Shape): TraceNode {
  const id = taskKey(span.runId, span.taskId);
  const attempts = attemptNodes(span);
  const calls = (span.calls ?? []).map((call, at) => callNode(span, call, at));
  const inside = within.get(id);
  const nested = inside === undefined ? NONE : level(inside, within, shape, id);
  const critical = shape.critical?.has(span) === true;
  const bars =
    attempts.length > 0
      ? attempts.flatMap((node) => node.bars)
      : apart(span, { from: span.started, to: span.ended, tone: TONE[span.end] });
  return {
    id,
    kind: "task",
    label: span.node,
    from: span.started,
    to: span.ended,
    millis: workedOf(span),
    waited: waitedOf(span),
    critical,
    input: summed([...calls, ...nested], "input"),
    output: summed([...calls, ...nested], "output"),
    unpriced: summed([...calls, ...nested], "unpriced"),
    cost: added([...calls, ...nested].map((node) => node.cost)),
    tasks: 1,
    failed: span.end === "failed" ? 1 : 0,
    retries: span.attempts?.length ?? 0,
    bars: critical ? bars.map((bar) => ({ ...bar, critical })) : bars,
    ...(span.error !== undefined && { error: span.error }),
    step: span.step,
    span,
    children: sorted([...attempts, ...calls, ...nested], shape.sort),
  };
}

function groupNode(
  id: string,
  kind: "step" | "node",
  label: string,
  children: readonly TraceNode[],
): TraceNode {
  let [from, to, millis, waited, failed, retries] = [Infinity, -Infinity, 0, 0, 0, 0];
  for (const child of children) {
    from = Math.min(from, child.from);
    to = Math.max(to, child.to);
    millis += child.millis;
    waited += child.waited;
    failed += child.failed;
    retries += child.retries;
  }
  const every = Math.ceil(children.length / MOST_BARS);
  const first = children[0];
  return {
    id,
    kind,
    label,
    from,
    to,
    millis,
    waited,
    critical: children.some((child) => child.critical),
    input: summed(children, "input"),
    output: summed(children, "output"),
    unpriced: summed(children, "unpriced"),
    cost: added(children.map((child) => child.cost)),
    tasks: children.length,
    failed,
    retries,
    bars: children.filter((child, at) => child.critical || at % every === 0).flatMap((child) => child.bars),
    ...(kind === "step" && first?.step !== undefined && { step: first.step }),
    ...(first?.span && { span: first.span }),
    children,
  };
}

/** The tasks of one graph in one run: node by node, or step by step. */
function level(
  spans: readonly Span[],
  within: ReadonlyMap<string, readonly Span[]>,
  shape: Shape,
  prefix: string,
): readonly TraceNode[] {
  const groups = new Map<string, TraceNode[]>();
  for (const span of spans) {
    const key = shape.group
      ? span.node
      : `${span.step} ${span.parent === undefined ? span.checkpointId : ""}`;
    const list = groups.get(key);
    const node = taskNode(span, within, shape);
    if (list) list.push(node);
    else groups.set(key, [node]);
  }
  const nodes = [...groups].map(([key, children]) => {
    const [only] = children;
    if (children.length === 1 && only) return only;
    const name = shape.group ? key : String(children[0]?.step ?? "");
    return groupNode(
      `${prefix}/${shape.group ? "n" : "s"}:${key}`,
      shape.group ? "node" : "step",
      name,
      sorted(children, shape.sort),
    );
  });
  return sorted(nodes, shape.sort);
}

const at = (iso: string): number => Date.parse(iso);

/** Every run with its tasks, and the pauses between runs. */
export function traceTree(
  runs: readonly RunView[],
  spans: readonly Span[],
  shape: Shape,
  now: number,
): readonly TraceNode[] {
  const within = childrenOf(spans);
  const nodes: TraceNode[] = [];
  for (const run of runsOf(runs, spans)) {
    const children = level(within.get(taskKey(run.runId, "")) ?? [], within, shape, run.runId);
    const from = at(run.startedAt);
    const to =
      run.endedAt === undefined ? (run.status === "running" ? now : lastOf(children, from)) : at(run.endedAt);
    const before = nodes.at(-1);
    if (before?.run && from > before.to) {
      nodes.push({
        ...EMPTY,
        id: `${run.runId}/pause`,
        kind: "pause",
        label: before.run.status,
        from: before.to,
        to: from,
        millis: from - before.to,
      });
    }
    const group = groupNode(run.runId, "node", run.runId, children);
    nodes.push({
      ...group,
      kind: "run",
      from,
      to,
      millis: to - from,
      tasks: children.reduce((sum, child) => sum + child.tasks, 0),
      bars: [
        {
          from,
          to,
          tone: run.status === "failed" ? "failed" : run.status === "running" ? "running" : "work",
        },
      ],
      run,
    });
  }
  return nodes;
}

/** The runs that have spans; of one that is not known (a thread that came in a file), as its spans say. */
function runsOf(known: readonly RunView[], spans: readonly Span[]): readonly RunView[] {
  const times = new Map<string, { from: number; to: number }>();
  for (const span of spans) {
    const time = times.get(span.runId);
    if (!time) times.set(span.runId, { from: span.started, to: span.ended });
    else [time.from, time.to] = [Math.min(time.from, span.started), Math.max(time.to, span.ended)];
  }
  const byId = new Map(known.map((run) => [run.runId, run]));
  const iso = (millis: number) => new Date(millis).toISOString();
  const found = [...times].map(
    ([runId, { from, to }]): RunView =>
      byId.get(runId) ?? { runId, threadId: "", status: "done", startedAt: iso(from), endedAt: iso(to) },
  );
  return found.toSorted((a, b) => at(a.startedAt) - at(b.startedAt));
}

const lastOf = (nodes: readonly TraceNode[], from: number): number =>
  nodes.reduce((last, node) => Math.max(last, node.to), from);

const EMPTY = {
  input: 0,
  output: 0,
  unpriced: 0,
  waited: 0,
  critical: false,
  cost: NO_COST,
  tasks: 0,
  failed: 0,
  retries: 0,
  bars: [],
  children: NONE,
};

export interface TraceRow {
  readonly node: TraceNode;
  readonly depth: number;
  readonly open: boolean;
}

/** The rows in view: what is open shows what is in it. */
export function rowsOf(tree: readonly TraceNode[], open: (node: TraceNode) => boolean): readonly TraceRow[] {
  const rows: TraceRow[] = [];
  const push = (node: TraceNode, depth: number): void => {
    const isOpen = node.children.length > 0 && open(node);
    rows.push({ node, depth, open: isOpen });
    if (isOpen) for (const child of node.children) push(child, depth + 1);
  };
  for (const node of tree) push(node, 0);
  return rows;
}

/** The ids from the root to a node. */
export function pathTo(tree: readonly TraceNode[], id: string): readonly string[] {
  for (const node of tree) {
    if (node.id === id) return [id];
    const below = pathTo(node.children, id);
    if (below.length > 0) return [node.id, ...below];
  }
  return [];
}

export interface Marks {
  /** The task that worked longest, without what ran in it. */
  readonly longest: Span | null;
  /** The task whose models cost most. */
  readonly dearest: Span | null;
}

/** Waiting for a person is no work. */
export function marksOf(spans: readonly Span[]): Marks {
  const inside = new Map<string, number>();
  for (const span of spans) {
    if (span.parent === undefined) continue;
    const key = taskKey(span.runId, span.parent);
    inside.set(key, (inside.get(key) ?? 0) + workedOf(span));
  }
  let [longest, dearest]: [Span | null, Span | null] = [null, null];
  let [most, cost] = [0, 0];
  for (const span of spans) {
    const millis = workedOf(span) - (inside.get(taskKey(span.runId, span.taskId)) ?? 0);
    if (span.end !== "running" && millis > most) [longest, most] = [span, millis];
    const paid = (span.calls ?? []).reduce((sum, call) => sum + (call.cost?.amount ?? 0), 0);
    if (paid > cost) [dearest, cost] = [span, paid];
  }
  return { longest, dearest };
}
