/**
 * What becomes of changes that are not in the file. Leaving a graph never loses them: they are kept and come back with
 * the next opening, which is said. Throwing them away is a command of its own, and asks first.
 */
import { doc, flush, forgetGraph, openGraph, useDocumentState } from "../../document/store";
import { rpc } from "../../ipc/client";
import { t } from "../../lib/texts";
import { registerCommand } from "../../state/commands";
import { showProblem, showToast } from "../../state/toasts";
import { askAboutRevert } from "../../state/file-dialogs";

/** Set while changes are thrown away on purpose, which is not leaving them behind. */
let reverting = false;

/** Opens the graph as it is in its file, without the changes since. */
async function revertToFile(): Promise<void> {
  const { graphId, path } = useDocumentState.getState();
  if (graphId === null || path === null || !(await askAboutRevert(doc.name))) return;
  reverting = true;
  try {
    await flush();
    await rpc("graph.close", { graphId, discard: true });
    forgetGraph(graphId);
    openGraph(await rpc("graph.open", { path }));
  } catch (thrown) {
    showProblem(thrown);
  } finally {
    reverting = false;
  }
}

/** Registers the command, and says what was kept when a graph with unsaved changes is left. */
export function followUnsaved(): () => void {
  const unregister = registerCommand({
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
  let name = doc.name;
  const stop = useDocumentState.subscribe((state, before) => {
    // The same file under another id was opened again after the host was away.
    const again = state.graphId !== null && before.path !== null && before.path === state.path;
    const left = before.graphId !== null && before.graphId !== state.graphId && !again;
    if (left && before.dirty && !reverting && name !== "") {
      showToast({
        tone: "info",
        text: t("forms.unsaved.kept", { name }),
        detail: t("forms.unsaved.keptHelp"),
      });
    }
    name = doc.name;
  });
  return () => {
    unregister();
    stop();
  };
}
