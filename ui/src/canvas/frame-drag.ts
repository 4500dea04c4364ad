/** What a drag carries besides the nodes that are dragged: what lay in its frames when it began. */
import type { Point } from "../document/edits";
import { withHeld } from "./notes";
import { scene } from "./scene";

let lead = "";
let held: ReadonlySet<string> = new Set();

/** Begins a drag at a node, with those that are dragged along; with none it ends. */
export function holdFrames(from: string, dragged: readonly string[]): void {
  const all = withHeld(scene, dragged);
  for (const name of dragged) all.delete(name);
  lead = from;
  held = all;
}

export const heldNow = (): ReadonlySet<string> => held;

/** Where the carried nodes are while the one that leads the drag is at a place. */
export function movedWith(name: string, place: Point): [string, Point][] {
  if (name !== lead || held.size === 0) return [];
  const begin = scene.corner(lead);
  return [...held].map((each) => {
    const { x, y } = scene.corner(each);
    return [each, { x: x + place.x - begin.x, y: y + place.y - begin.y }];
  });
}
