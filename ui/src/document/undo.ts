/** Undo and redo of the open document. */
import { showToast } from "../state/toasts";
import { t } from "../lib/texts";
import { emitEdit } from "./edit-events";
import type { History } from "./history";
import type { Patch } from "./patch";
import { doc } from "./store";
import { currentHistory, sync, keeper, published } from "./open-graph";

export function undo(): string | null {
  const step = currentHistory().undo();
  if (!step) return null;
  replay(step.patch);
  emitEdit({ ...step, how: "undone", merged: false });
  return step.name;
}

export function redo(): string | null {
  const step = currentHistory().redo();
  if (!step) return null;
  replay(step.patch);
  emitEdit({ ...step, how: "redone", merged: false });
  return step.name;
}

/** Steps of the open document, as they are now. */
export const editHistory = (): History["steps"] => currentHistory().steps;

/** Takes a number of steps back, or does them again when it is negative. */
export function travel(steps: number): void {
  for (let left = Math.abs(steps); left > 0; left -= 1) if ((steps > 0 ? undo() : redo()) === null) return;
}

function replay(patch: Patch): void {
  try {
    sync.push(doc.apply(patch));
  } catch (thrown) {
    // The steps and the document no longer fit together; keeping them could only do harm.
    currentHistory().clear();
    showToast({ tone: "problem", text: t("shell.undo.broken"), detail: String(thrown) });
  }
  published();
  keeper.touch();
}
