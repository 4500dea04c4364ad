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
