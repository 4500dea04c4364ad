/** The line between two panels: drag it, or focus it and use the arrow keys; a double click folds the panel. */
import { useRef, type KeyboardEvent, type PointerEvent } from "react";
import { cx } from "../components/cx";
import { t } from "../lib/texts";
import { PANEL_LIMITS, useSession, type Sized } from "../state/session";

const STEP = 16;

/** The line is one pixel; the place to grab it is nine. */
const LOOK =
  "relative z-5 flex-none touch-none bg-line after:absolute hover:bg-accent hover:outline-1 hover:outline-accent focus-visible:bg-accent focus-visible:outline-1 focus-visible:outline-accent active:bg-accent active:outline-1 active:outline-accent";
const UPRIGHT = "w-px cursor-col-resize after:-inset-x-1 after:inset-y-0";
const SIDES = {
  left: UPRIGHT,
  right: UPRIGHT,
  beside: UPRIGHT,
  bottom: "h-px cursor-row-resize after:inset-x-0 after:-inset-y-1",
};

export function Splitter({ side }: { side: Sized }) {
  const chosen = useSession((state) => state.panels[side].size);
  const setPanel = useSession((state) => state.setPanel);
  const start = useRef<{ at: number; size: number } | null>(null);
  const limits = PANEL_LIMITS[side];
  const vertical = side !== "bottom";
  const foldable = side !== "beside";
  // The right and the bottom panel grow against the axis.
  const sign = side === "left" ? 1 : -1;
  const max = Math.floor((vertical ? window.innerWidth : window.innerHeight) / 2);
  const resize = (next: number) => {
    setPanel(side, { size: Math.round(Math.min(max, Math.max(limits.min, next))), folded: false });
  };
  /** The panel as large as it is drawn. */
  const drawn = (splitter: Element): number => {
    const panel = side === "left" ? splitter.previousElementSibling : splitter.nextElementSibling;
    const box = panel?.getBoundingClientRect();
    return (vertical ? box?.width : box?.height) ?? chosen;
  };

  const onPointerDown = (event: PointerEvent<HTMLDivElement>) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    start.current = { at: vertical ? event.clientX : event.clientY, size: drawn(event.currentTarget) };
  };
  const onPointerMove = (event: PointerEvent<HTMLDivElement>) => {
    if (!start.current) return;
    const moved = (vertical ? event.clientX : event.clientY) - start.current.at;
    const next = start.current.size + sign * moved;
    if (next < limits.min / 2 && foldable) setPanel(side, { folded: true });
    else resize(next);
  };
  const onPointerUp = () => {
    start.current = null;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const grow = vertical ? "ArrowRight" : "ArrowDown";
    const shrink = vertical ? "ArrowLeft" : "ArrowUp";
    const size = drawn(event.currentTarget);
    if (event.key === grow) resize(size + sign * STEP);
    else if (event.key === shrink) resize(size - sign * STEP);
    else if (event.key === "Enter" && foldable) setPanel(side, { folded: true });
    else return;
    event.preventDefault();
  };

  return (
    <div
      role="separator"
      tabIndex={0}
      aria-orientation={vertical ? "vertical" : "horizontal"}
      aria-label={t(`shell.splitter.${side}`)}
      aria-valuenow={Math.max(limits.min, Math.min(chosen, max))}
      aria-valuemin={limits.min}
      aria-valuemax={max}
      className={cx(LOOK, SIDES[side])}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={onPointerUp}
      onPointerCancel={onPointerUp}
      // What cannot be folded goes back to the size it begins with.
      onDoubleClick={() => setPanel(side, foldable ? { folded: true } : { size: limits.initial })}
      onKeyDown={onKeyDown}
    />
  );
}
