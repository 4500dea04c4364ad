/** The layers beside React Flow: the dots, the overview, the minimap. They follow the view without rendering React. */
import { useEffect, useRef, useState, useSyncExternalStore, type PointerEvent } from "react";
import { readOverlay } from "../debugger/overlay/overlay";
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

/** Draws again when something it shows has changed, at most once per frame. */
function useDrawing(hub: ViewHub, draw: (paint: Paint, canvas: HTMLCanvasElement) => void) {
  const ref = useRef<HTMLCanvasElement>(null);
  const latest = useRef(draw);
  latest.current = draw;
  useEffect(() => {
    const canvas = ref.current;
    if (!canvas) return;
    let paint = readPaint(canvas);
    let frame = 0;
    const schedule = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        latest.current(paint, canvas);
      });
    };
    const repaint = () => {
      paint = readPaint(canvas);
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
    ];
    schedule();
    return () => {
      cancelAnimationFrame(frame);
      clearInterval(timer);
      theme.disconnect();
      stops.forEach((stop) => stop());
    };
  }, [hub]);
  return ref;
}

export function Overview({ hub }: { hub: ViewHub }) {
  const ref = useDrawing(hub, (paint, canvas) => {
    const { selection } = useSession.getState();
    const hidden = hiddenNow();
    drawOverview(canvas, scene, hub.viewport, hub.size, paint, new Set(selection.nodes), (line) => {
      return !isOutOfSight(line, hidden, selection);
    });
  });
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
