/** Putting several boxes in line: pure geometry. */
import type { Rect } from "./geometry";
import type { Point } from "../document/edits";

export type Arrangement = "left" | "center" | "right" | "top" | "middle" | "bottom" | "across" | "down";

/** New places for the boxes; names that stay are left out. */
export function arrange(boxes: ReadonlyMap<string, Rect>, how: Arrangement): Map<string, Point> {
  const all = [...boxes.values()];
  const places = new Map<string, Point>();
  if (all.length < 2) return places;
  const left = Math.min(...all.map((box) => box.x));
  const right = Math.max(...all.map((box) => box.x + box.width));
  const top = Math.min(...all.map((box) => box.y));
  const bottom = Math.max(...all.map((box) => box.y + box.height));
  const put = (name: string, x: number, y: number) => {
    const box = boxes.get(name);
    if (box && (Math.round(x) !== box.x || Math.round(y) !== box.y))
      places.set(name, { x: Math.round(x), y: Math.round(y) });
  };
  if (how === "across" || how === "down") {
    const along = how === "across";
    const sorted = [...boxes].sort(([, a], [, b]) => (along ? a.x - b.x : a.y - b.y));
    const taken = all.reduce((sum, box) => sum + (along ? box.width : box.height), 0);
    const gap = ((along ? right - left : bottom - top) - taken) / (all.length - 1);
    let at = along ? left : top;
    for (const [name, box] of sorted) {
      if (along) put(name, at, box.y);
      else put(name, box.x, at);
      at += (along ? box.width : box.height) + gap;
    }
    return places;
  }
  for (const [name, box] of boxes) {
    switch (how) {
      case "left":
        put(name, left, box.y);
        break;
      case "center":
        put(name, (left + right - box.width) / 2, box.y);
        break;
      case "right":
        put(name, right - box.width, box.y);
        break;
      case "top":
        put(name, box.x, top);
        break;
      case "middle":
        put(name, box.x, (top + bottom - box.height) / 2);
        break;
      case "bottom":
        put(name, box.x, bottom - box.height);
        break;
    }
  }
  return places;
}
