/**
 * Where nodes go that have no position in the file: in columns by their distance from the start, beside those that have
 * one. Only for the eye; nothing is written until somebody moves a node or arranges the graph.
 */
import type { GraphDocument } from "../document/document";
import { edgeOf, END, START } from "../document/types";
import type { Rect } from "./geometry";
import { union } from "./geometry";

const COLUMN = 320;
/** A column whose nodes have conditions on their edges, which are written behind them. */
const LABELLED = 430;
const GAP = 32;

export function placeMissing(
  doc: GraphDocument,
  missing: readonly string[],
  rects: Map<string, Rect>,
  sizeOf: (name: string) => { width: number; height: number },
): void {
  const placed = union(rects.values());
  const inner = missing.filter((name) => name !== START && name !== END);
  const depth = depths(doc);
  const deepest = Math.max(0, ...inner.map((name) => depth.get(name) ?? 0));
  // New columns begin under what is already placed, so that nothing lies on top of anything.
  const top = placed ? placed.y + placed.height + 80 : 0;
  const left = placed ? placed.x : 0;
  const bottoms = new Map<number, number>();
  const columnOf = (name: string) => depth.get(name) ?? deepest + 1;
  const labelled = new Set(inner.filter((name) => hasConditions(doc, name)).map(columnOf));
  const lefts = [left];
  for (let column = 0; column <= deepest; column += 1)
    lefts.push((lefts[column] ?? left) + (labelled.has(column) ? LABELLED : COLUMN));
  for (const name of inner) {
    const column = columnOf(name);
    const size = sizeOf(name);
    const y = bottoms.get(column) ?? top;
    rects.set(name, { x: lefts[column] ?? left, y, ...size });
    bottoms.set(column, y + size.height + GAP);
  }
  const all = union(rects.values()) ?? { x: 0, y: 0, width: 0, height: 0 };
  const isLast = (name: string) => (rects.get(name)?.x ?? 0) + sizeOf(name).width >= all.x + all.width;
  const behind = inner.some((name) => isLast(name) && hasConditions(doc, name)) ? 80 + LABELLED - COLUMN : 80;
  const besides = (name: string, neighbours: readonly string[]) => {
    const near = neighbours.flatMap((each) => rects.get(each) ?? []);
    const size = sizeOf(name);
    const first = near[0];
    const y = first ? first.y + 22 - size.height / 2 : all.y;
    const x = name === START ? all.x - 80 - size.width : all.x + all.width + behind;
    rects.set(name, { x, y, ...size });
  };
  if (rects.size === 0 && inner.length === 0) {
    // An empty graph: room between the two for the first nodes.
    rects.set(START, { x: -360, y: 0, ...sizeOf(START) });
    rects.set(END, { x: 288, y: 0, ...sizeOf(END) });
    return;
  }
  if (missing.includes(START)) {
    besides(
      START,
      doc.edgesFrom(START).flatMap((edge) => edgeOf(doc.get(`edge:${edge}`)).targets),
    );
  }
  if (missing.includes(END)) {
    besides(
      END,
      doc.edgesTo(END).flatMap((edge) => edgeOf(doc.get(`edge:${edge}`)).sources),
    );
  }
}

function hasConditions(doc: GraphDocument, name: string): boolean {
  return doc.edgesFrom(name).some((edge) => {
    const { form } = edgeOf(doc.get(`edge:${edge}`));
    return form === "when" || form === "each";
  });
}

/** Steps from the start, along the shortest way. */
function depths(doc: GraphDocument): Map<string, number> {
  const depth = new Map<string, number>([[START, -1]]);
  const queue = [START];
  for (let index = 0; index < queue.length; index += 1) {
    const node = queue[index] as string;
    for (const edge of doc.edgesFrom(node)) {
      for (const target of edgeOf(doc.get(`edge:${edge}`)).targets) {
        if (depth.has(target)) continue;
        depth.set(target, (depth.get(node) ?? 0) + 1);
        queue.push(target);
      }
    }
  }
  return depth;
}
