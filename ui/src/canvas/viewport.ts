/** The view in numbers: what it shows, what of the scene is mounted for it, and how the graph is drawn at its zoom. */
import type { Rect } from "./geometry";
import type { Drawing } from "./store";

export interface Viewport {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Cells in which the window is counted: the view must move this far (on screen) before anything is mounted or removed. */
const CELL = 120;
/**
 * Mounted around the view, on screen, so that a pan meets no empty border. Not more: each card that is mounted costs every
 * frame of a pan.
 */
const OVERSCAN = 120;
/** Times what is seen. */
const MOST_BESIDES = 2.2;

/** The part of the scene that is mounted, and within it what is seen, to the next cell. */
export interface WindowArea extends Rect {
  readonly seen: Rect;
}

/** The part of the scene to mount for a view, snapped to cells; equal for views that need the same. */
export function windowArea(viewport: Viewport, size: Size): WindowArea {
  // Small cards are many: less of them is kept ready beside the view.
  const [ready, step] = drawingAt(viewport.zoom) === "near" ? [OVERSCAN, CELL] : [OVERSCAN / 2, CELL / 2];
  const cell = step / viewport.zoom;
  const pad = ready / viewport.zoom;
  const left = Math.floor((-viewport.x / viewport.zoom - pad) / cell) * cell;
  const top = Math.floor((-viewport.y / viewport.zoom - pad) / cell) * cell;
  const right = Math.ceil(((-viewport.x + size.width) / viewport.zoom + pad) / cell) * cell;
  const bottom = Math.ceil(((-viewport.y + size.height) / viewport.zoom + pad) / cell) * cell;
  const [width, height] = [right - left, bottom - top];
  const seen = { x: left + pad, y: top + pad, width: width - 2 * pad, height: height - 2 * pad };
  return { x: left, y: top, width, height, seen };
}

/** Does what is mounted do for another zoom? It covers the view, and not so much besides that it costs more than a change. */
export function stillServes(mounted: Rect, viewport: Viewport, size: Size): boolean {
  const { x, y, zoom } = viewport;
  const [left, top] = [-x / zoom, -y / zoom];
  const [width, height] = [size.width / zoom, size.height / zoom];
  const covers =
    mounted.x <= left &&
    mounted.y <= top &&
    mounted.x + mounted.width >= left + width &&
    mounted.y + mounted.height >= top + height;
  return covers && mounted.width <= width * MOST_BESIDES && mounted.height <= height * MOST_BESIDES;
}

/** The view that shows `bounds` whole, in the middle, never larger than life. */
export function fitView(bounds: Rect, size: Size, padding = 48, maxZoom = 1): Viewport {
  const zoom = Math.min(
    maxZoom,
    Math.max(1, size.width - padding * 2) / Math.max(1, bounds.width),
    Math.max(1, size.height - padding * 2) / Math.max(1, bounds.height),
  );
  const clamped = Math.max(MIN_ZOOM, zoom);
  return {
    x: size.width / 2 - (bounds.x + bounds.width / 2) * clamped,
    y: size.height / 2 - (bounds.y + bounds.height / 2) * clamped,
    zoom: clamped,
  };
}

/** Has a canvas room for the minimap, which would cover too much of a smaller one? */
export function isRoomy({ width, height }: Size): boolean {
  return width >= 640 && height >= 640;
}

/** Smaller than this a graph is not shown whole when it is opened. */
const LEAST_FIT = 0.3;
/** The zoom at which a graph begins that is too large for that. */
const BEGIN_ZOOM = 0.7;

/** The first view of a graph: whole when its names can be read so, else its beginning. */
export function firstView(bounds: Rect, size: Size): Viewport {
  const whole = fitView(bounds, size, 40);
  if (whole.zoom >= LEAST_FIT) return whole;
  const zoom = BEGIN_ZOOM;
  const fitsDown = bounds.height * zoom <= size.height - 96;
  const middle = size.height / 2 - (bounds.y + bounds.height / 2) * zoom;
  const wide = bounds.width * zoom > size.width - 96;
  return {
    x: wide ? 40 - bounds.x * zoom : size.width / 2 - (bounds.x + bounds.width / 2) * zoom,
    y: fitsDown ? middle : 48 - bounds.y * zoom,
    zoom,
  };
}

export const MIN_ZOOM = 0.01;
export const MAX_ZOOM = 2;
/** Below this the overview takes over: blocks in the colours of their states. */
export const OVERVIEW_ZOOM = 0.3;
/** Below this cards show their icon and name only, at a size that does not shrink any more. */
const MIDDLE_ZOOM = 0.62;

/** Steps of a twelfth of an octave by which a zoom is smaller than life, as a number that is not above 0. */
export const stepsBelow = (zoom: number): number => Math.min(0, Math.round(Math.log2(zoom) * 12));

/** How much larger than life something is drawn at a number of steps below it, to keep its size on the screen. */
export const unzoomAt = (steps: number): number => 2 ** (-steps / 12);

/** Below this a row of ways is too low for a text that can be read: its labels are told where a card is pointed at. */
const LABELS_ZOOM = 0.55;

export const hidesLabels = (zoom: number): boolean => zoom < LABELS_ZOOM;

export function drawingAt(zoom: number): Drawing {
  if (zoom < OVERVIEW_ZOOM) return "far";
  return zoom < MIDDLE_ZOOM ? "middle" : "near";
}
