/**
 * Arranging from top to bottom: the same layers, turned. An engine arranges to the right; it is given every box on its side
 * with the ports spread over its width, and its places are turned back. Wires keep leaving at the right and coming in at the
 * left: they turn beside the cards, which have room for that.
 */
import type { Point } from "../document/edits";
import type { Task } from "./arrange";

/** Room for wires that turn at a side of a card. */
const SIDE = 32;

/** What is to be placed, on its side; a node is aligned by the middle of its card. */
export function turned({ boxes, lines }: Task, cardWidth: (name: string) => number): Task {
  return {
    lines,
    boxes: boxes.map(({ name, width, height, ports }) => {
      const card = cardWidth(name);
      return {
        name,
        width: height,
        height: width + 2 * SIDE,
        port: SIDE + card / 2,
        // Ways lead down in the order in which they stand on the card.
        ports: ports.map(({ id }, index) => ({ id, y: SIDE + (card * (index + 1)) / (ports.length + 1) })),
      };
    }),
  };
}

/** Places of the boxes as they stand. */
export function turnedBack(places: ReadonlyMap<string, Point>): Map<string, Point> {
  return new Map([...places].map(([name, { x, y }]) => [name, { x: y + SIDE, y: x }]));
}
