/** The question before a thread is deleted. */
import { useState } from "react";
import { ConfirmDialog } from "../../components/Dialog";
import { statusOf } from "../../debugger/model/status";
import { useRuns, useThread } from "../../debugger/model/runStore";
import { rpc } from "../../ipc/client";
import { t, tn } from "../../lib/texts";
import { isBusyElsewhere, takingOver } from "../../state/take-over";
import { showProblem } from "../../state/toasts";

export function DeleteThread({ threadId, onClose }: { threadId: string | null; onClose(): void }) {
  const thread = useThread(threadId);
  const running = useRuns((store) => statusOf(store, threadId) === "running");
  const [busy, setBusy] = useState(false);
  const remove = async () => {
    if (threadId === null) return;
    setBusy(true);
    try {
      await takingOver((flag) => rpc("thread.delete", { ...flag, threadId }));
      onClose();
    } catch (problem) {
      if (!isBusyElsewhere(problem)) showProblem(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <ConfirmDialog
      open={threadId !== null && thread !== undefined}
      title={t("debug.threads.deleteTitle", { title: thread?.title ?? "" })}
      text={
        <>
          <p>{tn("debug.threads.deleteOne", "debug.threads.deleteText", thread?.checkpoints ?? 0)}</p>
          {thread !== undefined && thread.questions > 0 && (
            <p>{tn("debug.threads.deleteQuestionOne", "debug.threads.deleteQuestions", thread.questions)}</p>
          )}
          {running && <p>{t("debug.threads.deleteRunning")}</p>}
        </>
      }
      confirm={t("debug.threads.deleteConfirm")}
      onConfirm={() => void remove()}
      onCancel={onClose}
      busy={busy}
    />
  );
}
