/** What a menu or a command asks of all threads: the dialogs that answer are drawn by their features. */
import { create } from "zustand";

export interface ProbePlace {
  readonly node: string;
  /** Of an edge: where it leads. */
  readonly to?: string | undefined;
  readonly expression?: string | undefined;
}

/** A thread that becomes a test or a row, up to its newest checkpoint or to this one. */
export interface TestedThread {
  readonly threadId: string;
  readonly title: string;
  readonly checkpointId?: string | undefined;
}

interface Asked {
  readonly probe: ProbePlace | null;
  /** Checks the invariants of the graph, or the one that is named. */
  readonly check: { readonly only?: string | undefined } | null;
  /** Makes a test of a thread. */
  readonly makeTest: TestedThread | null;
  /** Shows the tests of the graph. */
  readonly tests: boolean;
  /** Shows its evaluations. */
  readonly evaluations: boolean;
  /** Adds what happened on a thread to one of them. */
  readonly addRow: TestedThread | null;
}

export const useAsked = create<Asked>()(() => ({
  probe: null,
  check: null,
  makeTest: null,
  tests: false,
  evaluations: false,
  addRow: null,
}));

export const askProbe = (probe: ProbePlace | null): void => useAsked.setState({ probe });
export const askMakeTest = (makeTest: TestedThread | null): void => useAsked.setState({ makeTest });
export const askTests = (tests: boolean): void => useAsked.setState({ tests });
export const askEvaluations = (evaluations: boolean): void => useAsked.setState({ evaluations });
export const askAddRow = (addRow: TestedThread | null): void => useAsked.setState({ addRow });
export const askCheck = (check: Asked["check"]): void => useAsked.setState({ check });
