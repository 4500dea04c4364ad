/**
 * Nodes that a person has put where they are. Arranging keeps them there, until all are arranged. A node counts while it
 * stands exactly where it was put: undoing the move undoes that, too.
 */
import type { GraphDocument } from "../document/document";
import type { Point } from "../document/edits";
import { END, positionOf, START } from "../document/types";
import { graphStore } from "./graph-store";

const isPlace = (value: unknown): boolean => Array.isArray(value) && value.length === 2;

const placed = graphStore<readonly [number, number]>("superstep.placed", isPlace);

/** More nodes than this are moved as a whole, and not each to its place. */
const MOST = 500;

/** Notes nodes that a person has just moved, by where they stand now. */
export function notePlaced(doc: GraphDocument, names: Iterable<string>): void {
  const moved = [...names];
  if (moved.length > MOST) return;
  const at = (name: string) => {
    const place = positionOf(doc.get(`layout:${name}`));
    return place === null ? [] : [[name, [place.x, place.y]] as const];
  };
  const there = Object.entries(placed.now()).filter(([name]) => doc.has(`layout:${name}`));
  placed.set(Object.fromEntries([...there, ...moved.flatMap(at)]));
}

/** A node has another name. */
export function renamePlaced(from: string, to: string): void {
  const { [from]: place, ...others } = placed.now();
  if (place) placed.set({ ...others, [to]: place });
}

/**
 * Nodes that stay where they are when the graph is arranged, with their places: those that a person has moved. Where some
 * have no place yet, all that have one, so that only the new ones are arranged.
 */
export function placesToKeep(doc: GraphDocument): Map<string, Point> {
  const names = [...doc.names("node"), START, END];
  const places = new Map(
    names.flatMap((name) => {
      const place = positionOf(doc.get(`layout:${name}`));
      return place === null ? [] : [[name, place] as const];
    }),
  );
  const someNew = places.size > 0 && doc.names("node").some((name) => !places.has(name));
  if (someNew) return places;
  const byHand = placed.now();
  return new Map(
    [...places].filter(([name, { x, y }]) => byHand[name]?.[0] === x && byHand[name]?.[1] === y),
  );
}
