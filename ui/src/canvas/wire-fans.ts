/** Lines that leave one node are spread, so that their labels stand below each other. */
import { fanOffsets, isBack, labelWidth, portOf, type Rect } from "./geometry";
import type { Box } from "./line-boxes";
import { labelOf, lineId, type LineView, shownLabel } from "./lines";
import { isCrowded } from "./wire-labels";

/** An edge that leaves a node. */
export interface Leaving {
  readonly edge: string;
  readonly view: LineView;
}

export interface Fan {
  readonly fan: number;
  readonly lead: number;
  /** A card stands where its label would be. */
  readonly beside: boolean;
}

export const NO_FAN: Fan = { fan: 0, lead: 0, beside: false };
const NO_FANS: ReadonlyMap<string, Fan> = new Map();
/** A node with more edges than this has no fan: its labels would reach out of sight. */
export const MAX_FAN = 64;

/** By line, its place among those that leave a node; those without a label share the one under "". */
export function fansOf(
  source: string,
  edges: readonly Leaving[],
  rects: Pick<ReadonlyMap<string, Rect>, "get">,
  ported: boolean,
  cardsAt: (area: Box) => readonly Box[],
): ReadonlyMap<string, Fan> {
  const rect = rects.get(source);
  const hasRow = (view: LineView) => ported && view.form === "route";
  if (!rect || edges.length > MAX_FAN) return NO_FANS;
  const start = portOf(rect, "out");
  const slots: { key: string; y: number; width: number; end: number }[] = [];
  let plainSum = 0;
  let plainCount = 0;
  for (const { edge, view } of edges) {
    for (const path of view.paths) {
      if (path.from !== source || hasRow(view)) continue;
      const target = rects.get(path.to);
      if (!target) continue;
      const end = portOf(target, "in");
      const back = isBack(start, end);
      const label = labelOf(view.form, path, view.expression);
      if (label === null) {
        if (back) continue;
        plainSum += end.y;
        plainCount += 1;
        continue;
      }
      const width = labelWidth(shownLabel(view.form, path.label === null, label));
      // Lines that go round start lowest.
      const key = lineId(edge, path.part);
      slots.push({ key, y: back ? Infinity : end.y, width, end: back ? Infinity : end.x });
    }
  }
  if (slots.length === 0) return NO_FANS;
  const lead = Math.max(...slots.map((slot) => slot.width));
  if (plainCount > 0) slots.push({ key: "", y: plainSum / plainCount, width: 0, end: Infinity });
  slots.sort((a, b) => (a.y === b.y ? 0 : a.y - b.y));
  const offsets = fanOffsets(slots.length);
  const fans = slots.map((slot, index) => ({ ...slot, fan: offsets[index] ?? 0 }));
  const labels = fans.filter(({ key }) => key !== "");
  const beside = isCrowded(start, labels, cardsAt);
  // Labels that stand elsewhere lead no plain line away from the port either.
  return new Map(fans.map(({ key, fan }) => [key, beside && key === "" ? NO_FAN : { fan, lead, beside }]));
}
