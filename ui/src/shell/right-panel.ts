/** When the settings come and go: with the selection, but never under a pointer that still drags or clicks twice. */
import { useEffect, useState } from "react";
import { isFolded, PANEL_LIMITS, useSession } from "../state/session";

/** A second click comes within this time. */
const DOUBLE_CLICK_MS = 350;

const pointer = { down: false, x: 0 };
if (typeof window !== "undefined") {
  window.addEventListener(
    "pointerdown",
    (event) => Object.assign(pointer, { down: true, x: event.clientX }),
    true,
  );
  for (const end of ["pointerup", "pointercancel"] as const)
    window.addEventListener(end, () => Object.assign(pointer, { down: false }), true);
}

/** Is the panel on the right folded? */
export function useRightFolded(): boolean {
  const wanted = useSession((state) => isFolded(state, "right"));
  const size = useSession((state) => Math.max(state.panels.right.size, PANEL_LIMITS.right.initial));
  const [folded, setFolded] = useState(wanted);
  useEffect(() => {
    if (wanted === folded) return;
    const under = !wanted && pointer.x > window.innerWidth - size;
    if (!pointer.down && !under) {
      setFolded(wanted);
      return;
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    const later = () => {
      timer = setTimeout(() => setFolded(wanted), under ? DOUBLE_CLICK_MS : 0);
    };
    if (!pointer.down) later();
    else window.addEventListener("pointerup", later, { once: true });
    return () => {
      clearTimeout(timer);
      window.removeEventListener("pointerup", later);
    };
  }, [wanted, folded, size]);
  return folded;
}
