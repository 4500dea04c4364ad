/** What the storage dialogs are asked to show; asked from menus, the palette and panels that do not know the dialogs. */
import { create } from "zustand";

export type StorageTab = "size" | "clean" | "check" | "database";

export interface StorageAsked {
  /** The dialog and its tab. */
  readonly tab: StorageTab | null;
  /** The thread whose keys are shown. */
  readonly lens: string | null;
  /** A thread whose past is to be removed. */
  readonly prune: { readonly threadId: string; readonly title: string } | null;
  /** A checkpoint that is to get a name. */
  readonly bookmark: {
    readonly threadId: string;
    readonly checkpointId: string;
    readonly name: string;
    readonly note: string;
  } | null;
}

export const useStorageAsked = create<StorageAsked>(() => ({
  tab: null,
  lens: null,
  prune: null,
  bookmark: null,
}));

export function showStorage(tab: StorageTab, lens: string | null = null): void {
  useStorageAsked.setState({ tab, lens });
}

export const askPrune = (prune: StorageAsked["prune"]): void => useStorageAsked.setState({ prune });

export const askBookmark = (bookmark: StorageAsked["bookmark"]): void =>
  useStorageAsked.setState({ bookmark });
