/** How much of what is near the view is mounted in one frame, and in which order it is in the document. */
import { intersects, type Rect } from "./geometry";
import type { WindowArea } from "./viewport";

/** New nodes that one frame mounts at most, of those in view and, when there are none, of those beside it. */
export interface Share {
  readonly seen: number;
  readonly beside: number;
}

/** A frame has had its share. */
export const NO_SHARE: Share = { seen: 0, beside: 0 };
const MOST_SEEN = 10;
const LEAST_SEEN = 4;
const BESIDE = 4;
/** Milliseconds of a frame in which too many were mounted, and of one that leaves room for more: two and one of a display of 60 Hz. */
const LONG = 40;
const SHORT = 20;

/** What a frame mounts at most, by what frames took in which cards were mounted: a slow machine mounts fewer in more of them. */
export class MountingPace {
  #seen = MOST_SEEN;

  get share(): Share {
    return { seen: this.#seen, beside: BESIDE };
  }

  /** Follows the frame that mounts so many: its programs are in it, and its drawing may be in the next one. */
  watch(mounted: number): void {
    const { currentTime } = document.timeline;
    requestAnimationFrame((first) =>
      requestAnimationFrame((second) => {
        if (typeof currentTime === "number")
          this.note(Math.max(first - currentTime, second - first), mounted);
      }),
    );
  }

  /** Takes how long a frame was that mounted so many, in milliseconds. */
  note(millis: number, mounted: number): void {
    if (millis > LONG) this.#seen = Math.max(LEAST_SEEN, this.#seen - 2);
    else if (millis < SHORT && mounted >= this.#seen) this.#seen = Math.min(MOST_SEEN, this.#seen + 1);
  }
}

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
