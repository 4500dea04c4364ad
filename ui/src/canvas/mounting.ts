/** How much of what is near the view is mounted in one frame, and in which order it is in the document. */
import { intersects, type Rect } from "./geometry";
import type { WindowArea } from "./viewport";

/** New nodes that one frame mounts at most, of those in view and, when there are none, of those beside it. */
export interface Share {
  readonly seen: number;
  readonly beside: number;
}

export const SHARE: Share = { seen: 10, beside: 4 };
/** A frame has had its share. */
export const NO_SHARE: Share = { seen: 0, beside: 0 };

interface PutOff {
  readonly later: ReadonlySet<string>;
  /** Is some of that in view? */
  readonly missing: boolean;
  /** How many new ones are left for this frame. */
  readonly fresh: number;
}

/** Takes from `near` the new nodes that are too many for one frame, first those that are far from the view. */
export function putOff(
  near: Set<string>,
  area: WindowArea,
  share: Share,
  rectOf: (name: string) => Rect | undefined,
  isMounted: (name: string) => boolean,
): PutOff {
  const [x, y] = [area.x + area.width / 2, area.y + area.height / 2];
  const fresh = [...near]
    .filter((name) => !isMounted(name))
    .map((name) => {
      const rect = rectOf(name);
      return {
        name,
        isSeen: rect !== undefined && intersects(rect, area.seen),
        away: rect ? Math.max(Math.abs(rect.x - x) / area.width, Math.abs(rect.y - y) / area.height) : 0,
      };
    });
  const most = Math.max(share.beside, Math.min(share.seen, fresh.filter(({ isSeen }) => isSeen).length));
  const later = fresh.toSorted((a, b) => Number(b.isSeen) - Number(a.isSeen) || a.away - b.away).slice(most);
  for (const { name } of later) near.delete(name);
  return {
    later: new Set(later.map(({ name }) => name)),
    missing: later.some(({ isSeen }) => isSeen),
    fresh: fresh.length - later.length,
  };
}

/**
 * Puts what is mounted next in the order of what is mounted before, new ones behind it. React moves an element in the page
 * whose place among the others has changed, and a card that was moved is styled and laid out as if it were new.
 */
export function inOrderOf<Value>(
  before: ReadonlyMap<string, Value>,
  next: ReadonlyMap<string, Value>,
): Map<string, Value> {
  const ordered = new Map<string, Value>();
  for (const id of before.keys()) {
    const value = next.get(id);
    if (value !== undefined) ordered.set(id, value);
  }
  for (const [id, value] of next) ordered.set(id, value);
  return ordered;
}
