/** Saving over a file that another program changed: its changes are joined with the ones here, and what both changed is asked. */
import { diffDocuments, joinSides, mergedInto, proposedChoices } from "../document/diff";
import type { DocumentRecord } from "../document/document";
import { edit } from "../document/edit";
import { recordNames } from "../document/elsewhere";
import { flush } from "../document/open-graph";
import { doc, useDocumentState } from "../document/store";
import { useConflict } from "../features/git";
import { rpc } from "../ipc/client";
import { t } from "../lib/texts";
import { showToast } from "../state/toasts";

/** `save` writes over the file when it still holds what was `seen`, and answers whether it was written. */
export async function mergeFile(graphId: string, save: (seen: string) => Promise<boolean>): Promise<void> {
  const disk = await rpc("graph.disk", { graphId });
  if (useDocumentState.getState().graphId !== graphId) return;
  const ours = [...doc.records()];
  const theirs = disk.records as DocumentRecord[];
  const base = (disk.base ?? null) as DocumentRecord[] | null;
  const chosen = proposedChoices(ours, theirs, base);
  const { records } = diffDocuments(ours, theirs);
  if (records.every(({ id }) => chosen.has(id))) {
    const patch = mergedInto(ours, joinSides(ours, theirs, chosen));
    // Without it, saving would drop what the file has.
    if (patch.ops.length > 0 && !edit(t("conflict.mergeEdit"), patch)) return;
    await flush();
    if (!(await save(disk.seen))) return;
    const taken = records.filter(({ id }) => chosen.get(id) === "theirs").map(({ id }) => id);
    showToast({ tone: "info", text: t("conflict.merged"), detail: recordNames(taken) });
    return;
  }
  const side = (name: string, records: DocumentRecord[]) => ({ name, records });
  useConflict.setState({
    conflict: {
      graphId,
      view: {
        ours: side(t("conflict.here"), ours),
        theirs: side(t("conflict.file"), theirs),
        ...(base === null ? {} : { base }),
      },
      problem: null,
      save: async () => {
        await flush();
        await save(disk.seen);
      },
    },
  });
}
