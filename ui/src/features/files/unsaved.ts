/** Giving up the changes that are not in the file: a command of its own, which undo takes back. */
import { replaceDocument } from "../../document/edit";
import { flush } from "../../document/open-graph";
import { useDocumentState } from "../../document/store";
import { rpc } from "../../ipc/client";
import { t } from "../../lib/texts";
import { registerCommand } from "../../state/commands";
import { showProblem, showToast } from "../../state/toasts";

/** The graph becomes what its file holds, in one step that can be undone. */
async function revertToFile(): Promise<void> {
  const { graphId, path } = useDocumentState.getState();
  if (graphId === null || path === null) return;
  try {
    await flush();
    replaceDocument(await rpc("graph.revert", { graphId }), t("forms.revert.undoName"));
    showToast({ tone: "done", text: t("forms.revert.done"), detail: t("forms.revert.help") });
  } catch (thrown) {
    showProblem(thrown);
  }
}

export function registerRevert(): () => void {
  return registerCommand({
    id: "graph.revert",
    title: t("forms.revert.command"),
    group: t("forms.files.group"),
    destructive: true,
    enabled: () => {
      const { dirty, path } = useDocumentState.getState();
      return dirty && path !== null;
    },
    run: () => void revertToFile(),
  });
}
