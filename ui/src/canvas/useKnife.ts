/** The knife: a press that begins a cut is taken on the way down, before React Flow sees it and begins a marquee. */
import {
  useCallback,
  useState,
  type MouseEvent as ReactMouseEvent,
  type PointerEvent as ReactPointerEvent,
} from "react";
import type { Point } from "../document/edits";
import { beginsCut } from "./interactions/knife";

export function useKnife() {
  const [knife, setKnife] = useState<Point | null>(null);
  const endKnife = useCallback(() => setKnife(null), []);
  const onPointerDownCapture = useCallback((event: ReactPointerEvent) => {
    if (!beginsCut(event)) return;
    event.stopPropagation();
    setKnife({ x: event.clientX, y: event.clientY });
  }, []);
  const onMouseDownCapture = useCallback((event: ReactMouseEvent) => {
    if (!beginsCut(event)) return;
    event.stopPropagation();
    event.preventDefault();
  }, []);

  return { knife, endKnife, onPress: { onPointerDownCapture, onMouseDownCapture } };
}
