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
/** Lines that pass one side of a card at different heights. */
const BESIDE = 6;
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
  const away = (y: number) => Math.abs(y - start.y) + Math.abs(y - end.y);
  const middle = (start.y + end.y) / 2;
  const near = others({ minX: left, maxX: right, minY: middle - FAR, maxY: middle + FAR });
  const heights = near.flatMap(({ minY, maxY }) => [minY - ROOM, maxY + ROOM]);
  const reach = ROOM + STEP * BESIDE;
  const band = {
    minX: left,
    maxX: right,
    minY: Math.min(...heights) - reach,
    maxY: Math.max(...heights) + reach,
  };
  // Whatever is in the band is in the way over its whole width: what is free is a matter of heights alone.
  const isTaken = within([
    ...others(band).map(({ minY, maxY }): Range => [minY - ROOM + 4, maxY + ROOM - 4]),
    ...taken.search(band).map(({ minY, maxY }): Range => [minY - STEP + 1, maxY + STEP - 1]),
  ]);
  for (const height of heights.sort((a, b) => away(a) - away(b)))
    for (let off = 0; off < BESIDE; off += 1) {
      // Further lines lie further from the card.
      const y = height + off * STEP * (height < middle ? -1 : 1);
      if (!isTaken(y)) return y;
    }
  return null;
}

type Range = readonly [from: number, to: number];

/** Answers for a number whether it is in one of the ranges, their ends among them. */
function within(ranges: readonly Range[]): (value: number) => boolean {
  const merged: [number, number][] = [];
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = merged.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return (value) => {
    let [low, high] = [0, merged.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((merged[middle]?.[1] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    const range = merged[low];
    return range !== undefined && range[0] <= value;
  };
}
