/** What two threads took, node by node: where the time, the attempts, the tokens and the money went. Pure. */
import { added, isUnpriced, NO_COST, type Span, waitedOf, workedOf } from "./tree";

/** What a node took on one side. */
export interface NodeShare {
  readonly visits: number;
  /** Milliseconds of work, without those of nodes inside of it. */
  readonly millis: number;
  /** Milliseconds for which it waited: for a place that a limit gives, and before another attempt. */
  readonly waited: number;
  /** Attempts that failed and were not the end. */
  readonly retries: number;
  readonly failed: number;
  readonly tokens: number;
  readonly cost: ReadonlyMap<string, number>;
  /** Requests whose tokens have no price. */
  readonly unpriced: number;
  /** The visit that took longest. */
  readonly longest: Span;
}

export interface NodeComparison {
  readonly node: string;
  /** Absent where the node did not run. */
  readonly left?: NodeShare;
  readonly right?: NodeShare;
  /** Milliseconds, of work and waiting, that the right side took more. */
  readonly more: number;
}

const pausedOf = (span: Span): number =>
  (span.attempts ?? []).reduce((sum, { waitMillis }) => sum + (waitMillis ?? 0), 0);

function sharesOf(spans: readonly Span[]): ReadonlyMap<string, NodeShare> {
  const within = new Map<string, number>();
  for (const span of spans) {
    if (span.parent === undefined) continue;
    const around = `${span.runId}/${span.parent}`;
    within.set(around, (within.get(around) ?? 0) + span.ended - span.started);
  }
  const groups = new Map<string, Span[]>();
  for (const span of spans) {
    const group = groups.get(span.node);
    if (group) group.push(span);
    else groups.set(span.node, [span]);
  }
  const own = (span: Span) =>
    Math.max(0, workedOf(span) - pausedOf(span) - (within.get(`${span.runId}/${span.taskId}`) ?? 0));
  const share = (visits: readonly Span[]): NodeShare => {
    const calls = visits.flatMap((span) => span.calls ?? []);
    const sum = (of: (span: Span) => number) => visits.reduce((all, span) => all + of(span), 0);
    return {
      visits: visits.length,
      millis: sum(own),
      waited: sum((span) => waitedOf(span) + pausedOf(span)),
      retries: sum((span) => span.attempts?.length ?? 0),
      failed: visits.filter(({ end }) => end === "failed").length,
      tokens: calls.reduce((all, { tokens }) => all + (tokens ? tokens.input + tokens.output : 0), 0),
      cost: added(calls.map(({ cost }) => (cost ? new Map([[cost.currency, cost.amount]]) : NO_COST))),
      unpriced: calls.filter(isUnpriced).length,
      longest: visits.reduce((most, span) => (own(span) > own(most) ? span : most)),
    };
  };
  return new Map([...groups].map(([node, visits]) => [node, share(visits)]));
}

const tookOf = (share: NodeShare | undefined): number => (share ? share.millis + share.waited : 0);

/** The nodes that ran on a side, those whose time differs most first. */
export function compareByNode(left: readonly Span[], right: readonly Span[]): readonly NodeComparison[] {
  const [ours, theirs] = [sharesOf(left), sharesOf(right)];
  return [...new Set([...ours.keys(), ...theirs.keys()])]
    .map((node) => {
      const [l, r] = [ours.get(node), theirs.get(node)];
      return { node, ...(l && { left: l }), ...(r && { right: r }), more: tookOf(r) - tookOf(l) };
    })
    .sort((a, b) => Math.abs(b.more) - Math.abs(a.more) || a.node.localeCompare(b.node, "en"));
}

/** Milliseconds of work and waiting of all nodes. */
export const tookAll = (rows: readonly NodeComparison[], side: "left" | "right"): number =>
  rows.reduce((sum, row) => sum + tookOf(row[side]), 0);
