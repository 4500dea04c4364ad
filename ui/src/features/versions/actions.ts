/** What is done with a version: going back to it, naming it. */
import { flush } from "../../document/open-graph";
import { replaceDocument } from "../../document/edit";
import { useDocumentState } from "../../document/store";
import type { GraphVersions } from "../../ipc/bindings/GraphVersions";
import { rpc } from "../../ipc/client";
import { t } from "../../lib/texts";
import { showVersion } from "../../state/shown-version";
import { showProblem, showToast } from "../../state/toasts";
import type { NameAndNote } from "./NameDialog";

/** The document becomes what the version holds, in one step that can be undone. */
export async function restoreVersion(version: string, time: string): Promise<void> {
  const { graphId } = useDocumentState.getState();
  if (graphId === null) return;
  try {
    await flush();
    const view = await rpc("graph.restore", { graphId, version });
    replaceDocument(view, t("forms.versions.undoName", { time }));
    showVersion(null);
    showToast({
      tone: "done",
      text: t("forms.versions.restored", { time }),
      detail: t("forms.versions.restoredHelp"),
    });
  } catch (thrown) {
    showProblem(thrown);
  }
}

/** Gives a version (without an id: the document as it is) a name and a note, or takes both away. */
export async function nameVersion(
  id: string | null,
  chosen: NameAndNote | null,
): Promise<GraphVersions | null> {
  const { graphId } = useDocumentState.getState();
  if (graphId === null) return null;
  try {
    await flush();
    return await rpc("graph.nameVersion", {
      graphId,
      ...(id !== null && { id }),
      ...chosen,
    });
  } catch (thrown) {
    showProblem(thrown);
    return null;
  }
}
