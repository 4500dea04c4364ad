/** Renaming nodes and state keys, and deleting nodes, in the document and in what this window remembers of them, wherever it is asked for. */
import { renameBreakpoints } from "../debugger/run/breakpoints";
import { renamePin } from "../debugger/run/pins";
import { renameInWatches } from "../debugger/state/watches";
import { deleteThings, type Doomed } from "../document/edits";
import { namedBy, namingKinds } from "../document/node-references";
import type { GraphDocument } from "../document/document";
import type { Patch } from "../document/patch";
import { renameEverywhere as renamed, usesOf } from "../document/rename";
import { askRename } from "../document/rename-question";
import type { Use } from "../document/uses";
import { someEnabled, toggleDisabled } from "../document/disabled";
import { doc, useDocumentState } from "../document/store";
import { edit } from "../document/edit";
import { listed } from "../lib/intl";
import { t } from "../lib/texts";
import { useSession } from "../state/session";
import { showToast } from "../state/toasts";
import { renamePlaced } from "./by-hand";
import { renameInExpanded } from "./expansions";
import { renameInFolds } from "./folds";
import { knownKinds } from "./kinds";

/**
 * Renames a node with all that names it: one undo step. Where programs name it, it is asked first which of those places
 * change; `programs` are the ones that were agreed to.
 */
export function renameEverywhere(from: string, to: string, programs?: readonly Use[]): boolean {
  const named = { what: "node", name: from } as const;
  const { leads } = useDocumentState.getState();
  if (programs === undefined && usesOf(doc, knownKinds(), leads, named).some((use) => use.program)) {
    askRename(named, to);
    return false;
  }
  const name = t("canvas.edit.rename", { name: to });
  // What is gone leaves the selection with the edit.
  const selected = useSession.getState().selection.nodes;
  const agreed = programs ?? [];
  if (!edit(name, (document) => renamed(document, knownKinds(), named, to, agreed))) return false;
  const session = useSession.getState();
  renameBreakpoints("node", from, to);
  renamePin(from, to);
  renameInExpanded(from, to);
  renameInFolds(from, to);
  renamePlaced(from, to);
  if (selected.includes(from)) session.select({ nodes: selected.map((each) => (each === from ? to : each)) });
  return true;
}

/** Renames a state key with all that names it, the same way. */
export function renameKeyEverywhere(from: string, to: string, programs?: readonly Use[]): boolean {
  const named = { what: "key", name: from } as const;
  const { leads } = useDocumentState.getState();
  if (programs === undefined && usesOf(doc, knownKinds(), leads, named).some((use) => use.program)) {
    askRename(named, to);
    return false;
  }
  const agreed = programs ?? [];
  const name = t("forms.edit.rename", { from, to });
  if (!edit(name, (document) => renamed(document, knownKinds(), named, to, agreed))) return false;
  const { graphKey, selection, select } = useSession.getState();
  renameBreakpoints("key", from, to);
  if (graphKey !== null) renameInWatches(graphKey, from, to);
  if (selection.key === from) select({ key: to });
  return true;
}

/** Switches nodes off, or on when none of them works. */
export function toggleEverywhere(nodes: readonly string[]): boolean {
  const name = t(someEnabled(doc, nodes) ? "disabled.edit.off" : "disabled.edit.on");
  const { leads } = useDocumentState.getState();
  return edit(name, (document) => toggleDisabled(document, nodes, leads));
}

/** Deletes and lets the selection go; says which settings still name a node that is gone. */
export function deleteEverywhere(
  name: string,
  doomed: Doomed,
  how: (document: GraphDocument) => Patch = (document) => deleteThings(document, doomed),
): boolean {
  if (!edit(name, how)) return false;
  useSession.getState().select({});
  const gone = new Set((doomed.nodes ?? []).filter((node) => !doc.has(`node:${node}`)));
  if (gone.size === 0) return true;
  const left = namedBy(doc, namingKinds(knownKinds()), (node) => gone.has(node));
  if (left.length > 0) {
    const nodes = new Set(left.flatMap(([, places]) => places.map((place) => place.name)));
    showToast({
      tone: "warning",
      text: t("canvas.delete.named", { nodes: listed([...nodes]) }),
      detail: t("canvas.delete.namedBy", { by: listed(left.map(([by]) => by)) }),
    });
  }
  return true;
}
