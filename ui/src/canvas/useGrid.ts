/** The grid that nodes are dragged on: as set, and with Alt held the other way round. */
import { useEffect, useMemo, useState } from "react";
import { gridNow, useCanvasSettings } from "../state/canvas-settings";

function useAlt(): boolean {
  const [alt, setAlt] = useState(false);
  useEffect(() => {
    const follow = (event: KeyboardEvent | PointerEvent) => setAlt(event.altKey);
    const leave = () => setAlt(false);
    window.addEventListener("keydown", follow, true);
    window.addEventListener("keyup", follow, true);
    // A key that was released in another window is not heard of.
    window.addEventListener("pointerdown", follow, true);
    window.addEventListener("blur", leave);
    return () => {
      window.removeEventListener("keydown", follow, true);
      window.removeEventListener("keyup", follow, true);
      window.removeEventListener("pointerdown", follow, true);
      window.removeEventListener("blur", leave);
    };
  }, []);
  return alt;
}

export function useGrid(): { snapToGrid: boolean; snapGrid: [number, number] } {
  const set = useCanvasSettings((state) => state.grid);
  const alt = useAlt();
  const grid = gridNow(set, alt);
  return useMemo(() => ({ snapToGrid: grid > 0, snapGrid: [Math.max(1, grid), Math.max(1, grid)] }), [grid]);
}
