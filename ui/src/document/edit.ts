/** Edits of the open document, each a named step that undo takes back. */
import type { GraphView } from "../ipc/bindings/GraphView";
import { rpc } from "../ipc/client";
import { showToast } from "../state/toasts";
import { t } from "../lib/texts";
import { tabChanged } from "../state/tabs";
import type { GraphDocument } from "./document";
import { emitEdit } from "./edit-events";
import type { Mark } from "./history";
import { keepSteps } from "./kept-steps";
import { PatchError, same, type Patch, type PatchOp } from "./patch";
import type { Json } from "./types";
import { doc, useDocumentState } from "./store";
import { currentHistory, historyOf, sync, keeper, published, adopt } from "./open-graph";

/**
 * The host changed the document itself (a restored version): takes it over as one step that undo takes back.
 */
export function replaceDocument(view: GraphView, name: string): void {
  if (view.text !== undefined || useDocumentState.getState().text !== null) {
    // Steps lead from graph to graph; what was there before is among the versions.
    currentHistory().clear();
    adopt(view);
    published();
    return;
  }
  const before = new Map(doc.records().map((record) => [record.id, record.value]));
  const ops: PatchOp[] = [];
  const after = new Map(view.records.map((record) => [record.id, record.value as Json]));
  const removed = [...before.keys()].filter((id) => !after.has(id)).reverse();
  for (const id of removed) ops.push({ id, from: before.get(id) ?? null, to: null });
  const places = new Map<string, number>();
  for (const [id, value] of after) {
    const section = id.slice(0, id.indexOf(":"));
    const at = places.get(section) ?? 0;
    places.set(section, at + 1);
    const was = before.get(id);
    if (was === undefined) ops.push({ id, from: null, to: value, at });
    else if (!same(was, value)) ops.push({ id, from: was, to: value });
  }
  try {
    currentHistory().record(name, doc.apply({ ops }));
  } catch {
    currentHistory().clear();
  }
  adopt(view);
  published();
  keeper.touch();
}

export interface EditOptions {
  /** Edits with the same key, one soon after the other, are one undo step. Use the record and field: `node:a/config/prompt`. */
  readonly merge?: string;
}

/** Changes the document as one named undo step. Answers false when there was nothing to change or it was refused. */
export function edit(
  name: string,
  change: Patch | ((document: GraphDocument) => Patch),
  options: EditOptions = {},
): boolean {
  const patch = typeof change === "function" ? change(doc) : change;
  if (patch.ops.length === 0) return false;
  if (useDocumentState.getState().text !== null) {
    showToast({ tone: "problem", text: t("fileText.noEdit", { name }), detail: t("fileText.noEditHelp") });
    return false;
  }
  if (useDocumentState.getState().seen !== null) {
    // Where its nodes stand is for the eye, until it is drawn again; there is no file to keep it.
    if (patch.ops.every(({ id }) => id.startsWith("layout:"))) doc.apply(patch);
    else showToast({ tone: "info", text: t("seen.noEdit", { name }), detail: t("seen.noEditHelp") });
    return false;
  }
  try {
    const done = doc.apply(patch);
    currentHistory().record(name, done, options.merge ?? null);
    sync.push(done);
    published();
    keeper.touch();
    emitEdit({ name, patch: done, how: "done", merged: options.merge !== undefined });
    return true;
  } catch (thrown) {
    if (!(thrown instanceof PatchError)) throw thrown;
    showToast({ tone: "problem", text: t("shell.edit.refused", { name }), detail: thrown.message });
    return false;
  }
}

/** Changes a document that is open and not the one that is shown, as a step that undo takes back there. */
export async function editElsewhere(graphId: string, rev: number, name: string, patch: Patch): Promise<void> {
  const applied = await rpc("graph.apply", { graphId, baseRev: rev, ops: [...patch.ops] });
  const steps = historyOf(graphId);
  steps.record(name, patch);
  tabChanged(graphId, { dirty: true, moved: [] });
  await keepSteps(graphId, applied.rev, steps);
}

/** A place to make one step from with `squashFrom`. */
export function mark(): Mark {
  return currentHistory().mark();
}

export function squashFrom(place: Mark, name: string): void {
  currentHistory().squash(place, name);
  published();
  keeper.touch();
}

/** Ends the merging of edits, when a field is left. */
export function sealHistory(): void {
  currentHistory().seal();
}
