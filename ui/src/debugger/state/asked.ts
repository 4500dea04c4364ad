/** What a menu or a command asks of all threads: the dialogs that answer are drawn by their features. */
import { create } from "zustand";

export interface ProbePlace {
  readonly node: string;
  /** Of an edge: where it leads. */
  readonly to?: string | undefined;
  readonly expression?: string | undefined;
}

interface Asked {
  readonly probe: ProbePlace | null;
  /** Checks the invariants of the graph, or the one that is named. */
  readonly check: { readonly only?: string | undefined } | null;
}

export const useAsked = create<Asked>()(() => ({ probe: null, check: null }));

export const askProbe = (probe: ProbePlace | null): void => useAsked.setState({ probe });
export const askCheck = (check: Asked["check"]): void => useAsked.setState({ check });
