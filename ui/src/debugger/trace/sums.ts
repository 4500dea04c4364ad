/** Time, tokens and cost of nodes and models: for the tables of the trace and the heat of the canvas. Pure. */
import type { SpanCall } from "../../ipc/bindings/SpanCall";
import { added, isUnpriced, NO_COST, type Span, waitedOf, workedOf } from "./tree";

export interface SpanSum {
  readonly name: string;
  readonly count: number;
  readonly millis: number;
  /** Milliseconds for which tasks waited for a place. */
  readonly waited: number;
  readonly input: number;
  readonly output: number;
  readonly cost: ReadonlyMap<string, number>;
  /** Requests whose tokens have no price. */
  readonly unpriced: number;
  readonly failed: number;
}

function sumOf(
  name: string,
  count: number,
  millis: number,
  waited: number,
  failed: number,
  calls: readonly SpanCall[],
): SpanSum {
  return {
    name,
    count,
    millis,
    waited,
    failed,
    input: calls.reduce((sum, { tokens }) => sum + (tokens?.input ?? 0), 0),
    output: calls.reduce((sum, { tokens }) => sum + (tokens?.output ?? 0), 0),
    unpriced: calls.filter(isUnpriced).length,
    cost: added(
      calls.map((call) => (call.cost ? new Map([[call.cost.currency, call.cost.amount]]) : NO_COST)),
    ),
  };
}

function grouped<T>(list: readonly T[], key: (one: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of list) {
    const group = groups.get(key(one));
    if (group) group.push(one);
    else groups.set(key(one), [one]);
  }
  return groups;
}

/** Time, tokens and cost of each node; what a graph inside of a task costs counts for the nodes of that graph. */
export function sumByNode(spans: readonly Span[]): readonly SpanSum[] {
  return [...grouped(spans, (span) => span.node)].map(([name, list]) =>
    sumOf(
      name,
      list.length,
      list.reduce((sum, span) => sum + workedOf(span), 0),
      list.reduce((sum, span) => sum + waitedOf(span), 0),
      list.filter((span) => span.end === "failed").length,
      list.flatMap((span) => span.calls ?? []),
    ),
  );
}

/** Time, tokens and cost of each model. */
export function sumByModel(spans: readonly Span[]): readonly SpanSum[] {
  const calls = spans.flatMap((span) => span.calls ?? []);
  return [...grouped(calls, (call) => call.model)].map(([name, list]) =>
    sumOf(
      name,
      list.length,
      list.reduce((sum, call) => sum + call.millis, 0),
      0,
      list.filter((call) => call.ended === "failed").length,
      list,
    ),
  );
}

/** What a node took: the tasks of the graph on the canvas, with the tokens and the cost of the graphs inside of them. */
export interface Heat {
  readonly tasks: number;
  readonly millis: number;
  readonly cost: ReadonlyMap<string, number>;
}

export const byTaskOf = (spans: readonly Span[]): ReadonlyMap<string, Span> =>
  new Map(spans.map((span) => [`${span.runId}/${span.taskId}`, span]));

/** The task of the outermost graph that a span is of, as far as it is known: that one is on the canvas. */
export function outermost(byTask: ReadonlyMap<string, Span>, span: Span): Span {
  let found = span;
  for (let depth = 0; depth < 100 && found.parent !== undefined; depth += 1) {
    const around = byTask.get(`${found.runId}/${found.parent}`);
    if (!around) break;
    found = around;
  }
  return found;
}

/** By node of the outermost graph. */
export function heatOf(spans: readonly Span[]): ReadonlyMap<string, Heat> {
  const byTask = byTaskOf(spans);
  const heat = new Map<string, { tasks: number; millis: number; cost: Map<string, number> }>();
  for (const span of spans) {
    const root = outermost(byTask, span);
    // What the task around did is not known any more: it may be of any node.
    if (root.parent !== undefined) continue;
    let node = heat.get(root.node);
    if (!node) heat.set(root.node, (node = { tasks: 0, millis: 0, cost: new Map() }));
    if (root === span) {
      node.tasks += 1;
      node.millis += workedOf(span);
    }
    for (const { cost } of span.calls ?? [])
      if (cost) node.cost.set(cost.currency, (node.cost.get(cost.currency) ?? 0) + cost.amount);
  }
  return heat;
}
