/**
 * Arranging around nodes that stay. Where few do, the others stand as in an arrangement of all; where most do, they come to
 * stand to their neighbours as they would there. They give way where there is no room. Pure; sizes are those with the room of
 * labels.
 */
import RBush from "rbush";
import type { Point } from "../document/edits";
import { GRID, type Rect } from "./geometry";
import { type Box, boxOf } from "./line-boxes";

/** Between two cards, beside and over each other. */
const BESIDE = 40;
const OVER = 36;

/** Places of those in `ideal`, the arrangement of all, that do not stay; `stays` are the places of the others. */
export function around(
  ideal: ReadonlyMap<string, Rect>,
  stays: ReadonlyMap<string, Point>,
  lines: readonly { readonly from: string; readonly to: string }[],
): Map<string, Point> {
  const shifts = stays.size * 2 > ideal.size ? shiftsOf(ideal, stays, lines) : new Map<string, Point>();
  const taken = new RBush<Box>();
  for (const [name, { x, y }] of stays) {
    const rect = ideal.get(name);
    if (rect) taken.insert(boxOf({ ...rect, x, y }));
  }
  const free = [...ideal].filter(([name]) => !stays.has(name)).sort(([, a], [, b]) => a.x - b.x || a.y - b.y);
  const places = new Map<string, Point>();
  for (const [name, rect] of free) {
    const { x = 0, y = 0 } = shifts.get(name) ?? {};
    const wanted = { ...rect, x: snap(rect.x + x), y: snap(rect.y + y) };
    const at = { ...wanted, y: freeHeight(wanted, taken) };
    taken.insert(boxOf(at));
    places.set(name, { x: at.x, y: at.y });
  }
  return places;
}

const snap = (value: number) => Math.round(value / GRID) * GRID;

/** How far each node is moved from its place in the arrangement of all: as its neighbours are, from those that stay on. */
function shiftsOf(
  ideal: ReadonlyMap<string, Rect>,
  stays: ReadonlyMap<string, Point>,
  lines: readonly { readonly from: string; readonly to: string }[],
): Map<string, Point> {
  const shifts = new Map<string, Point>();
  for (const [name, { x, y }] of stays) {
    const rect = ideal.get(name);
    if (rect) shifts.set(name, { x: x - rect.x, y: y - rect.y });
  }
  const whole = mean([...shifts.values()]);
  const near = new Map<string, string[]>();
  for (const name of ideal.keys()) near.set(name, []);
  for (const { from, to } of lines) {
    near.get(from)?.push(to);
    near.get(to)?.push(from);
  }
  let edge = [...shifts.keys()];
  while (edge.length > 0) {
    const next = new Set(edge.flatMap((name) => near.get(name) ?? []).filter((name) => !shifts.has(name)));
    const found = [...next].map((name) => {
      const around = (near.get(name) ?? []).flatMap((other) => shifts.get(other) ?? []);
      return [name, mean(around)] as const;
    });
    for (const [name, shift] of found) shifts.set(name, shift);
    edge = [...next];
  }
  for (const name of ideal.keys()) if (!shifts.has(name)) shifts.set(name, whole);
  return shifts;
}

function mean(points: readonly Point[]): Point {
  const count = Math.max(1, points.length);
  return {
    x: points.reduce((sum, { x }) => sum + x, 0) / count,
    y: points.reduce((sum, { y }) => sum + y, 0) / count,
  };
}

/** The height nearest to its own at which a card has room. */
function freeHeight(rect: Rect, taken: RBush<Box>): number {
  const hits = (y: number) => {
    const box = boxOf({ ...rect, y });
    return taken.search({
      minX: box.minX - BESIDE + 1,
      maxX: box.maxX + BESIDE - 1,
      minY: box.minY - OVER + 1,
      maxY: box.maxY + OVER - 1,
    });
  };
  // Every step passes a card, so that this ends.
  const search = (step: (found: readonly Box[]) => number): number => {
    let y = rect.y;
    for (let found = hits(y); found.length > 0; found = hits(y)) y = step(found);
    return y;
  };
  const below = search(
    (found) => Math.ceil((Math.max(...found.map(({ maxY }) => maxY)) + OVER) / GRID) * GRID,
  );
  const above = search(
    (found) => Math.floor((Math.min(...found.map(({ minY }) => minY)) - OVER - rect.height) / GRID) * GRID,
  );
  return below - rect.y <= rect.y - above ? below : above;
}
