/** Moves of the camera that bring something into view. */
import { useEffect } from "react";
import { readOverlay } from "../debugger/overlay/overlay";
import { useSession } from "../state/session";
import type { Rect } from "./geometry";
import { scene } from "./scene";
import type { ViewHub } from "./view";
import { OVERVIEW_ZOOM } from "./viewport";

/** Brings a rectangle into view with the smallest move; the zoom stays when it can. A fitted view may stay one. */
export function reveal(hub: ViewHub, rect: Rect, keepFit = false): void {
  const { viewport, size } = hub;
  if (viewport.zoom < OVERVIEW_ZOOM) {
    hub.centre({ x: rect.x + rect.width / 2, y: rect.y + rect.height / 2 }, 1);
    return;
  }
  const pad = 48;
  const left = rect.x * viewport.zoom + viewport.x;
  const top = rect.y * viewport.zoom + viewport.y;
  const width = rect.width * viewport.zoom;
  const height = rect.height * viewport.zoom;
  const shift = (low: number, length: number, limit: number) => {
    if (length > limit - pad * 2) return pad - low;
    if (low < pad) return pad - low;
    if (low + length > limit - pad) return limit - pad - low - length;
    return 0;
  };
  const dx = shift(left, width, size.width);
  const dy = shift(top, height, size.height);
  if (dx === 0 && dy === 0) return;
  const moved = { x: viewport.x + dx, y: viewport.y + dy, zoom: viewport.zoom };
  if (keepFit) hub.place(moved);
  else hub.move(moved);
}

/** Follows the running node with the camera while that is switched on; otherwise the camera keeps still during a run. */
export function useFollow(hub: ViewHub): void {
  const follow = useSession((state) => state.follow && state.use === "debug");
  useEffect(() => {
    if (!follow) return;
    let last: string | null = null;
    const timer = setInterval(() => {
      for (const [name, overlay] of readOverlay().nodes) {
        if (overlay.state !== "running" && overlay.state !== "asking") continue;
        const rect = scene.rect(name);
        if (name !== last && rect) reveal(hub, rect);
        last = name;
        return;
      }
    }, 150);
    return () => clearInterval(timer);
  }, [follow, hub]);
}
