/** Undo and redo of the open document. */
import { showToast } from "../state/toasts";
import { t } from "../lib/texts";
import { emitEdit } from "./edit-events";
import type { History } from "./history";
import { recordNames } from "./elsewhere";
import { PatchError } from "./patch";
import { doc } from "./store";
import { currentHistory, sync, keeper, published } from "./open-graph";

export function undo(): string | null {
  return replayed(currentHistory().undo(), "undone");
}

export function redo(): string | null {
  return replayed(currentHistory().redo(), "redone");
}

/** Steps of the open document, as they are now. */
export const editHistory = (): History["steps"] => currentHistory().steps;

/** Takes a number of steps back, or does them again when it is negative. */
export function travel(steps: number): void {
  for (let left = Math.abs(steps); left > 0; left -= 1) if ((steps > 0 ? undo() : redo()) === null) return;
}

/** Applies a step and answers its name; null when there is none, or what it changed is something else by now. */
function replayed(step: ReturnType<History["undo"]>, how: "undone" | "redone"): string | null {
  if (!step) return null;
  let fits = true;
  try {
    sync.push(doc.apply(step.patch));
  } catch (thrown) {
    // Changed in another window since. The other steps may still fit.
    fits = false;
    currentHistory().drop(how);
    const detail =
      thrown instanceof PatchError
        ? t("shell.undo.changed", { records: recordNames([thrown.record]) })
        : String(thrown);
    showToast({ tone: "problem", text: t(`shell.undo.${how}`, { name: step.name }), detail });
  }
  published();
  keeper.touch();
  if (!fits) return null;
  emitEdit({ ...step, how, merged: false });
  return step.name;
}
