/** The shape of a line between two ports, with the place of its label. Pure: the canvas and the knife both use it. */
import type { Point } from "../document/edits";
import { curve, curveAt, detour, isBack, JOIN_X, LABEL_HEIGHT, LABEL_X, TURN } from "./geometry";
import { leadOf, type Line } from "./lines";
import type { Place } from "./wire-labels";

export interface LineShape {
  /** The whole line. */
  readonly path: string;
  /** Left end and middle height of the label. */
  readonly label: Point;
  readonly labelWidth: number;
  /** The middle of the line, behind its label. */
  readonly middle: Point;
  /** From a label that stands over or under its line to the line; null where it is on it or next to it. */
  readonly tether: readonly [Point, Point] | null;
  /** Where the lines of a join meet, or null. */
  readonly join: Point | null;
}

export function shapeOf(line: Line, from: Point, to: Point, moving: boolean): LineShape {
  const { lead: room, fan } = leadOf(line);
  const labelAt = { x: from.x + LABEL_X, y: from.y + fan };
  const join = line.join === null ? null : { x: to.x - JOIN_X, y: to.y + line.join };
  const end = join ?? to;
  const labelled = isLabelled(line);
  const start = behindLabel(line, from);
  let lead = "";
  if (labelled || room > 0) {
    lead = bend(from, labelAt);
    if (labelled) lead += ` L${start.x},${start.y}`;
  }
  const back = isBack(from, to);
  const lane = !back ? null : moving || line.lane === null ? Math.max(from.y, to.y) + 96 : line.lane;
  const { pass } = line;
  const main =
    lane !== null
      ? detour(start, end, lane, line.inset, line.outset)
      : pass === null || moving
        ? curve(start, end)
        : `${rise(start, { x: pass.left, y: pass.y })} L${pass.right},${pass.y} ${rise({ x: pass.right, y: pass.y }, end).replace(/^M[^C]*/, "")}`;
  const tail = join ? ` ${bend(join, to).replace(/^M/, "L")}` : "";
  const middle = { x: (start.x + end.x) / 2, y: lane ?? pass?.y ?? (start.y + end.y) / 2 };
  const labelWidth = line.beside?.width ?? line.labelWidth;
  const label = line.beside === null ? labelAt : besideAt(line, from, middle, moving);
  return {
    path: lead === "" ? main + tail : `${lead} ${main.replace(/^M[^CL]*/, "")}${tail}`,
    label,
    labelWidth,
    middle: line.beside === null ? middle : clearOf(middle, label, labelWidth),
    tether: moving ? null : tetherOf(line, label, middle),
    join,
  };
}

/** Does its label stand behind its port? That of a line from a named port stands on the card. */
const isLabelled = (line: Line) => line.label !== null && line.port === null && line.beside === null;

/** Where the curve of a line begins: behind its label, when that stands behind its port. */
function behindLabel(line: Line, from: Point): Point {
  const { lead, fan } = leadOf(line);
  const labelled = isLabelled(line);
  if (!labelled && lead === 0) return from;
  return { x: from.x + LABEL_X + (labelled ? line.labelWidth : 0), y: from.y + fan };
}

/** The way of a line in few straight parts, for the drawing in which its curves are not seen: by its lane, or past cards. */
export function cornersOf(line: Line, from: Point, to: Point): readonly Point[] {
  const { pass, lane } = line;
  if (isBack(from, to) && lane !== null) {
    const { label, lead } = leadOf(line);
    const right = from.x + (lead > 0 ? LABEL_X + label : 0) + TURN + line.outset;
    const left = to.x - TURN - line.inset;
    const at = (x: number, y: number) => ({ x, y });
    return [from, at(right, from.y), at(right, lane), at(left, lane), at(left, to.y), to];
  }
  if (pass === null) return [from, to];
  return [from, { x: pass.left, y: pass.y }, { x: pass.right, y: pass.y }, to];
}

/** A label beside its line goes with the middle of the line while an end of it is dragged. */
function besideAt({ beside }: Line, from: Point, middle: Point, moving: boolean): Point {
  if (moving || beside === null) return { x: middle.x - (beside?.width ?? 0) / 2, y: middle.y };
  return { x: from.x + beside.x, y: from.y + beside.y };
}

