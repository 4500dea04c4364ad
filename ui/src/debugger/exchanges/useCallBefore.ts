/** The call of a model before another one of the same node: of its task, or of the task of that node before, read on demand. */
import { useEffect, useState } from "react";
import type { ExchangeView } from "../../ipc/bindings/ExchangeView";
import { rpc } from "../../ipc/client";
import { useRuns } from "../model/runStore";
import { asProblem, type ShownProblem } from "../parts/problem";
import { pathTo } from "../timeline/lanes";
import type { ExchangeOf } from "./playground";
import { taskBefore } from "./prompt-changes";

/** Spans that are read to find it. */
const MOST_SPANS = 20_000;

interface CallBefore {
  readonly state: "loading" | "none" | "found" | "failed";
  readonly exchange?: ExchangeView;
  /** The step of its task; absent when it is a call of the same task. */
  readonly step?: number;
  readonly problem?: ShownProblem;
}

async function find(threadId: string, taskId: string, signal: AbortSignal): Promise<CallBefore> {
  const { spans } = await rpc("thread.trace", { threadId, limit: MOST_SPANS }, signal);
  const list = useRuns.getState().checkpoints.get(threadId)?.list ?? [];
  const byTask = new Map(spans.map((span) => [span.taskId, span]));
  let root = byTask.get(taskId);
  for (let at = root; at; at = at.parent === undefined ? undefined : byTask.get(at.parent)) root = at;
  const path = pathTo(list, root?.checkpointId);
  const before = taskBefore(spans, taskId, (id) => path.has(id));
  if (!before) return { state: "none" };
  const { exchanges } = await rpc(
    "thread.exchanges",
    { threadId, taskId: before.taskId, brief: false },
    signal,
  );
  const exchange = exchanges.at(-1);
  return exchange ? { state: "found", exchange, step: before.step } : { state: "none" };
}

/** `inTask`: the call before it in its own task. */
export function useCallBefore(
  { threadId, taskId }: ExchangeOf,
  inTask: ExchangeView | undefined,
): CallBefore {
  const [read, setRead] = useState<CallBefore>({ state: "loading" });
  useEffect(() => {
    if (inTask) return undefined;
    const abort = new AbortController();
    setRead({ state: "loading" });
    find(threadId, taskId, abort.signal).then(setRead, (thrown: unknown) => {
      if (!abort.signal.aborted) setRead({ state: "failed", problem: asProblem(thrown) });
    });
    return () => abort.abort();
  }, [threadId, taskId, inTask]);
  return inTask ? { state: "found", exchange: inTask } : read;
}
