/** The renaming that is asked about before it is done, because programs name what is renamed. The dialog is a feature. */
import { create } from "zustand";
import type { Named } from "./rename";

export const useRename = create<{ readonly named: Named | null; readonly to: string | null }>(() => ({
  named: null,
  to: null,
}));

/** Asks for the new name; `to` is one that was typed already. */
export function askRename(named: Named, to: string | null = null): void {
  useRename.setState({ named, to });
}
