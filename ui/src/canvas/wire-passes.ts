/**
 * Heights at which a line to the right passes cards that stand in its way: it goes over or under them, where there is most
 * room nearby, and not behind them.
 */
import RBush from "rbush";
import type { Point } from "../document/edits";
import { curveAt } from "./geometry";

interface Box {
  minX: number;
  minY: number;
  maxX: number;
  maxY: number;
}

export interface Forward {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** Behind its label. */
  readonly start: Point;
  readonly end: Point;
}

/** Where a line is straight. */
export interface Pass {
  readonly y: number;
  readonly left: number;
  readonly right: number;
}

/** Places of a line that are looked at. */
const SAMPLES = 24;
/** Between a line and a card. */
const ROOM = 14;
/** Between two lines that pass at one height. */
const STEP = 10;
/** From a port to where a line is at its height. */
const RISE = 28;
/** Farther out of its way no line goes. */
const FAR = 600;

/** Passes for the lines that need one; `cards` answers the cards that touch a rectangle. */
export function passesOf<Card extends Box & { readonly name: string }>(
  lines: readonly Forward[],
  cards: (area: Box) => readonly Card[],
): Map<string, Pass> {
  const taken = new RBush<Box>();
  const passes = new Map<string, Pass>();
  for (const line of lines) {
    const { start, end } = line;
    if (end.x - start.x < 3 * RISE) continue;
    const others = (area: Box) => cards(area).filter(({ name }) => name !== line.from && name !== line.to);
    const met = new Set<Card>();
    for (let index = 1; index < SAMPLES; index += 1) {
      const { x, y } = curveAt(start, end, index / SAMPLES);
      for (const card of others({ minX: x - 2, maxX: x + 2, minY: y - 3, maxY: y + 3 })) met.add(card);
    }
    if (met.size === 0) continue;
    const left = Math.max(start.x + RISE, Math.min(...[...met].map(({ minX }) => minX)) - RISE);
    const right = Math.min(end.x - RISE, Math.max(...[...met].map(({ maxX }) => maxX)) + RISE);
    if (right <= left) continue;
    const y = freeHeight(left, right, start, end, others, taken);
    if (y === null) continue;
    passes.set(line.id, { y, left, right });
    taken.insert({ minX: left, maxX: right, minY: y, maxY: y });
  }
  return passes;
}

/** The free height that is least out of the way. */
function freeHeight(
  left: number,
  right: number,
  start: Point,
  end: Point,
  others: (area: Box) => readonly Box[],
  taken: RBush<Box>,
): number | null {
  const around = (y: number, room: number) => ({ minX: left, maxX: right, minY: y - room, maxY: y + room });
  const away = (y: number) => Math.abs(y - start.y) + Math.abs(y - end.y);
  const middle = (start.y + end.y) / 2;
  const near = others(around(middle, FAR));
  const heights = near.flatMap(({ minY, maxY }) => [minY - ROOM, maxY + ROOM]);
  for (const height of heights.sort((a, b) => away(a) - away(b)))
    for (let off = 0; off < 6; off += 1) {
      // Further lines lie further from the card.
      const y = height + off * STEP * (height < middle ? -1 : 1);
      if (others(around(y, ROOM - 4)).length === 0 && !taken.collides(around(y, STEP - 1))) return y;
    }
  return null;
}
