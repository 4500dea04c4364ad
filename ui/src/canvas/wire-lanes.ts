/**
 * Lanes of the lines that lead back: each goes out to the right of its source, along a free height, and in from the left of
 * its target. No two of them lie on each other, and none runs behind a card or through the labels beside its port.
 */
import RBush from "rbush";
import type { Point } from "../document/edits";
import { LABEL_X, type Rect, TURN } from "./geometry";

/** A line that leads back. */
export interface Loop {
  readonly id: string;
  readonly from: Rect;
  readonly to: Rect;
  readonly start: Point;
  readonly end: Point;
  /** Width of its own label, and of the widest label beside it. */
  readonly label: number;
  readonly lead: number;
  /** It begins below the port, where a reader expects it to stay. */
  readonly low: boolean;
}

export interface Lane {
  /** Height of the line on its way back. */
  readonly lane: number;
  /** How far before its target, and behind its source, it turns; beyond the least distance. */
  readonly inset: number;
  readonly outset: number;
}

interface Box {
  minX: number;
  minY: number;
  maxX: number;
  maxY: number;
}

/** From a card to the first lane. */
const LANE_GAP = 24;
/** From one lane to the next. */
const LANE_STEP = 12;
const TURN_STEP = 8;
/** The same where there is little room between a port and a card: to other turns, to the port and to the card. */
const SQUEEZED = 5;
const LEAST_TURN = 10;
const LEAST_GAP = 5;
/** Past this many tries a lane may lie on another one. */
const TRIES = 60;
/** Of more lines than this the lanes cannot be distinguished, and few tries are made. */
const MANY = 300;
const FEW_TRIES = 1;

/** Lanes for lines; `cards` answers the cards that touch a rectangle. */
export function lanesOf(loops: readonly Loop[], cards: (area: Box) => readonly Box[]): Map<string, Lane> {
  const across = new RBush<Box>();
  const down = new RBush<Box>();
  const lanes = new Map<string, Lane>();
  const tries = loops.length > MANY ? FEW_TRIES : TRIES;
  const span = ({ from, to }: Loop) => Math.max(from.x + from.width, to.x) - Math.min(from.x, to.x);
  // Inner loops first, so that the others go round them; of one node the lowest port first, so that none cross.
  const inner = loops.toSorted(
    (a, b) => span(a) - span(b) || b.start.y - a.start.y || (a.id < b.id ? -1 : 1),
  );
  for (const loop of inner) {
    const left = Math.min(loop.from.x, loop.to.x) - LANE_GAP;
    const right =
      Math.max(loop.from.x + loop.from.width, loop.to.x + loop.to.width) + LABEL_X + loop.lead + LANE_GAP;
    const lane = laneOf(loop, left, right, cards, across, tries);
    across.insert({ minX: left, maxX: right, minY: lane, maxY: lane });
    const labelled = loop.lead > 0 ? LABEL_X : 0;
    const begin = loop.start.x + labelled + loop.label;
    const out = turnOf(loop.start.x + labelled + loop.lead + TURN, 1, loop.start.y, lane, cards, down, tries);
    const into = turnOf(loop.end.x - TURN, -1, loop.end.y, lane, cards, down, tries);
    lanes.set(loop.id, { lane, outset: out - TURN - begin, inset: loop.end.x - TURN - into });
  }
  return lanes;
}

/** A free height for a line between two sides. */
function laneOf(
  loop: Loop,
  left: number,
  right: number,
  cards: (area: Box) => readonly Box[],
  taken: RBush<Box>,
  most: number,
): number {
  const { from, to, start, end } = loop;
  const around = (y: number, room: number): Box => ({
    minX: left,
    maxX: right,
    minY: y - room,
    maxY: y + room,
  });
  const free = (y: number) => cards(around(y, 8)).length === 0 && !taken.collides(around(y, LANE_STEP - 1));
  // One lies wholly under the other: the way between them is the shortest.
  const [top, bottom] =
    from.y + from.height < to.y ? [from.y + from.height, to.y] : [to.y + to.height, from.y];
  // A label does not matter to a line that only goes on in the next row.
  if (bottom - top > 16 && (loop.label === 0 || from.y + from.height < to.y)) {
    const middle = (top + bottom) / 2;
    for (let off = 0; off < Math.min(most * LANE_STEP, (bottom - top) / 2 - 8); off += LANE_STEP)
      for (const y of [middle + off, middle - off]) if (free(y)) return y;
  }
  const search = (direction: 1 | -1): number => {
    let y =
      direction === 1
        ? Math.max(from.y + from.height, to.y + to.height) + LANE_GAP
        : Math.min(from.y, to.y) - LANE_GAP;
    for (let tries = 0; tries < most; tries += 1) {
      const hits = cards(around(y, 12));
      if (hits.length > 0)
        y =
          direction === 1
            ? Math.max(...hits.map((hit) => hit.maxY)) + LANE_GAP
            : Math.min(...hits.map((hit) => hit.minY)) - LANE_GAP;
      else if (taken.collides(around(y, LANE_STEP - 1))) y += direction * LANE_STEP;
      else break;
    }
    return y;
  };
  const below = search(1);
  const above = search(-1);
  const middle = (start.y + end.y) / 2;
  // Below is where a reader expects a loop; above only when that is much nearer.
  const patience = loop.low ? 3 : 1.6;
  return below - middle <= (middle - above) * patience ? below : above;
}

/** Where a line turns, between a port and its lane: past cards, and beside the turns of others. */
function turnOf(
  from: number,
  direction: 1 | -1,
  port: number,
  lane: number,
  cards: (area: Box) => readonly Box[],
  taken: RBush<Box>,
  most: number,
): number {
  const [minY, maxY] = port < lane ? [port, lane] : [lane, port];
  const between = (edge: number): number | null => {
    const free = (x: number) =>
      cards({ minX: x - 4, maxX: x + 4, minY, maxY }).length === 0 &&
      !taken.collides({ minX: x - SQUEEZED + 1, maxX: x + SQUEEZED - 1, minY, maxY });
    const base = from - direction * TURN;
    const room = (edge - base) * direction;
    const middle = base + (direction * room) / 2;
    const places = [];
    for (let off = LEAST_TURN; off <= room - LEAST_GAP; off += 2) places.push(base + direction * off);
    return places.toSorted((a, b) => Math.abs(a - middle) - Math.abs(b - middle)).find(free) ?? null;
  };
  let x = from;
  for (let tries = 0; tries < most; tries += 1) {
    const hits = cards({ minX: x - 6, maxX: x + 6, minY, maxY });
    // Round a card it would seem to lead there: it stays between that and its port as long as there is room.
    const edge =
      direction === 1 ? Math.min(...hits.map((hit) => hit.minX)) : Math.max(...hits.map((hit) => hit.maxX));
    const narrow = hits.length > 0 ? between(edge) : null;
    if (narrow !== null) {
      x = narrow;
      break;
    }
    if (hits.length > 0)
      x =
        direction === 1
          ? Math.max(...hits.map((hit) => hit.maxX)) + TURN
          : Math.min(...hits.map((hit) => hit.minX)) - TURN;
    else if (taken.collides({ minX: x - TURN_STEP + 1, maxX: x + TURN_STEP - 1, minY, maxY }))
      x += direction * TURN_STEP;
    else break;
  }
  taken.insert({ minX: x, maxX: x, minY, maxY });
  return x;
}
