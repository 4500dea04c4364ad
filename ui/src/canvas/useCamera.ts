/** The camera: React Flow keeps the view, the hub passes it on, the window of what is mounted follows in cells. */
import { useReactFlow, useStoreApi } from "@xyflow/react";
import { useEffect, useRef, useState, type RefObject } from "react";
import { isFolded, useSession } from "../state/session";
import { useInsides } from "./expansions";
import { LABEL_HEIGHT, portOf, type Rect } from "./geometry";
import { shapeOf } from "./line-path";
import { startOf } from "./lines";
import { reveal, wholeGraph } from "./reveal";
import { scene } from "./scene";
import { setCanvas, useCanvas } from "./store";
import type { ViewHub } from "./view";
import {
  drawingAt,
  hidesLabels,
  isRoomy,
  OVERVIEW_ZOOM,
  stepsBelow,
  stillServes,
  unzoomAt,
  windowArea,
  type Viewport,
  type WindowArea,
} from "./viewport";

/** Where a person left each graph, while the window is open. */
const views = new Map<string, Viewport>();

function sameArea(a: Rect | null, b: Rect): boolean {
  return a !== null && a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;
}

/** Feeds the hub, and shows each graph that is opened. Answers the part of the scene to mount. */
export function useCamera(
  root: RefObject<HTMLElement | null>,
  hub: ViewHub,
  graphId: string | null,
  ready: boolean,
): WindowArea | null {
  const flow = useReactFlow();
  const store = useStoreApi();
  const [area, setArea] = useState<WindowArea | null>(null);
  const settled = useRef<string | null>(null);

  useEffect(() => {
    hub.place = (viewport, millis = 0) => void flow.setViewport(viewport, { duration: millis });
    let drawn = 0;
    let resting: ReturnType<typeof setTimeout> | undefined;
    const unzoom = (step: number) => {
      drawn = step;
      root.current?.style.setProperty("--unzoom", String(unzoomAt(step)));
    };
    let zoomed = 0;
    const apply = () => {
      const { transform, width, height } = store.getState();
      if (width === 0 || height === 0) return;
      hub.set({ x: transform[0], y: transform[1], zoom: transform[2] }, { width, height });
      const { viewport, size } = hub;
      const isOverview = viewport.zoom < OVERVIEW_ZOOM;
      const drawing = drawingAt(viewport.zoom);
      if (useCanvas.getState().drawing !== drawing) setCanvas({ drawing });
      const small = hidesLabels(viewport.zoom);
      if (useCanvas.getState().small !== small) setCanvas({ small });
      // Each is a change of style of all cards: while a zoom goes on few are made, and the exact one when it rests.
      const step = drawing === "far" ? drawn : stepsBelow(viewport.zoom);
      clearTimeout(resting);
      if (Math.abs(step - drawn) >= COARSE) unzoom(step);
      else if (step !== drawn) resting = setTimeout(() => unzoom(step), RESTS_MS);
      if (useCanvas.getState().overview !== isOverview) setCanvas({ overview: isOverview });
      const roomy = isRoomy(size);
      if (useCanvas.getState().roomy !== roomy) setCanvas({ roomy });
      if (!isOverview) {
        const next = windowArea(viewport, size);
        const zooms = viewport.zoom !== zoomed;
        zoomed = viewport.zoom;
        setArea((before) => {
          const serves = before !== null && zooms && stillServes(before, viewport, size);
          return serves || sameArea(before, next) ? before : next;
        });
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
    const stop = store.subscribe((state, before) => {
      if (
        state.transform !== before.transform ||
        state.width !== before.width ||
        state.height !== before.height
      )
        apply();
    });
    return () => {
      stop();
      clearTimeout(resting);
    };
  }, [flow, store, hub, root]);

  // A graph that is opened is shown whole, or as it was left.
  useEffect(() => {
    if (graphId === null) return;
    settled.current = null;
    const kept = views.get(graphId) ?? views.get(useSession.getState().graphKey ?? "");
    hub.open(kept ? () => kept : wholeGraph);
    if (!ready) return;
    const show = () => {
      if (hub.size.width === 0) return false;
      if (kept) hub.move(kept);
      else hub.fit(wholeGraph);
      settled.current = graphId;
      return true;
    };
    if (show()) return;
    const stop = hub.subscribe(() => {
      if (show()) stop();
    });
    return stop;
  }, [graphId, ready, hub]);

  // What is whole in view stays so when a card grows.
  useEffect(() => useInsides.subscribe(() => hub.refit()), [hub]);

  // The settings open beside what is selected: it stays where it is, or moves just out of their way. While it is dragged they
  // wait, so that where it lies is known when they have come.
  useEffect(
    () =>
      useSession.subscribe((state, before) => {
        const [was, is] = [isFolded(before, "right"), isFolded(state, "right")];
        if (was === is) return;
        hub.hold(is || state.selection === before.selection ? null : () => showSelected(hub));
      }),
    [hub],
  );

  return area;
}

/** Steps of a twelfth of an octave that are made while a zoom goes on, and when it has ended. */
const COARSE = 5;
const RESTS_MS = 120;

/** Moves what is selected into view. */
function showSelected(hub: ViewHub): void {
  const { nodes, edges } = useSession.getState().selection;
  const [name] = nodes;
  const [edge] = edges;
  const rect = name !== undefined ? scene.rect(name) : edge !== undefined ? labelRect(edge) : null;
  if (rect) reveal(hub, rect, true);
}

/** Where the first label of an edge is; null when it has none beside the cards. */
function labelRect(edge: string): Rect | null {
  for (const line of scene.linesOf(edge)) {
    const [from, to] = [scene.rect(line.from), scene.rect(line.to)];
    if (line.labelWidth === 0 || !from || !to) continue;
    const { label, labelWidth } = shapeOf(line, startOf(line, from), portOf(to, "in"), false);
    return { x: label.x, y: label.y - LABEL_HEIGHT / 2, width: labelWidth, height: LABEL_HEIGHT };
  }
  return null;
}
