/**
 * The graph that a node runs, in the place of the one around it: its document to look at, and over it what its steps in
 * this thread say. Nothing can be edited here; the graph itself is opened from the node's settings.
 */
import { ReactFlowProvider } from "@xyflow/react";
import { useEffect, useMemo, useState } from "react";
import { type Level, asSnapshot } from "../debugger/model/nested";
import { useStatus } from "../debugger/model/status";
import { computeOverlay } from "../debugger/overlay/overlay-model";
import { asProblem, type ShownProblem } from "../debugger/parts/problem";
import { ProblemNote } from "../debugger/run/ProblemNote";
import { useWithin } from "../debugger/timeline/useWithin";
import type { Json } from "../document/types";
import { rpc } from "../ipc/client";
import { shellIds } from "../lib/testIds";
import { useSession } from "../state/session";
import { canvasClass } from "./recipes";
import { sceneOf } from "./still-scene";
import { StillGraph } from "./StillCanvas";
import type { Scene } from "./window";

const NONE: never[] = [];

interface Read {
  readonly scene: Scene | null;
  readonly problem: ShownProblem | null;
  /** The file of the graph. */
  readonly graph?: string | undefined;
}

export function NestedCanvas({ threadId, path }: { threadId: string; path: readonly Level[] }) {
  const graphId = useSession((session) => session.graphId);
  const ns = path.at(-1)?.ns ?? "";
  const [read, setRead] = useState<Read>({ scene: null, problem: null });
  useEffect(() => {
    if (graphId === null) return;
    const abort = new AbortController();
    // As the thread ran it: the graph around it may have another node of the name by now, or none.
    rpc("thread.inside", { threadId, graphId, ns }, abort.signal)
      .then(async ({ records, path: graph }) => ({
        scene: await sceneOf(records as { id: string; value: Json }[]),
        graph,
      }))
      .then(
        (made) => (abort.signal.aborted ? undefined : setRead({ ...made, problem: null })),
        (thrown: unknown) => {
          if (!abort.signal.aborted) setRead({ scene: null, problem: asProblem(thrown) });
        },
      );
    return () => abort.abort();
  }, [threadId, graphId, ns]);
  return (
    <div className={canvasClass} tabIndex={-1} data-testid={shellIds.nestedCanvas} data-ns={ns}>
      {read.problem && <ProblemNote problem={read.problem} />}
      {read.scene && (
        <ReactFlowProvider>
          <NestedGraph key={ns} scene={read.scene} threadId={threadId} ns={ns} graph={read.graph} />
        </ReactFlowProvider>
      )}
    </div>
  );
}

interface NestedProps {
  readonly scene: Scene;
  readonly threadId: string;
  readonly ns: string;
  readonly graph: string | undefined;
}

function NestedGraph({ scene, threadId, ns, graph }: NestedProps) {
  const { steps } = useWithin(threadId, ns);
  const isNow = useSession((session) => session.cursor.checkpointId === null);
  const running = useStatus(threadId) === "running" && isNow;
  const overlay = useMemo(() => {
    const snapshot = asSnapshot(threadId, steps);
    return computeOverlay({ ...(snapshot && { snapshot }), now: isNow, running, breakpoints: NONE });
  }, [threadId, steps, running, isNow]);
  return <StillGraph scene={scene} overlay={overlay} graph={graph} />;
}
