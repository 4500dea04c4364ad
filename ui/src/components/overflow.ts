/** What of a row fits into it; the rest goes into a menu. */
import { useCallback, useLayoutEffect, useRef, useState, type RefCallback } from "react";

/** Width of the button that opens the menu, of what shows it. */
export const MORE_WIDTH = 64;

interface Item {
  readonly id: string;
  readonly width: number;
}

/** The ids that find no room: those at the end, but never the active one. */
export function hiddenOf(items: readonly Item[], room: number, active: string | null, gap = 0): string[] {
  const sum = (some: readonly Item[]) => some.reduce((width, item) => width + item.width + gap, -gap);
  // Widths are fractions of pixels, and a room of 100 may be one of 99.99.
  if (items.length <= 1 || sum(items) <= room + 0.5) return [];
  const shown = items.filter(({ id }) => id === active);
  for (const item of items) {
    if (item.id === active) continue;
    if (sum([...shown, item]) + gap + MORE_WIDTH > room) break;
    shown.push(item);
  }
  return items.filter((item) => !shown.includes(item)).map(({ id }) => id);
}

const NONE: ReadonlySet<string> = new Set();

export interface Fitting {
  /** For the element that has the room; its items say who they are in `data-fit`, and keep their width when hidden. */
  readonly ref: RefCallback<HTMLElement>;
  readonly hidden: ReadonlySet<string>;
  /** What all items would take: the element asks for it, so that it grows again. */
  readonly whole: number;
}

/** Measures a row and its items, and again when one of them changes. */
export function useFitting(ids: readonly string[], active: string | null, gap = 0, padding = 0): Fitting {
  const [element, setElement] = useState<HTMLElement | null>(null);
  const ref = useCallback((next: HTMLElement | null) => setElement(next), []);
  const [fit, setFit] = useState({ hidden: NONE, whole: 0 });
  const latest = useRef(fit);
  const key = ids.join("\n");
  useLayoutEffect(() => {
    if (element === null || typeof ResizeObserver === "undefined") return;
    const elements = [...element.querySelectorAll<HTMLElement>("[data-fit]")];
    const measure = () => {
      const items = elements.map((each) => ({
        id: each.dataset.fit ?? "",
        width: each.getBoundingClientRect().width,
      }));
      const room = element.getBoundingClientRect().width - padding;
      const hidden = hiddenOf(items, room, active, gap);
      const whole = Math.ceil(items.reduce((sum, { width }) => sum + width + gap, padding - gap));
      const before = latest.current;
      if (whole === before.whole && hidden.join("\n") === [...before.hidden].join("\n")) return;
      latest.current = { hidden: new Set(hidden), whole };
      setFit(latest.current);
    };
    measure();
    const observer = new ResizeObserver(measure);
    for (const each of [element, ...elements]) observer.observe(each);
    return () => observer.disconnect();
  }, [element, key, active, gap, padding]);
  return { ref, ...fit };
}

/** The look of an item that finds no room: it keeps its width to be measured by, and can still have the focus. */
export const unfitClass = "pointer-events-none absolute opacity-0";
