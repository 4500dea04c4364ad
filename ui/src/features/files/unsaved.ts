/** Throwing away the changes that are not in the file, on purpose: a command of its own, which asks first. */
import { doc, useDocumentState } from "../../document/store";
import { flush, forgetGraph, openGraph } from "../../document/open-graph";
import { rpc } from "../../ipc/client";
import { t } from "../../lib/texts";
import { registerCommand } from "../../state/commands";
import { tabReplaced } from "../../state/tabs";
import { showProblem } from "../../state/toasts";
import { askAboutRevert } from "../../state/file-dialogs";

/** Opens the graph as it is in its file, without the changes since. */
async function revertToFile(): Promise<void> {
  const { graphId, path } = useDocumentState.getState();
  if (graphId === null || path === null || !(await askAboutRevert(doc.name))) return;
  try {
    await flush();
    await rpc("graph.close", { graphId, discard: true });
    forgetGraph(graphId);
    const view = await rpc("graph.open", { path });
    tabReplaced(graphId, view.graphId);
    openGraph(view);
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
