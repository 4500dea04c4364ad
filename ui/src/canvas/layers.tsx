/** The layers beside React Flow: the dots, the overview, the minimap. They follow the view without rendering React. */
import { useEffect, useRef, useState, useSyncExternalStore, type PointerEvent } from "react";
import { readOverlay } from "../debugger/overlay/overlay";
import type { Point } from "../document/edits";
import { onLit } from "../document/highlighted-key";
import { shellIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { useSession } from "../state/session";
import { drawOverview, MinimapPicture, readPaint, type Paint } from "./overview";
import { isOutOfSight } from "./folds";
import { hiddenNow, useHiddenStore } from "./hidden-wires";
import { scene } from "./scene";
import { useCanvas } from "./store";
import { useView, type ViewHub } from "./view";
import { isRoomy } from "./viewport";

/** Draws again when something it shows has changed, at most once per frame; `more` says when there is more to draw. */
function useDrawing(
  hub: ViewHub,
  draw: (paint: Paint, canvas: HTMLCanvasElement) => void,
  more: (schedule: () => void, canvas: HTMLCanvasElement) => () => void = NOTHING_MORE,
) {
  const ref = useRef<HTMLCanvasElement>(null);
  const latest = useRef(draw);
  latest.current = draw;
  useEffect(() => {
    const canvas = ref.current;
    if (!canvas) return;
    // Read when it is drawn: asked for any earlier, cards would be styled and laid out that are gone by then.
    let paint: Paint | null = null;
    let frame = 0;
    const schedule = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        // The root's own colours: asking for those of an element within the canvas lays out all cards first.
        paint ??= readPaint(document.documentElement);
        latest.current(paint, canvas);
      });
    };
    const repaint = () => {
      paint = null;
      schedule();
    };
    let overlay = readOverlay();
    // The overlay has no listener for everything; looking at an identity a few times a second costs nothing.
    const timer = setInterval(() => {
      if (readOverlay() === overlay) return;
      overlay = readOverlay();
      schedule();
    }, 120);
    const theme = new MutationObserver(repaint);
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    const stops = [
      hub.subscribe(schedule),
      scene.subscribe(schedule),
      useSession.subscribe(schedule),
      onLit(schedule),
      useHiddenStore.subscribe(schedule),
      more(schedule, canvas),
    ];
    schedule();
    return () => {
      cancelAnimationFrame(frame);
      clearInterval(timer);
      theme.disconnect();
      stops.forEach((stop) => stop());
    };
  }, [hub, more]);
  return ref;
}

const NOTHING_MORE = () => () => {};

/** A pointer that does not move for so long rests. */
const RESTS_MS = 120;

/** Follows where the pointer rests on the canvas around a layer; null while it moves, is pressed or is elsewhere. */
function followRest(layer: HTMLElement, rests: (at: Point | null) => void): () => void {
  const around = layer.parentElement ?? layer;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const move = (event: globalThis.MouseEvent) => {
    clearTimeout(timer);
    const onPane = event.target instanceof Element && event.target.closest(".react-flow__pane") !== null;
    if (event.buttons !== 0 || !onPane) return rests(null);
    const { left, top } = layer.getBoundingClientRect();
    const at = { x: event.clientX - left, y: event.clientY - top };
    timer = setTimeout(() => rests(at), RESTS_MS);
  };
  const leave = () => {
    clearTimeout(timer);
    rests(null);
  };
  around.addEventListener("pointermove", move);
  around.addEventListener("wheel", move, { passive: true, capture: true });
  around.addEventListener("pointerdown", leave);
  around.addEventListener("pointerleave", leave);
  return () => {
    clearTimeout(timer);
    around.removeEventListener("pointermove", move);
    around.removeEventListener("wheel", move, { capture: true });
    around.removeEventListener("pointerdown", leave);
    around.removeEventListener("pointerleave", leave);
  };
}

