/**
 * The graphs that are open in this window, in the order of their tabs. The document of the one that is shown is in
 * `document/store`; of the others the workbench has the document, and this what the window looked at in them.
 */
import { create } from "zustand";
import type { ComparedMoment, Cursor, Selection } from "./session";

export interface GraphTab {
  readonly graphId: string;
  readonly path: string | null;
  readonly name: string;
  /** Is something of it not in its file? Of the graph that is shown the document knows better. */
  readonly dirty: boolean;
  /** The records of places that alone are not in its file; none where other things are not. */
  readonly moved?: readonly string[];
  /** What was looked at when it was left. */
  readonly left: TabLeft | null;
}

export interface TabLeft {
  readonly selection: Selection;
  readonly cursor: Cursor;
  readonly compareWith: ComparedMoment | null;
}

export const useTabs = create<{ readonly tabs: readonly GraphTab[] }>(() => ({ tabs: [] }));

const set = (tabs: readonly GraphTab[]) => useTabs.setState({ tabs });

export const tabOf = (graphId: string | null): GraphTab | undefined =>
  useTabs.getState().tabs.find((tab) => tab.graphId === graphId);

/** A graph is shown. A new tab stands behind the one it was opened from. Answers what was looked at in it. */
export function tabOpened(
  opened: Pick<GraphTab, "graphId" | "path" | "name">,
  from: string | null,
): TabLeft | null {
  const { tabs } = useTabs.getState();
  const known = tabs.find(({ graphId }) => graphId === opened.graphId);
  if (known) {
    tabChanged(opened.graphId, opened);
    return known.left;
  }
  const at = tabs.findIndex(({ graphId }) => graphId === from);
  set(tabs.toSpliced(at < 0 ? tabs.length : at + 1, 0, { ...opened, dirty: false, left: null }));
  return null;
}

export function tabChanged(graphId: string, change: Partial<GraphTab>): void {
  const { tabs } = useTabs.getState();
  const tab = tabs.find((each) => each.graphId === graphId);
  if (!tab) return;
  const entries = Object.entries(change) as [keyof GraphTab, unknown][];
  if (entries.every(([field, value]) => tab[field] === value)) return;
  set(tabs.map((each) => (each === tab ? { ...each, ...change } : each)));
}

/** The same graph has another id: the workbench was started again. */
export function tabReplaced(before: string, after: string): void {
  if (before === after) return;
  const { tabs } = useTabs.getState();
  set(
    tabs
      .filter(({ graphId }) => graphId !== after)
      .map((tab) => (tab.graphId === before ? { ...tab, graphId: after } : tab)),
  );
}

export function tabClosed(graphId: string): void {
  const { tabs } = useTabs.getState();
  if (tabs.some((tab) => tab.graphId === graphId)) set(tabs.filter((tab) => tab.graphId !== graphId));
}

/** Puts a tab to another place. */
export function moveTab(graphId: string, to: number): void {
  const { tabs } = useTabs.getState();
  const from = tabs.findIndex((tab) => tab.graphId === graphId);
  const tab = tabs[from];
  if (!tab || to === from || to < 0 || to >= tabs.length) return;
  set(tabs.toSpliced(from, 1).toSpliced(to, 0, tab));
}

/** The tab beside another one, round the end; the one that takes its place when it is closed is behind it. */
export function tabBeside(graphId: string | null, by: 1 | -1, round = true): GraphTab | undefined {
  const { tabs } = useTabs.getState();
  const at = tabs.findIndex((tab) => tab.graphId === graphId);
  if (at < 0) return tabs[by > 0 ? 0 : tabs.length - 1];
  const next = at + by;
  return round ? tabs[(next + tabs.length) % tabs.length] : tabs[next];
}

// What a reloaded window finds again

const STORE = "superstep.tabs";

export interface KeptTabs {
  readonly tabs: readonly Pick<GraphTab, "graphId" | "path" | "name" | "dirty">[];
  readonly shown: string | null;
}

export function keepTabs(shown: string | null): void {
  const tabs = useTabs
    .getState()
    .tabs.map(({ graphId, path, name, dirty }) => ({ graphId, path, name, dirty }));
  const text = JSON.stringify({ tabs, shown } satisfies KeptTabs);
  for (const storage of [() => sessionStorage, () => localStorage]) {
    try {
      storage().setItem(STORE, text);
    } catch {
      // Without storage a reloaded window shows the graph that was opened last.
    }
  }
}

const isKept = (value: unknown): value is KeptTabs =>
  typeof value === "object" &&
  value !== null &&
  "tabs" in value &&
  Array.isArray(value.tabs) &&
  value.tabs.every(
    (tab: unknown) =>
      typeof tab === "object" && tab !== null && "graphId" in tab && typeof tab.graphId === "string",
  );

/** The tabs of this window before it was reloaded; of a new window, those of the last one. */
export function keptTabs(): KeptTabs | null {
  for (const storage of [() => sessionStorage, () => localStorage]) {
    try {
      const value: unknown = JSON.parse(storage().getItem(STORE) ?? "null");
      if (isKept(value)) return value;
    } catch {
      // Another version, or no storage.
    }
  }
  return null;
}
