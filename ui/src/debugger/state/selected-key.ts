/** The state key that a person looks at: the selected row of the state, or the key whose history is open. */
import { create } from "zustand";

export const useStateKey = create<{ readonly key: string | null }>(() => ({ key: null }));

/** The key of a place in the state. */
export const keyOf = (pointer: string | null): string | null =>
  pointer?.startsWith("/") === true
    ? (pointer.split("/")[1] ?? "").replaceAll("~1", "/").replaceAll("~0", "~")
    : null;
