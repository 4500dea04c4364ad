/**
 * What the thread under the cursor says of the graph that a node runs: the steps of the task of the node's last visit up to
 * the moment. Read only where that graph is drawn.
 */
import { useEffect, useMemo, useState } from "react";
import { rpc } from "../../ipc/client";
import { useSession } from "../../state/session";
import { asSnapshot } from "../model/nested";
import { useRuns } from "../model/runStore";
import { useStatus } from "../model/status";
import { useWithin } from "../timeline/useWithin";
import { computeOverlay, type Overlay } from "./overlay-model";

const NOTHING: Overlay = { nodes: new Map(), edges: new Map() };
const NONE: never[] = [];

/** Where the graph of the node keeps its checkpoints; null while the node has not run on the way to the moment. */
function useNamespace(node: string, threadId: string | null): string | null {
  const checkpointId = useSession((session) => session.cursor.checkpointId);
  const shown = useRuns((store) => store.shown);
  const [found, setFound] = useState<{ readonly of: string; readonly ns: string | null } | null>(null);
  const view = shown !== null && shown.place.threadId === threadId ? shown.view : null;
  const near = view === null ? undefined : taskOf([...view.tasks, ...view.previousTasks], node);
  const ran = view !== null && near === undefined && view.visits.some((visit) => visit.node === node);
  const of = `${threadId ?? ""}/${node}/${view?.checkpoint?.id ?? ""}`;
  useEffect(() => {
    if (!ran || threadId === null) return;
    const abort = new AbortController();
    const at = checkpointId === null ? {} : { checkpointId };
    void (async () => {
      const { here, last } = await rpc("node.visits", { threadId, node, ...at }, abort.signal);
      const visit = here ?? last;
      if (!visit) return;
      const { tasks } = await rpc(
        "thread.snapshot",
        { threadId, checkpointId: visit.checkpointId },
        abort.signal,
      );
      setFound({ of, ns: taskOf(tasks, node)?.within ?? null });
    })().catch(() => {
      // The drawing is there without what the run says of it.
    });
    return () => abort.abort();
  }, [ran, threadId, node, checkpointId, of]);
  return near?.within ?? (found?.of === of ? found.ns : null);
}

function taskOf<T extends { readonly node: string; readonly within?: string }>(
  tasks: readonly T[],
  node: string,
): T | undefined {
  return tasks.find((task) => task.node === node && task.within !== undefined);
}

/** Marks of the graph that a node runs; none in Design and without a thread. */
export function useInsideOverlay(node: string): Overlay {
  const threadId = useSession((session) => (session.use === "debug" ? session.cursor.threadId : null));
  const isNow = useSession((session) => session.cursor.checkpointId === null);
  const ns = useNamespace(node, threadId);
  const running = useStatus(threadId) === "running" && isNow;
  const { steps } = useWithin(threadId ?? "", ns);
  return useMemo(() => {
    const snapshot = threadId === null || ns === null ? undefined : asSnapshot(threadId, steps);
    return snapshot ? computeOverlay({ snapshot, now: isNow, running, breakpoints: NONE }) : NOTHING;
  }, [threadId, ns, steps, running, isNow]);
}
