/** Which line is under a point or crossed by a stroke: asked of the lines that are mounted, by the shape they have on screen. */
import type { Point } from "../../document/edits";
import { crosses } from "../geometry";

const STEP = 10;

function* mountedLines(root: Element): Generator<{ id: string; points: Point[] }> {
  for (const path of root.querySelectorAll<SVGPathElement>(".react-flow__edge .line-path")) {
    const id = path.closest(".react-flow__edge")?.getAttribute("data-id");
    const matrix = path.getScreenCTM();
    if (!id || !matrix) continue;
    const length = path.getTotalLength();
    const points: Point[] = [];
    for (let at = 0; at <= length + STEP; at += STEP) {
      const point = path.getPointAtLength(Math.min(at, length)).matrixTransform(matrix);
      points.push({ x: point.x, y: point.y });
    }
    yield { id, points };
  }
}

/** The nearest line within `reach` screen pixels. `except` leaves out lines that end at a node. */
export function lineNear(
  root: Element,
  point: Point,
  reach: number,
  except: (id: string) => boolean,
): string | null {
  let best: string | null = null;
  let nearest = reach;
  for (const { id, points } of mountedLines(root)) {
    if (except(id)) continue;
    for (const each of points) {
      const distance = Math.hypot(each.x - point.x, each.y - point.y);
      if (distance < nearest) {
        nearest = distance;
        best = id;
      }
    }
  }
  return best;
}

/** A line under the pointer. */
export interface LineHit {
  readonly id: string;
  /** On the screen. */
  readonly distance: number;
  /** Of the whole line. */
  readonly length: number;
}

/** Lines whose distances differ by less lie on each other. */
const SAME = 3;

/**
 * Which of the lines under the pointer is meant: the nearest; of those that lie on each other there the shortest, which
 * leads straight where others only join it, and after the selected one the next.
 */
export function meantLine(hits: readonly LineHit[], selected: string | null): string | null {
  const nearest = Math.min(...hits.map(({ distance }) => distance));
  const alike = hits
    .filter(({ distance }) => distance < nearest + SAME)
    .toSorted((a, b) => a.length - b.length || (a.id < b.id ? -1 : 1));
  const at = alike.findIndex(({ id }) => id === selected);
  return alike[(at + 1) % alike.length]?.id ?? null;
}

/** The lines within reach of a press at a point, by what takes their presses. */
export function linesAt(root: Element, point: Point): LineHit[] {
  const under = new Set(
    document
      .elementsFromPoint(point.x, point.y)
      .flatMap((element) => element.closest(".react-flow__edge")?.getAttribute("data-id") ?? []),
  );
  if (under.size < 2) return [];
  const hits: LineHit[] = [];
  for (const { id, points } of mountedLines(root)) {
    if (!under.has(id)) continue;
    let [distance, length] = [Infinity, 0];
    points.forEach((to, index) => {
      const from = points[index - 1] ?? to;
      length += Math.hypot(to.x - from.x, to.y - from.y);
      distance = Math.min(distance, distanceTo(point, from, to));
    });
    hits.push({ id, distance, length });
  }
  return hits;
}

/** From a point to a piece of a line. */
function distanceTo(point: Point, from: Point, to: Point): number {
  const [x, y] = [to.x - from.x, to.y - from.y];
  const square = x * x + y * y;
  const part = square === 0 ? 0 : ((point.x - from.x) * x + (point.y - from.y) * y) / square;
  const on = Math.min(1, Math.max(0, part));
  return Math.hypot(point.x - from.x - on * x, point.y - from.y - on * y);
}

/** All lines that a stroke crosses. */
export function linesCut(root: Element, stroke: readonly Point[]): string[] {
  const cut: string[] = [];
  for (const { id, points } of mountedLines(root)) {
    const hit = stroke.some((to, index) => {
      const from = stroke[index - 1];
      if (!from) return false;
      return points.some((b, at) => {
        const a = points[at - 1];
        return a !== undefined && crosses(from, to, a, b);
      });
    });
    if (hit) cut.push(id);
  }
  return cut;
}
