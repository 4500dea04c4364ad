/** The version of the graph that a thread ran on at a moment. */
import { useEffect, useState } from "react";
import { useStatus } from "../../debugger/model/status";
import type { ThreadGraph } from "../../ipc/bindings/ThreadGraph";
import { rpc } from "../../ipc/client";

/** What a thread ran on beside the graph as it is; read again after an edit and after a run. */
export function useThreadGraph(
  threadId: string | null,
  checkpointId: string | null,
  graphId: string | null,
  rev: number,
) {
  const status = useStatus(threadId);
  const [graph, setGraph] = useState<(ThreadGraph & { readonly of: string }) | null>(null);
  const of = `${threadId} ${checkpointId} ${graphId}`;
  useEffect(() => {
    if (threadId === null || graphId === null || status === "running") return undefined;
    const abort = new AbortController();
    const read = { threadId, graphId, ...(checkpointId !== null && { checkpointId }) };
    rpc("thread.graph", read, abort.signal).then(
      (view) => (abort.signal.aborted ? undefined : setGraph({ ...view, of })),
      () => {
        // The thread or its graph is gone; what shows them says so.
        if (!abort.signal.aborted) setGraph(null);
      },
    );
    return () => abort.abort();
  }, [threadId, checkpointId, graphId, rev, status, of]);
  return graph?.of === of ? graph : null;
}
