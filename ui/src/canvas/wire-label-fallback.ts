/** Where the lines of a scene have their labels that find no room behind their port. */
import type { Point } from "../document/edits";
import { curveAt, portOf, type Rect } from "./geometry";
import { shapeOf } from "./line-path";
import { startOf, type Line } from "./lines";
import { labelBox, type Place, placesOf } from "./wire-labels";

type Cards = Parameters<typeof placesOf>[1];

/** Room for the words on a line that leads back. */
const BOUND_WIDTH = 80;
/** From one place on a line to the next that is tried. */
const STEP = 16;
/** In how many parts a short curve is tried. */
const LEAST = 48;

/** Places of these lines' labels, from their ports. */
export function besidesOf(
  lines: readonly Line[],
  all: Iterable<Line>,
  rects: Pick<ReadonlyMap<string, Rect>, "get">,
  cards: Cards,
): Map<string, Place> {
  const endsOf = (line: Line) => {
    const [from, to] = [rects.get(line.from), rects.get(line.to)];
    return from && to ? [{ line, start: startOf(line, from), end: portOf(to, "in") }] : [];
  };
  const own = new Set(lines);
  const taken = [...all]
    .filter((line) => line.bound !== null || (line.labelWidth > 0 && !own.has(line)))
    .flatMap(endsOf)
    .flatMap(({ line, start, end }) => {
      const { label, labelWidth, middle } = shapeOf(line, start, end, false);
      return [
        ...(line.labelWidth > 0 && !own.has(line) ? [labelBox(label, labelWidth)] : []),
        ...(line.bound === null
          ? []
          : [labelBox({ x: middle.x - BOUND_WIDTH / 2, y: middle.y }, BOUND_WIDTH)]),
      ];
    });
  const ends = lines.toSorted((a, b) => (a.id < b.id ? -1 : 1)).flatMap(endsOf);
  const labels = ends.map(({ line, start, end }) => {
    const { middle } = shapeOf({ ...line, label: null, lead: 0, fan: 0, beside: null }, start, end, false);
    return { id: line.id, width: line.labelWidth, on: onLine(line, start, end), middle };
  });
  const places = placesOf(labels, cards, taken);
  return new Map(
    ends.flatMap(({ line, start }) => {
      const place = places.get(line.id);
      return place ? [[line.id, { ...place, x: place.x - start.x, y: place.y - start.y }]] : [];
    }),
  );
}

/** Middles that the label of a line may have on it, those near its source first. */
function onLine(line: Line, from: Point, to: Point): Point[] {
  const half = line.labelWidth / 2;
  const along = (first: number, last: number, y: number) => {
    const count = Math.floor(Math.abs(last - first) / STEP) + 1;
    const step = STEP * Math.sign(last - first);
    return Array.from({ length: count }, (_, index) => ({ x: first + index * step, y }));
  };
  if (line.lane !== null) return along(from.x + line.outset - half, to.x - line.inset + half, line.lane);
  if (line.pass !== null) return along(line.pass.left + half, line.pass.right - half, line.pass.y);
  const count = Math.max(LEAST, Math.floor((to.x - from.x) / STEP));
  return Array.from({ length: count - 1 }, (_, index) => curveAt(from, to, (index + 1) / count));
}
