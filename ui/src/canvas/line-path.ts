/** The shape of a line between two ports, with the place of its label. Pure: the canvas and the knife both use it. */
import type { Point } from "../document/edits";
import { curve, detour, isBack, JOIN_X, LABEL_X } from "./geometry";
import type { Line } from "./lines";

export interface LineShape {
  /** The whole line. */
  readonly path: string;
  /** Left end and middle height of the label. */
  readonly label: Point;
  /** The middle of the line, behind its label. */
  readonly middle: Point;
  /** Where the lines of a join meet, or null. */
  readonly join: Point | null;
}

export function shapeOf(line: Line, from: Point, to: Point, moving: boolean): LineShape {
  const label = { x: from.x + LABEL_X, y: from.y + line.fan };
  const join = line.join === null ? null : { x: to.x - JOIN_X, y: to.y + line.join };
  const end = join ?? to;
  // The label of a line from a named port stands on the card.
  const labelled = line.label !== null && line.port === null;
  let start = from;
  let lead = "";
  if (labelled || line.lead > 0) {
    start = { x: label.x + (labelled ? line.labelWidth : 0), y: label.y };
    lead = bend(from, label);
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
  return {
    path: lead === "" ? main + tail : `${lead} ${main.replace(/^M[^CL]*/, "")}${tail}`,
    label,
    middle,
    join,
  };
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
