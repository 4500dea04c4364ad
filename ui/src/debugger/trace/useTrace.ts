/** The spans of a thread, with its tasks at work; what is new is read while a run goes on and when it has ended. */
import { useEffect, useMemo, useState } from "react";
import type { AppEvent } from "../../ipc/bindings/AppEvent";
import type { RunView } from "../../ipc/bindings/RunView";
import type { TraceSpan } from "../../ipc/bindings/TraceSpan";
import { rpc, subscribe } from "../../ipc/client";
import { usePriceChanges } from "../../state/prices";
import { isRunning, type LiveTasks } from "../model/live";
import { asProblem, type ShownProblem } from "../parts/problem";
import type { Span } from "./tree";

/** While a run goes on the spans are read at most this often. */
const REFRESH_MS = 700;
/** Spans that are held. */
const MAX_SPANS = 20_000;

export interface Trace {
  readonly runs: readonly RunView[];
  readonly spans: readonly TraceSpan[];
  readonly leftOut: boolean;
  readonly problem: ShownProblem | null;
  readonly loading: boolean;
}

const NONE: Trace = { runs: [], spans: [], leftOut: false, problem: null, loading: true };

/** Does an event bring new spans? Nested graphs only say that they went a step further. */
function concerns(event: AppEvent, threadId: string): boolean {
  switch (event.type) {
    case "taskEnded":
    case "within":
      return event.threadId === threadId;
    case "run":
      return event.run.threadId === threadId;
    case "changed":
      return event.threads;
    default:
      return false;
  }
}

/** Adds the spans of an answer to those that are held; where they are more than `max`, the oldest are left out, which is said. */
export function joinSpans(
  known: Pick<Trace, "spans" | "leftOut">,
  answer: Pick<Trace, "spans" | "leftOut">,
  max = MAX_SPANS,
): Pick<Trace, "spans" | "leftOut"> {
  const spans = answer.spans.length > 0 ? [...known.spans, ...answer.spans] : known.spans;
  return {
    spans: spans.length > max ? spans.slice(-max) : spans,
    leftOut: known.leftOut || answer.leftOut || spans.length > max,
  };
}

export function useTrace(threadId: string): Trace & { again(): void } {
  const [trace, setTrace] = useState(NONE);
  const [attempt, setAttempt] = useState(0);
  const prices = usePriceChanges();
  useEffect(() => {
    setTrace(NONE);
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let [last, reading, due] = [0, false, false];
    const read = async () => {
      timer = undefined;
      if (reading) {
        due = true;
        return;
      }
      reading = true;
      try {
        const answer = await rpc(
          "thread.trace",
          { threadId, limit: MAX_SPANS, ...(last > 0 && { after: last }) },
          abort.signal,
        );
        const first = last === 0;
        last = answer.last;
        setTrace((known) => ({
          runs: answer.runs,
          ...joinSpans(first ? NONE : known, answer),
          problem: null,
          loading: false,
        }));
      } catch (thrown) {
        if (!abort.signal.aborted)
          setTrace((known) => ({ ...known, problem: asProblem(thrown), loading: false }));
      } finally {
        reading = false;
        if (due && !abort.signal.aborted) soon();
        due = false;
      }
    };
    const soon = () => {
      timer ??= setTimeout(() => void read(), REFRESH_MS);
    };
    void read();
    const leave = subscribe((events) => {
      if (events.some((event) => concerns(event, threadId))) soon();
    }, soon);
    return () => {
      abort.abort();
      clearTimeout(timer);
      leave();
    };
  }, [threadId, attempt, prices]);
  return { ...trace, again: () => setAttempt((n) => n + 1) };
}

/** Spans of what has ended, and of the tasks that are at work, which end now. */
export function withRunning(
  spans: readonly TraceSpan[],
  live: LiveTasks | undefined,
  checkpointId: string | undefined,
  now: number,
): readonly Span[] {
  const run = live?.run;
  if (!run || !isRunning(live)) return spans;
  const known = new Set(spans.filter((span) => span.runId === run.runId).map((span) => span.taskId));
  const running: Span[] = [];
  for (const task of live.tasks.values()) {
    if (task.startedAt === undefined || known.has(task.id) || task.cached) continue;
    running.push({
      runId: run.runId,
      taskId: task.id,
      checkpointId: checkpointId ?? "",
      node: task.node,
      step: task.step,
      started: task.startedAt,
      ended: task.endedAt ?? Math.max(now, task.startedAt),
      end:
        task.status === "done" || task.status === "failed" || task.status === "asking"
          ? task.status
          : "running",
      ...(task.error !== undefined && { error: task.error }),
    });
  }
  return running.length === 0 ? spans : [...spans, ...running];
}

/** Spans with those at work; `now` counts only while something is. */
export function useSpans(
  trace: Trace,
  live: LiveTasks | undefined,
  checkpointId: string | undefined,
  now: number,
): readonly Span[] {
  const tick = isRunning(live) ? now : 0;
  return useMemo(
    () => withRunning(trace.spans, live, checkpointId, tick),
    [trace.spans, live, checkpointId, tick],
  );
}
