/** Watched expressions of each graph: kept in this browser or window, in the order in which they were added. */
import { create } from "zustand";
import { renameKeyInText } from "../../document/key-edits";
import { changeThreadColumn, renameInThreadColumn } from "./thread-column";

const STORAGE = "superstep.watches.";
/** More are not evaluated at every moment. */
export const MOST_WATCHES = 30;

interface Watches {
  /** By graph. */
  readonly of: Readonly<Record<string, readonly string[]>>;
}

export const useWatches = create<Watches>()(() => ({ of: {} }));

const NONE: readonly string[] = [];

function read(graph: string): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(STORAGE + graph) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one === "string").slice(0, MOST_WATCHES) : NONE;
  } catch {
    return NONE;
  }
}

/** The watches of a graph; read from what is kept when it is asked for first. */
export function watchesOf(graph: string): readonly string[] {
  const known = useWatches.getState().of[graph];
  if (known) return known;
  const kept = read(graph);
  useWatches.setState(({ of }) => ({ of: { ...of, [graph]: kept } }));
  return kept;
}

function keep(graph: string, watches: readonly string[]): void {
  useWatches.setState(({ of }) => ({ of: { ...of, [graph]: watches } }));
  try {
    if (watches.length === 0) localStorage.removeItem(STORAGE + graph);
    else localStorage.setItem(STORAGE + graph, JSON.stringify(watches));
  } catch {
    // They are there until the window is closed.
  }
}

/** Adds an expression, unless it is watched or empty; false when there are too many. */
export function addWatch(graph: string, text: string): boolean {
  const watches = watchesOf(graph);
  const expression = text.trim();
  if (expression === "" || watches.includes(expression)) return true;
  if (watches.length >= MOST_WATCHES) return false;
  keep(graph, [...watches, expression]);
  return true;
}

/** Puts another expression in the place of one; an empty one takes it away. */
export function changeWatch(graph: string, from: string, to: string): void {
  const expression = to.trim();
  changeThreadColumn(graph, from, expression);
  const watches = watchesOf(graph);
  const others = watches.filter((one) => one !== from);
  if (expression === "" || others.includes(expression)) keep(graph, others);
  else
    keep(
      graph,
      watches.map((one) => (one === from ? expression : one)),
    );
}

/** Follows a new name of a state key. */
export function renameInWatches(graph: string, from: string, to: string): void {
  renameInThreadColumn(graph, from, to);
  const watches = watchesOf(graph);
  const renamed = watches.map((watch) => renameKeyInText(watch, from, to));
  if (renamed.some((watch, at) => watch !== watches[at])) keep(graph, [...new Set(renamed)]);
}
