/**
 * Breaks a long arrangement into rows, as a text is broken into lines, when the canvas shows more of it so. It breaks only
 * where one bundle of wires leads on: those of one node, or those into one, to what follows next, and nothing that leads
 * back across. The wires of a break run in the gutter between the rows.
 */
import type { Point } from "../document/edits";
import { union, type Rect } from "./geometry";
import type { Size } from "./viewport";

interface Wire {
  readonly from: string;
  readonly to: string;
}

/** Between two rows, and for each wire that runs there. */
const GUTTER = 72;
const GUTTER_WIRE = 12;
/** Drawn at this size a graph is read well enough in one row. */
const GOOD_ZOOM = 0.62;
/** A break has to be worth it. */
const GAIN = 1.2;
/** A row is at least so much of the widest; the last one may be shorter. */
const LEAST_ROW = 0.5;
const LEAST_LAST = 0.2;
/** More rows are not tried. */
const MOST_ROWS = 64;

interface Column {
  readonly names: string[];
  readonly left: number;
  right: number;
  top: number;
  bottom: number;
  /** Wires that lead on from here; null where no break may be. */
  bundle: number | null;
}

/** The places with breaks; the same map when one row is best. */
export function wrapped(
  rects: ReadonlyMap<string, Rect>,
  wires: readonly Wire[],
  size: Size,
): ReadonlyMap<string, Point> {
  const bounds = union(rects.values());
  if (!bounds || size.width <= 0 || size.height <= 0) return rects;
  const zoomOf = (width: number, height: number) => Math.min(1, size.width / width, size.height / height);
  const now = zoomOf(bounds.width, bounds.height);
  if (now >= GOOD_ZOOM) return rects;
  const columns = columnsOf(rects, wires);
  let best: { zoom: number; rows: Column[][] } | null = null;
  for (let count = 2; count <= MOST_ROWS; count += 1) {
    const rows = rowsOf(columns, bounds.width / count);
    const width = Math.max(...rows.map(widthOf));
    const zoom = zoomOf(width, heightOf(rows));
    const full = rows.every(
      (row, index) => widthOf(row) >= width * (index < rows.length - 1 ? LEAST_ROW : LEAST_LAST),
    );
    if (full && rows.length > 1 && (best === null || zoom > best.zoom)) best = { zoom, rows };
  }
  return best !== null && best.zoom >= now * GAIN ? placed(best.rows, rects, bounds) : rects;
}

/** Nodes that stand over each other, from left to right, and where a break may be behind them. */
function columnsOf(rects: ReadonlyMap<string, Rect>, wires: readonly Wire[]): Column[] {
  const columns: Column[] = [];
  const place = new Map<string, number>();
  for (const [name, rect] of [...rects].sort((a, b) => a[1].x - b[1].x)) {
    const [right, bottom] = [rect.x + rect.width, rect.y + rect.height];
    const last = columns.at(-1);
    if (last && rect.x < last.right) {
      last.names.push(name);
      last.right = Math.max(last.right, right);
      last.top = Math.min(last.top, rect.y);
      last.bottom = Math.max(last.bottom, bottom);
    } else columns.push({ names: [name], left: rect.x, right, top: rect.y, bottom, bundle: null });
    place.set(name, columns.length - 1);
  }
  const begins: Wire[][] = columns.map(() => []);
  const ends: Wire[][] = columns.map(() => []);
  // Breaks that something leads back across: how much more of it there is from one column to the next.
  const back = columns.map(() => 0);
  for (const wire of wires) {
    const [from, to] = [place.get(wire.from), place.get(wire.to)];
    if (from === undefined || to === undefined || from === to) continue;
    if (from < to) {
      begins[from]?.push(wire);
      ends[to]?.push(wire);
    } else {
      back[to] = (back[to] ?? 0) + 1;
      back[from] = (back[from] ?? 0) - 1;
    }
  }
  const sources = new Map<string, number>();
  const targets = new Map<string, number>();
  const count = (counts: Map<string, number>, name: string, by: number) => {
    const next = (counts.get(name) ?? 0) + by;
    if (next === 0) counts.delete(name);
    else counts.set(name, next);
  };
  let over = 0;
  let across = 0;
  let farthest = 0;
  columns.forEach((column, index) => {
    for (const { to } of begins[index] ?? []) farthest = Math.max(farthest, place.get(to) ?? 0);
    for (const [list, by] of [
      [ends[index], -1],
      [begins[index], 1],
    ] as const)
      for (const { from, to } of list ?? []) {
        count(sources, from, by);
        count(targets, to, by);
      }
    over += (begins[index]?.length ?? 0) - (ends[index]?.length ?? 0);
    across += back[index] ?? 0;
    const next = farthest <= index + 1;
    if (across === 0 && next && (sources.size === 1 || targets.size === 1)) column.bundle = over;
  });
  return columns;
}

const widthOf = (row: readonly Column[]) => (row.at(-1)?.right ?? 0) - (row[0]?.left ?? 0);

/** Rows of at most this width, where there is a break in time. */
function rowsOf(columns: readonly Column[], width: number): Column[][] {
  const rows: Column[][] = [];
  let row: Column[] = [];
  let breakAt = 0;
  for (const column of columns) {
    row.push(column);
    if (widthOf(row) > width && breakAt > 0) {
      rows.push(row.slice(0, breakAt));
      row = row.slice(breakAt);
      breakAt = 0;
      row.forEach((each, index) => {
        if (each.bundle !== null && index < row.length - 1) breakAt = index + 1;
      });
    }
    if (column.bundle !== null) breakAt = row.length;
  }
  if (row.length > 0) rows.push(row);
  return rows;
}

const topOf = (row: readonly Column[]) => row.reduce((top, column) => Math.min(top, column.top), Infinity);

const heightOfRow = (row: readonly Column[]) =>
  row.reduce((bottom, column) => Math.max(bottom, column.bottom), -Infinity) - topOf(row);

const gutterOf = (row: readonly Column[]) => GUTTER + GUTTER_WIRE * Math.min(24, row.at(-1)?.bundle ?? 0);

function heightOf(rows: readonly Column[][]): number {
  return rows.reduce(
    (sum, row, index) => sum + heightOfRow(row) + (index < rows.length - 1 ? gutterOf(row) : 0),
    0,
  );
}

function placed(
  rows: readonly Column[][],
  rects: ReadonlyMap<string, Rect>,
  bounds: Rect,
): ReadonlyMap<string, Point> {
  const places = new Map<string, Point>();
  let top = bounds.y;
  for (const row of rows) {
    const [left, above] = [row[0]?.left ?? 0, topOf(row)];
    for (const { names } of row)
      for (const name of names) {
        const at = rects.get(name);
        if (at) places.set(name, { x: at.x - left + bounds.x, y: at.y - above + top });
      }
    top += heightOfRow(row) + gutterOf(row);
  }
  return places;
}
