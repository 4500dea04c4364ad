/** What one task saw and did, read when it is shown and again when it has ended; and the visits of its node. */
import { useEffect, useState } from "react";
import type { TaskDetail } from "../../ipc/bindings/TaskDetail";
import type { VisitsView } from "../../ipc/bindings/VisitsView";
import { rpc } from "../../ipc/client";
import { asProblem, type ShownProblem } from "../parts/problem";

export interface TaskPlace {
  readonly threadId: string;
  /** The checkpoint that its step began from. */
  readonly from: string;
  readonly taskId: string;
  /** Where its graph keeps its checkpoints, when that is a nested one. */
  readonly ns?: string | undefined;
}

export interface Detail {
  readonly detail: TaskDetail | null;
  readonly problem: ShownProblem | null;
}

const NOTHING: Detail = { detail: null, problem: null };

/** `status` is how the task stands: when that changes, there is more to read. */
export function useTaskDetail({ threadId, from, taskId, ns }: TaskPlace, status: string): Detail {
  const key = `${threadId}/${from}/${taskId}`;
  const [read, setRead] = useState<{ readonly key: string } & Detail>({ key, ...NOTHING });
  useEffect(() => {
    const abort = new AbortController();
    const asked = { threadId, checkpointId: from, taskId, ...(ns !== undefined && { ns }) };
    rpc("thread.task", asked, abort.signal).then(
      (detail) => setRead({ key, detail, problem: null }),
      (thrown: unknown) => {
        if (!abort.signal.aborted) setRead({ key, detail: null, problem: asProblem(thrown) });
      },
    );
    return () => abort.abort();
  }, [key, threadId, from, taskId, ns, status]);
  return read.key === key ? read : NOTHING;
}

/** Of the branch that ends at `tip`; null until they are known. */
export function useVisits(
  threadId: string,
  node: string,
  checkpointId: string | undefined,
  tip: string | undefined,
): VisitsView | null {
  const key = `${threadId}/${node}/${checkpointId ?? ""}/${tip ?? ""}`;
  const [read, setRead] = useState<{ readonly key: string; readonly visits: VisitsView } | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    const place = {
      ...(checkpointId !== undefined && { checkpointId }),
      ...(tip !== undefined && { tip }),
    };
    // A held key goes past many moments; only where it rests is looked at.
    const rest = setTimeout(() => {
      rpc("node.visits", { threadId, node, ...place }, abort.signal).then(
        (visits) => setRead({ key, visits }),
        () => {
          // They are an extra: the task is shown without them.
        },
      );
    }, 40);
    return () => {
      clearTimeout(rest);
      abort.abort();
    };
  }, [key, threadId, node, checkpointId, tip]);
  return read?.key === key ? read.visits : null;
}
