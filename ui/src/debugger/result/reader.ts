/** Which value is open in the reader. */
import { create } from "zustand";
import type { KeyView } from "../../ipc/bindings/KeyView";
import type { Loaded } from "../model/snapshots";

interface ReaderStore {
  readonly open: { readonly loaded: Loaded; readonly view: KeyView } | null;
  show(loaded: Loaded, view: KeyView): void;
  close(): void;
}

export const useReader = create<ReaderStore>((set) => ({
  open: null,
  show: (loaded, view) => set({ open: { loaded, view } }),
  close: () => set({ open: null }),
}));
