/**
 * Places that comparisons of a graph leave out, such as times and ids: kept in this browser or window by graph, as watches
 * are. A place is a pointer whose parts may be `*`, and stands for all that is below it.
 */
import { useEffect } from "react";
import { create } from "zustand";

const STORAGE = "superstep.compare-ignored.";
/** More would hide what differs rather than what does not matter. */
const MOST = 100;

const useIgnored = create<{ readonly of: Readonly<Record<string, readonly string[]>> }>()(() => ({ of: {} }));

const NONE: readonly string[] = [];

function read(graph: string): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(STORAGE + graph) ?? "[]");
    return Array.isArray(kept)
      ? kept.filter((one) => typeof one === "string" && one.startsWith("/")).slice(0, MOST)
      : NONE;
  } catch {
    return NONE;
  }
}

export function ignoredOf(graph: string): readonly string[] {
  const known = useIgnored.getState().of[graph];
  if (known) return known;
  const kept = read(graph);
  useIgnored.setState(({ of }) => ({ of: { ...of, [graph]: kept } }));
  return kept;
}

export function useIgnoredOf(graph: string): readonly string[] {
  useEffect(() => void ignoredOf(graph), [graph]);
  return useIgnored((store) => store.of[graph]) ?? NONE;
}

export function setIgnored(graph: string, places: readonly string[]): void {
  const kept = [...new Set(places)].slice(0, MOST);
  useIgnored.setState(({ of }) => ({ of: { ...of, [graph]: kept } }));
  try {
    if (kept.length === 0) localStorage.removeItem(STORAGE + graph);
    else localStorage.setItem(STORAGE + graph, JSON.stringify(kept));
  } catch {
    // They hold until the window is closed.
  }
}

/** Forgets what the window knows, as a reload does. */
export const forgetIgnored = (): void => useIgnored.setState({ of: {} }, true);

/** The place of a difference as a rule: in every item of a list. */
export const ruleOf = (pointer: string): string => pointer.replace(/\/\d+(?=\/|$)/g, "/*");

/** Is a pointer at the place of a rule, or below it? */
export function isIgnored(pointer: string, rules: readonly string[]): boolean {
  const parts = pointer.split("/");
  return rules.some((rule) => {
    const wanted = rule.split("/");
    return wanted.length <= parts.length && wanted.every((part, at) => part === "*" || part === parts[at]);
  });
}
