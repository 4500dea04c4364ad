/** Which tasks of a trace are shown. Pure. */
import type { Span } from "./tree";

export interface TraceFilter {
  readonly what: "all" | "failed" | "unsettled" | "models" | "slow";
  readonly words: string;
}

/** What is called slow: milliseconds. */
const SLOW = 100;

const failed = (span: Span): boolean => span.end === "failed" || (span.attempts?.length ?? 0) > 0;

/** `isLast`: no later run went on with the task, whose question would be answered then. */
const WHAT: Record<TraceFilter["what"], (span: Span, isLast: boolean) => boolean> = {
  all: () => true,
  failed,
  unsettled: (span, isLast) => failed(span) || span.end === "running" || (span.end === "asking" && isLast),
  models: (span) => (span.calls?.length ?? 0) > 0,
  slow: (span) => span.ended - span.started > SLOW,
};

/** Tasks that the filter wants, with those whose graphs they are of. */
export function filtered(spans: readonly Span[], filter: TraceFilter): readonly Span[] {
  const words = filter.words
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (filter.what === "all" && words.length === 0) return spans;
  const last = new Map(spans.map((span) => [span.taskId, span]));
  const wanted = (span: Span): boolean => {
    if (!WHAT[filter.what](span, last.get(span.taskId) === span)) return false;
    if (words.length === 0) return true;
    const models = (span.calls ?? []).map((call) => call.model);
    const errors = (span.attempts ?? []).map((attempt) => attempt.error);
    const text = [span.node, span.error ?? "", ...models, ...errors].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const byTask = new Map(spans.map((span) => [`${span.runId}/${span.taskId}`, span]));
  const kept = new Set<Span>();
  for (const span of spans) {
    if (!wanted(span)) continue;
    let each: Span | undefined = span;
    while (each && !kept.has(each)) {
      kept.add(each);
      each = each.parent === undefined ? undefined : byTask.get(`${each.runId}/${each.parent}`);
    }
  }
  return spans.filter((span) => kept.has(span));
}