/** A label that is farther from its line than this could be that of another one. */
const LOOSE = LABEL_HEIGHT;

function tetherOf({ beside }: Line, label: Point, middle: Point): readonly [Point, Point] | null {
  if (beside?.apart !== true) return null;
  const edge = label.y + Math.sign(middle.y - label.y) * (LABEL_HEIGHT / 2);
  return Math.abs(middle.y - edge) <= LOOSE ? null : [{ x: middle.x, y: edge }, middle];
}

/** From a label to what is in the middle of its line. */
const MIDDLE_GAP = 14;

/** The middle of a line, or the place behind its label when that lies there. */
function clearOf(middle: Point, label: Point, width: number): Point {
  const high = Math.abs(middle.y - label.y) < LABEL_HEIGHT;
  const wide = middle.x > label.x - MIDDLE_GAP && middle.x < label.x + width + MIDDLE_GAP;
  return high && wide ? { x: label.x + width + MIDDLE_GAP, y: middle.y } : middle;
}

/** A way into another height, level at both ends. */
function rise(from: Point, to: Point): string {
  const half = (to.x - from.x) / 2;
  return `M${from.x},${from.y} C${from.x + half},${from.y} ${to.x - half},${to.y} ${to.x},${to.y}`;
}

/** A short turn into another height. */
function bend(from: Point, to: Point): string {
  return from.y === to.y ? `M${from.x},${from.y} L${to.x},${to.y}` : rise(from, to);
}

/** Height of a count, and its width with two digits. */
export const COUNT = { width: 26, height: 14 };
/** From a count to its line, and from where it begins to the target, whose arrow is seen. */
const COUNT_GAP = 4;
const COUNT_X = 40;
/** Heights of passes, and turns of lines that lead back, are this close to each other: their counts lie one behind the other. */
const CLOSE = 10;
const INSET = 8;
const PLACES = 4;

/**
 * Places the count of a line along its way, where it is apart from the other lines of both nodes, and on the side that it
 * comes from. Near a port all lines of a side meet, and so would their counts. Answers the upper left corner.
 */
export function countAt(line: Line, from: Point, to: Point): Point {
  const { lane, pass } = line;
  if (isBack(from, to) && lane !== null) {
    const place = Math.round(line.inset / INSET) % PLACES;
    const x = to.x - TURN - line.inset + COUNT_GAP * 3 + place * (COUNT.width + INSET);
    return { x, y: lane - COUNT.height / 2 };
  }
  const side = (y: number, below: boolean, gap: number) => (below ? y + gap : y - gap - COUNT.height);
  if (pass !== null) {
    const place = Math.round(Math.abs(pass.y - to.y) / CLOSE) % PLACES;
    const x = Math.max(pass.left, pass.right - (place + 1) * COUNT.width);
    return { x, y: side(pass.y, pass.y > to.y, 1) };
  }
  const start = behindLabel(line, from);
  const below = start.y > to.y + 1;
  // Lines of named ports may lead to one node: they are apart where they begin.
  const at = curveAt(start, to, line.port === null ? 2 / 3 : 1 / 3);
  const count = { x: Math.min(at.x + COUNT_GAP, to.x - COUNT_X), y: side(at.y, below, COUNT_GAP) };
  return line.beside === null ? count : clearOfLabel(count, line.beside, from, below);
}

/** Over or under the label where a count would lie on it. */
function clearOfLabel(count: Point, beside: Place, from: Point, below: boolean): Point {
  const { x, y } = { x: from.x + beside.x, y: from.y + beside.y };
  const wide = count.x < x + beside.width && count.x + COUNT.width > x;
  const high = Math.abs(count.y + COUNT.height / 2 - y) < (LABEL_HEIGHT + COUNT.height) / 2;
  if (!wide || !high) return count;
  return { x: count.x, y: below ? y + LABEL_HEIGHT / 2 + 1 : y - LABEL_HEIGHT / 2 - COUNT.height - 1 };
}
