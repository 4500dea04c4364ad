/**
 * How good an arrangement is to look at: crossings of its wires and their length, as straight lines between the ports. The
 * workbench measures its own the same way (`crates/workbench/src/arranging/figures.rs`).
 */
import type { Point } from "../document/edits";
import { crosses, isBack, type Rect } from "./geometry";

export interface Wire {
  readonly from: Point;
  readonly to: Point;
}

/**
 * Figures of an arrangement. A wire behind a card that is not at its end is a crossing, too. Wires that share an end do not
 * cross there; those that lead back have lanes of their own.
 */
export function figuresOf(
  wires: readonly Wire[],
  cards: readonly Rect[],
): { crossings: number; length: number } {
  let crossings = 0;
  const same = (a: Point, b: Point) => a.x === b.x && a.y === b.y;
  const forward = wires.filter(({ from, to }) => !isBack(from, to));
  forward.forEach((one, index) => {
    for (const other of forward.slice(index + 1)) {
      const joined = same(one.from, other.from) || same(one.to, other.to) || same(one.to, other.from);
      if (!joined && crosses(one.from, one.to, other.from, other.to)) crossings += 1;
    }
    for (const card of cards) if (isBehind(one, card)) crossings += 1;
  });
  const length = wires.reduce(
    (sum, { from, to }) => sum + Math.abs(to.x - from.x) + Math.abs(to.y - from.y),
    0,
  );
  return { crossings, length: Math.round(length) };
}

/** Does a wire to the right pass between the left and the right side of a card at the card's height? */
function isBehind({ from, to }: Wire, { x, y, width, height }: Rect): boolean {
  if (x < from.x || x + width > to.x) return false;
  const at = (place: number) => from.y + ((to.y - from.y) * (place - from.x)) / (to.x - from.x);
  const [left, right] = [at(x), at(x + width)];
  return Math.max(left, right) > y && Math.min(left, right) < y + height;
}
