/**
 * The room that expanded cards take: what lies right of one or below it gives way on the canvas, and stays where it is in
 * the file. Each axis is stretched by itself, so that rows and columns stay rows and columns and nothing that lay apart
 * comes to overlap. Pure.
 */
import type { Point } from "../document/edits";
import type { Rect } from "./geometry";

/** How large a card is drawn. */
export interface CardSize {
  readonly width: number;
  readonly height: number;
}

/** From `at` on everything gives way by `by`. */
interface Gap {
  readonly at: number;
  readonly by: number;
}

/** A part of an axis that needs `length`. */
interface Need {
  readonly from: number;
  readonly to: number;
  readonly length: number;
}

/** The least gaps that give every part the length that it needs; parts beside each other share theirs. */
export function gapsFor(needs: readonly Need[]): Gap[] {
  const gaps: Gap[] = [];
  for (const { from, to, length } of needs.toSorted((a, b) => a.to - b.to)) {
    const given = gaps.reduce((sum, gap) => sum + (gap.at > from && gap.at <= to ? gap.by : 0), 0);
    const by = length - (to - from) - given;
    if (by > 0) gaps.push({ at: to, by });
  }
  return gaps;
}

function spread(gaps: readonly Gap[], at: number): number {
  return gaps.reduce((sum, gap) => (at >= gap.at ? sum + gap.by : sum), at);
}

/** The reverse; what is in a gap stands where it begins. */
function gathered(gaps: readonly Gap[], drawn: number): number {
  let before = 0;
  for (const { at, by } of gaps) {
    if (drawn < at + before) break;
    if (drawn < at + before + by) return at;
    before += by;
  }
  return drawn - before;
}

export class Spread {
  readonly #across: readonly Gap[];
  readonly #down: readonly Gap[];

  /** By expanded card, where it is in the file and how large it is drawn. */
  constructor(grown: Iterable<readonly [Rect, CardSize]>) {
    const all = [...grown];
    this.#across = gapsFor(
      all.map(([{ x, width }, size]) => ({ from: x, to: x + width, length: size.width })),
    );
    this.#down = gapsFor(
      all.map(([{ y, height }, size]) => ({ from: y, to: y + height, length: size.height })),
    );
  }

  /** Where a place of the file is drawn. */
  drawn({ x, y }: Point): Point {
    return { x: spread(this.#across, x), y: spread(this.#down, y) };
  }

  /** The place of the file that is drawn here. */
  filed({ x, y }: Point): Point {
    return { x: gathered(this.#across, x), y: gathered(this.#down, y) };
  }

  /** Both corners of a frame, which grows with what is in it. */
  frame({ x, y, width, height }: Rect): Rect {
    const [from, to] = [this.drawn({ x, y }), this.drawn({ x: x + width, y: y + height })];
    return { ...from, width: to.x - from.x, height: to.y - from.y };
  }
}
