/** How large the graph of an expanded node is drawn, and its card with it. Pure. */
import { GRID, NODE_WIDTH, type Rect } from "./geometry";
import type { CardSize } from "./spread";

/** The most that the drawing takes; a larger graph is drawn smaller. */
export const MOST: CardSize = { width: 720, height: 480 };
/** Between the drawing and the border of its card. */
export const PAD = 12;
/** A sentence in the place of a drawing. */
const SENTENCE: CardSize = { width: 320, height: 96 };

export interface Drawing {
  readonly scale: number;
  /** Of the drawing at that scale. */
  readonly size: CardSize;
}

const onGrid = (value: number) => Math.ceil(value / GRID) * GRID;

/** The drawing of a graph that takes up `extent`; never larger than life. */
export function drawingOf(extent: Rect | null): Drawing {
  if (extent === null) return { scale: 1, size: SENTENCE };
  const scale = Math.min(1, MOST.width / extent.width, MOST.height / extent.height);
  return { scale, size: { width: onGrid(extent.width * scale), height: onGrid(extent.height * scale) } };
}

/** The card with a drawing under what stands on it by itself. */
export function expandedCard(own: CardSize, drawing: CardSize): CardSize {
  return {
    width: Math.max(own.width, NODE_WIDTH, drawing.width + 2 * PAD),
    height: own.height + drawing.height + 2 * PAD,
  };
}