export function Overview({ hub }: { hub: ViewHub }) {
  const rest = useRef<Point | null>(null);
  const [follow] = useState(() => (schedule: () => void, canvas: HTMLCanvasElement) => {
    return followRest(canvas, (at) => {
      if (at === rest.current) return;
      rest.current = at;
      schedule();
    });
  });
  const ref = useDrawing(
    hub,
    (paint, canvas) => {
      const { selection } = useSession.getState();
      const hidden = hiddenNow();
      const { x, y, zoom } = hub.viewport;
      const at = rest.current;
      const pointed = at === null ? null : scene.nodeAt({ x: (at.x - x) / zoom, y: (at.y - y) / zoom });
      drawOverview(
        canvas,
        scene,
        hub.viewport,
        hub.size,
        paint,
        new Set(selection.nodes),
        (line) => !isOutOfSight(line, hidden, selection),
        pointed,
      );
    },
    follow,
  );
  return (
    <canvas
      ref={ref}
      className="absolute inset-0 pointer-events-none size-full"
      data-testid={shellIds.overview}
      aria-hidden
    />
  );
}

const MAP = { width: 176, height: 112 };
/** On a canvas without room for it, where a person wants it all the same. */
const SMALL_MAP = { width: 112, height: 72 };
const mapOf = ({ size }: ViewHub) => (isRoomy(size) ? MAP : SMALL_MAP);

/** The minimap, while there is something of the graph that is not in view. */
export function Minimap({ hub }: { hub: ViewHub }) {
  const all = useSyncExternalStore(
    (listener) => {
      const stops = [hub.subscribe(listener), scene.subscribe(listener)];
      return () => stops.forEach((stop) => stop());
    },
    () => {
      const bounds = scene.bounds();
      return bounds === null || hub.shows(bounds);
    },
  );
  return all ? null : <MinimapDrawing hub={hub} />;
}

function MinimapDrawing({ hub }: { hub: ViewHub }) {
  const scale = useRef<{ scale: number; left: number; top: number } | null>(null);
  const [picture] = useState(() => new MinimapPicture());
  const ref = useDrawing(hub, (paint, canvas) => {
    scale.current = picture.draw(canvas, scene, hub.viewport, hub.size, mapOf(hub), paint);
  });
  const size = useView(hub, mapOf);
  const go = (event: PointerEvent<HTMLCanvasElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const map = scale.current;
    if (!map) return;
    hub.centre({
      x: (event.clientX - box.left - map.left) / map.scale,
      y: (event.clientY - box.top - map.top) / map.scale,
    });
  };
  return (
    <canvas
      ref={ref}
      className="absolute left-2 bottom-11 z-10 border border-line rounded-lg bg-surface-1 cursor-crosshair touch-none [@container_(max-width:300px)_or_(max-height:200px)]:hidden"
      style={size}
      title={t("canvas.minimap.hint")}
      data-testid={shellIds.minimap}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        go(event);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) go(event);
      }}
    />
  );
}

/** The dots: one layer moved by less than a tile, so that a pan is composited and not painted. */
export function Dots({ hub }: { hub: ViewHub }) {
  const ref = useRef<HTMLDivElement>(null);
  const overview = useCanvas((state) => state.overview);
  useEffect(() => {
    const apply = () => {
      const layer = ref.current;
      if (!layer) return;
      const { x, y, zoom } = hub.viewport;
      const step = 24 * zoom * (zoom < 0.6 ? 2 : 1);
      layer.style.backgroundSize = `${step}px ${step}px`;
      layer.style.transform = `translate(${(x % step) - step}px, ${(y % step) - step}px)`;
    };
    apply();
    return hub.subscribe(apply);
  }, [hub]);
  return overview ? null : (
    <div
      ref={ref}
      className="absolute top-0 -right-20 -bottom-20 left-0 bg-[radial-gradient(circle,var(--canvas-dot)_1px,transparent_1.2px)] pointer-events-none"
      aria-hidden
    />
  );
}

/** The zoom in words; the only part of the view that React renders. */
export function ZoomValue({ hub }: { hub: ViewHub }) {
  const percent = useView(hub, (view) => Math.round(view.viewport.zoom * 100));
  return <span className="tabular-nums">{percent} %</span>;
}
