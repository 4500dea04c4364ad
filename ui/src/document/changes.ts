/** What the canvas marks as changed: records that differ from another version of the graph, such as the last commit. */
import { create } from "zustand";
import type { Change } from "./diff";
import type { DocumentRecord } from "./document";

const useMarks = create<{ readonly marks: ReadonlyMap<string, Change> | null }>(() => ({ marks: null }));

/** Marks records by their ids; null marks nothing. */
export function markChanges(marks: ReadonlyMap<string, Change> | null): void {
  if (useMarks.getState().marks !== marks) useMarks.setState({ marks });
}

/** How a record is marked. */
export function useChange(record: string): Change | null {
  return useMarks(({ marks }) => marks?.get(record) ?? null);
}

/** The graph as the last commit has it; null when it is in none, or that is not known. */
export const useCommitted = create<{ readonly records: readonly DocumentRecord[] | null }>(() => ({
  records: null,
}));
