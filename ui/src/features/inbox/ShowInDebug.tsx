/** Opens the question's graph (if it is not open) and its thread in Debug. */
import { Bug } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/Button";
import { useRuns } from "../../debugger/model/runStore";
import { openGraph } from "../../document/open-graph";
import type { Question } from "../../ipc/bindings/Question";
import { rpc } from "../../ipc/client";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { showProblem } from "../../state/toasts";

export function ShowInDebug({ question }: { question: Question }) {
  const ours = useRuns((store) => store.threads.has(question.threadId));
  const [busy, setBusy] = useState(false);
  if (!ours && question.graphPath === undefined) return null;
  const show = async () => {
    setBusy(true);
    try {
      if (!ours && question.graphPath !== undefined)
        openGraph(await rpc("graph.open", { path: question.graphPath }));
      const session = useSession.getState();
      session.setUse("debug");
      session.setCursor({
        threadId: question.threadId,
        checkpointId: question.branch ? question.checkpointId : null,
      });
    } catch (problem) {
      showProblem(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button size="small" icon={<Bug size={14} aria-hidden />} busy={busy} onClick={() => void show()}>
      {t("debug.inbox.show")}
    </Button>
  );
}
