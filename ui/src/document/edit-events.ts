/** Edits of the open document as they happen, for who says them: what was done, taken back or done again. */
import type { Patch } from "./patch";

export interface Edited {
  /** The name of the step. */
  readonly name: string;
  readonly patch: Patch;
  readonly how: "done" | "undone" | "redone";
  /** It goes on with the step before: letters of a field, a node that is pushed by a key. */
  readonly merged: boolean;
}

const listeners = new Set<(edited: Edited) => void>();

export function watchEdits(listener: (edited: Edited) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function emitEdit(edited: Edited): void {
  for (const listener of listeners) listener(edited);
}
