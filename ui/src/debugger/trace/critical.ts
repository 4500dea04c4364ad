/**
 * What a run waited for: in each super-step the task that ended last, and within it the same of the graph that it runs. Had
 * any other task been quicker, the run would not have ended earlier. Pure.
 */
import type { Span } from "./tree";

/** Steps of the same graph: those of one run, around the same task, of the same number from the same checkpoint. */
const stepOf = ({ runId, parent = "", step, checkpointId }: Span): string =>
  [runId, parent, step, parent === "" ? checkpointId : ""].join(" ");

export interface CriticalPath {
  readonly spans: ReadonlySet<Span>;
  /** Milliseconds of those of the outermost graph together, with the waits for a place. */
  readonly millis: number;
}

export function criticalPath(spans: readonly Span[]): CriticalPath {
  const last = new Map<string, Span>();
  const within = new Map<string, string[]>();
  const known = new Set(spans.map(({ runId, taskId }) => `${runId} ${taskId}`));
  const open: string[] = [];
  for (const span of spans) {
    const step = stepOf(span);
    const before = last.get(step);
    if (!before) {
      const around = `${span.runId} ${span.parent ?? ""}`;
      // What the task around did is not known any more: the graph counts by itself.
      if (span.parent === undefined || !known.has(around)) open.push(step);
      else {
        const steps = within.get(around);
        if (steps) steps.push(step);
        else within.set(around, [step]);
      }
    }
    if (
      !before ||
      span.ended > before.ended ||
      (span.ended === before.ended && span.started < before.started)
    )
      last.set(step, span);
  }
  const path = new Set<Span>();
  let millis = 0;
  for (const step of open) {
    const span = last.get(step);
    if (span) millis += span.ended - span.started;
  }
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    const span = last.get(step);
    if (!span || path.has(span)) continue;
    path.add(span);
    open.push(...(within.get(`${span.runId} ${span.taskId}`) ?? []));
  }
  return { spans: path, millis };
}
