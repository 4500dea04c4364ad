/** Takes a row over: its branch becomes what the thread is now, or its change an edit of the graph. */
import { edit } from "../../document/edit";
import { flush } from "../../document/open-graph";
import type { Json } from "../../document/types";
import type { WhatIfResult } from "../../ipc/bindings/WhatIfResult";
import type { WhatIfRow } from "../../ipc/bindings/WhatIfRow";
import type { WhatIfView } from "../../ipc/bindings/WhatIfView";
import { rpc } from "../../ipc/client";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { isBusyElsewhere, takingOver } from "../../state/take-over";
import { showProblem, showToast } from "../../state/toasts";

export async function takeBranch({ threadId, id }: WhatIfView, { row, repeat }: WhatIfResult): Promise<void> {
  try {
    await takingOver((flag) => rpc("whatIf.take", { ...flag, threadId, id, row, repeat }));
    useSession.getState().setCursor({ checkpointId: null });
    showToast({ tone: "info", text: t("whatIf.taken") });
  } catch (problem) {
    if (!isBusyElsewhere(problem)) showProblem(problem);
  }
}

export async function applyToGraph(row: WhatIfRow, number: number): Promise<void> {
  const { graphId } = useSession.getState();
  if (graphId === null) return;
  try {
    // The workbench works the change out from the document as it has it.
    await flush();
    const { ops } = await rpc("whatIf.edit", { graphId, row });
    const patch = {
      ops: ops.map(({ id, from, to, at }) => ({
        id,
        from: from as Json,
        to: to as Json,
        ...(at !== undefined && { at }),
      })),
    };
    const done = edit(t("whatIf.applied", { n: number }), patch);
    showToast({
      tone: "info",
      text: done ? t("whatIf.appliedText", { n: number }) : t("whatIf.appliedNothing"),
    });
  } catch (problem) {
    showProblem(problem);
  }
}
