/** What was typed as the state of a node's test, until the window is closed; and which keys a node speaks of. */
import { create } from "zustand";

interface TestStates {
  /** By graph and node. */
  readonly states: Readonly<Record<string, Record<string, unknown>>>;
  keep(place: string, state: Record<string, unknown>): void;
}

export const useTestStates = create<TestStates>((set) => ({
  states: {},
  keep: (place, state) => set((kept) => ({ states: { ...kept.states, [place]: state } })),
}));

/** The keys whose names stand in a node's settings, as a field or in an expression, template or program. */
export function mentioned(config: unknown, names: readonly string[]): string[] {
  const text = JSON.stringify(config) ?? "";
  const words = new Set(text.match(/[\p{L}\p{N}_]+/gu));
  return names.filter((name) => words.has(name));
}
