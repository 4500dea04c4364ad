/** What the overview shows: open or not, its period and graph, the moment that it ends at, and the figure whose runs are listed. */
import { create } from "zustand";
import type { RunGroup } from "../../ipc/bindings/RunGroup";
import type { Period } from "./figures";

interface Overview {
  readonly open: boolean;
  readonly period: Period;
  /** The graph, by its key; null for all. */
  readonly graph: string | null;
  readonly now: number;
  readonly group: RunGroup;
}

export const useOverview = create<Overview>(() => ({
  open: false,
  period: "week",
  graph: null,
  now: 0,
  group: { type: "all" },
}));

export const showOverview = (): void => useOverview.setState({ open: true, now: Date.now() });

/** Counts again, up to now. */
export const refreshOverview = (): void => useOverview.setState({ now: Date.now() });
