/** How times, tokens and money of the trace read. */
import type { Marks, Span, TraceNode } from "../../debugger/trace/tree";
import { count, duration } from "../../lib/intl";
import { t, tn, type TextKey } from "../../lib/texts";
import { moneyOf } from "../../debugger/exchanges/exchange-text";

export const tokensOf = (tokens: number): string => (tokens === 0 ? "" : count(tokens));

/** What something cost; where a model has no price, that it is not all of it. */
export const costOf = ({ cost, unpriced }: Pick<TraceNode, "cost" | "unpriced">): string =>
  unpriced === 0
    ? moneyOf(cost)
    : cost.size === 0
      ? t("trace.noPrice")
      : t("trace.incomplete", { cost: moneyOf(cost) });

/** Why a cost is not all of it. */
export const unpricedText = (unpriced: number): string | undefined =>
  unpriced === 0 ? undefined : tn("trace.unpricedOne", "trace.unpriced", unpriced);

export const timeOf = (millis: number): string => duration(Math.max(0, millis));

const PAUSES: Readonly<Record<string, TextKey>> = {
  asking: "trace.pause.asking",
  paused: "trace.pause.paused",
  failed: "trace.pause.failed",
  stopped: "trace.pause.stopped",
};

/** The name of a row; runs are counted from the oldest. */
export function labelOf(node: TraceNode, runs: ReadonlyMap<string, number>): string {
  switch (node.kind) {
    case "run":
      return t("trace.run", { n: runs.get(node.id) ?? "?" });
    case "pause":
      return t(PAUSES[node.label] ?? "trace.pause");
    case "step":
      return t("trace.step", { n: node.label });
    case "attempt":
      return t("trace.attempt", { n: node.label });
    case "wait":
      return t("trace.wait", { n: Number(node.label) + 1 });
    default:
      return node.label;
  }
}

/** What a row is marked with: the task itself, or the closed row that it is in. */
export function markOf(node: TraceNode, open: boolean, marks: Marks): "longest" | "dearest" | null {
  const has = (span: Span | null): boolean => {
    if (!span) return false;
    if (node.kind === "task" && node.span === span) return true;
    return !open && holds(node, span);
  };
  return has(marks.dearest) ? "dearest" : has(marks.longest) ? "longest" : null;
}

function holds(node: TraceNode, span: Span): boolean {
  if (node.kind === "task" && node.span === span) return true;
  if (node.from > span.started || node.to < span.ended) return false;
  return node.children.some((child) => holds(child, span));
}
