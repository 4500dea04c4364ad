/** Node kinds that a person has marked, in this browser: they stand first in the palette and in searches. */
import { create } from "zustand";

const STORE = "superstep.favourites";

function read(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(STORE) ?? "[]");
    return Array.isArray(kept) ? kept.filter((kind): kind is string => typeof kind === "string") : [];
  } catch {
    return [];
  }
}

export const useFavourites = create<{ readonly kinds: readonly string[] }>(() => ({ kinds: read() }));

export function toggleFavourite(kind: string): void {
  const { kinds } = useFavourites.getState();
  const next = kinds.includes(kind) ? kinds.filter((each) => each !== kind) : [...kinds, kind];
  useFavourites.setState({ kinds: next });
  try {
    localStorage.setItem(STORE, JSON.stringify(next));
  } catch {
    // Without storage they last as long as the window.
  }
}
