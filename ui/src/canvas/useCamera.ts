/** The camera: React Flow keeps the view, the hub passes it on, the window of what is mounted follows in cells. */
import { useReactFlow, useStoreApi } from "@xyflow/react";
import { useEffect, useRef, useState } from "react";
import { useSession } from "../state/session";
import type { Rect } from "./geometry";
import { scene } from "./scene";
import { setCanvas, useCanvas } from "./store";
import type { ViewHub } from "./view";
import { firstView, OVERVIEW_ZOOM, windowArea, type Viewport } from "./window";

/** Where a person left each graph, while the window is open. */
const views = new Map<string, Viewport>();

function sameArea(a: Rect | null, b: Rect): boolean {
  return a !== null && a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;
}

/** Feeds the hub, and shows each graph that is opened. Answers the part of the scene to mount. */
export function useCamera(hub: ViewHub, graphId: string | null, ready: boolean): Rect | null {
  const flow = useReactFlow();
  const store = useStoreApi();
  const [area, setArea] = useState<Rect | null>(null);
  const settled = useRef<string | null>(null);

  useEffect(() => {
    hub.place = (viewport, millis = 0) => void flow.setViewport(viewport, { duration: millis });
    const apply = () => {
      const { transform, width, height } = store.getState();
      if (width === 0 || height === 0) return;
      hub.set({ x: transform[0], y: transform[1], zoom: transform[2] }, { width, height });
      const { viewport, size } = hub;
      const isOverview = viewport.zoom < OVERVIEW_ZOOM;
      if (useCanvas.getState().overview !== isOverview) setCanvas({ overview: isOverview });
      if (!isOverview) {
        const next = windowArea(viewport, size);
        setArea((before) => (sameArea(before, next) ? before : next));
      }
      const { graphId: id, graphKey } = useSession.getState();
      if (id === null || graphKey === null || settled.current !== id) return;
      // The same file opened again has another id.
      for (const key of [id, graphKey]) {
        if (hub.fitted) views.delete(key);
        else views.set(key, viewport);
      }
    };
    apply();
    return store.subscribe((state, before) => {
      if (
        state.transform !== before.transform ||
        state.width !== before.width ||
        state.height !== before.height
      )
        apply();
    });
  }, [flow, store, hub]);

  // A graph that is opened is shown whole, or as it was left.
  useEffect(() => {
    if (graphId === null || !ready) return;
    settled.current = null;
    const show = () => {
      if (hub.size.width === 0) return false;
      const kept = views.get(graphId) ?? views.get(useSession.getState().graphKey ?? "");
      if (kept) hub.move(kept);
      else hub.fit(firstFit);
      settled.current = graphId;
      return true;
    };
    if (show()) return;
    const stop = hub.subscribe(() => {
      if (show()) stop();
    });
    return stop;
  }, [graphId, ready, hub]);

  return area;
}

/** The graph as it is first shown. */
export const firstFit = (size: { width: number; height: number }): Viewport | null => {
  const bounds = scene.bounds();
  return bounds && firstView(bounds, size);
};
