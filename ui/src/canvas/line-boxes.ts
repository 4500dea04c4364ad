/** What cards and lines take up, for the index of what is in view; and lines as their ways are looked for. */
import { JOIN_X, LABEL_X, portOf, type Rect } from "./geometry";
import { leadOf, type Line, startOf } from "./lines";
import type { Loop } from "./wire-lanes";
import type { Forward } from "./wire-passes";

export interface Box {
  minX: number;
  minY: number;
  maxX: number;
  maxY: number;
}

export interface LineItem extends Box {
  readonly line: Line;
}

export function boxOf(rect: Rect): Box {
  return { minX: rect.x, minY: rect.y, maxX: rect.x + rect.width, maxY: rect.y + rect.height };
}

/** A line with the room that it takes. */
export function boxed(line: Line, from: Rect, to: Rect): LineItem {
  const start = startOf(line, from);
  const end = portOf(to, "in");
  const ys = [
    start.y,
    start.y + line.fan,
    end.y,
    end.y + (line.join ?? 0),
    ...(line.lane === null ? [] : [line.lane]),
    ...(line.pass === null ? [] : [line.pass.y]),
  ];
  const reach = LABEL_X + line.lead + line.outset + 60;
  const beside = line.beside && { x: start.x + line.beside.x, y: start.y + line.beside.y };
  if (beside) ys.push(beside.y);
  return {
    line,
    minX: Math.min(start.x, end.x - line.inset - 40, ...(beside ? [beside.x] : [])),
    maxX: Math.max(end.x, start.x + reach, ...(beside ? [beside.x + (line.beside?.width ?? 0)] : [])),
    minY: Math.min(...ys) - 12,
    maxY: Math.max(...ys) + 12,
  };
}

/** A line that goes round. */
export function loopOf(line: Line, from: Rect, to: Rect): Loop {
  const start = startOf(line, from);
  const end = portOf(to, "in");
  const { label, lead, fan } = leadOf(line);
  return { id: line.id, from, to, start, end, label, lead, low: fan > 0 };
}

/** A line to the right: from where it leaves its label to where it meets others. */
export function forwardOf(line: Line, from: Rect, to: Rect): Forward {
  const { x, y } = startOf(line, from);
  const { lead, fan } = leadOf(line);
  const join = line.join === null ? { x: 0, y: 0 } : { x: -JOIN_X, y: line.join };
  const end = portOf(to, "in");
  return {
    id: line.id,
    from: line.from,
    to: line.to,
    start: { x: x + (lead > 0 ? LABEL_X + lead : 0), y: y + fan },
    end: { x: end.x + join.x, y: end.y + join.y },
  };
}
