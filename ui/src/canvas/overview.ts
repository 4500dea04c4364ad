/**
 * The overview: below a legible zoom the graph is blocks and lines on one 2D canvas, in the colours of their states.
 * It reads the scene and the overlay and owns nothing; picking goes through the scene's R-tree.
 */
import { readOverlay, urgentOverlay, type NodeOverlay } from "../debugger/overlay/overlay";
import { type Overlay, wayOverlay } from "../debugger/overlay/overlay-model";
import { disabledOf } from "../document/disabled";
import { type LitRole, readLit } from "../document/highlighted-key";
import type { Point } from "../document/edits";
import { END, START } from "../document/types";
import { portOf, type Rect } from "./geometry";
import { cornersOf } from "./line-path";
import { type Scene } from "./window";
import { startOf, type Line } from "./lines";
import { drawPointed, OverviewNames } from "./overview-names";
import { type Size, type Viewport } from "./viewport";

export interface Paint {
  readonly canvas: string;
  readonly node: string;
  readonly line: string;
  readonly border: string;
  readonly accent: string;
  readonly text: string;
  readonly running: string;
  readonly done: string;
  readonly asking: string;
  readonly failed: string;
  readonly view: string;
}

/** The colours of the theme as the canvas element needs them. */
export function readPaint(element: Element): Paint {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  return {
    canvas: colour("--canvas"),
    node: colour("--surface-2"),
    line: colour("--edge"),
    border: colour("--line-field"),
    accent: colour("--accent"),
    text: colour("--text-2"),
    running: colour("--running"),
    done: colour("--done"),
    asking: colour("--asking"),
    failed: colour("--failed"),
    view: colour("--accent"),
  };
}

function fillOf(state: string | undefined, paint: Paint): string | null {
  switch (state) {
    case "running":
    case "next":
      return paint.running;
    case "done":
      return paint.done;
    case "asking":
      return paint.asking;
    case "failed":
    case "rerouted":
      return paint.failed;
    default:
      return null;
  }
}

/** Sizes the element for the screen's pixels and answers a cleared context in CSS pixels. */
function prepare(canvas: HTMLCanvasElement, size: Size): CanvasRenderingContext2D | null {
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  const width = Math.round(size.width * ratio);
  const height = Math.round(size.height * ratio);
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const context = canvas.getContext("2d");
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  context?.clearRect(0, 0, size.width, size.height);
  return context;
}

/** Lines are left out when there are so many that they would only be a smear. */
const MAX_LINES = 6000;

export function drawOverview(
  canvas: HTMLCanvasElement,
  scene: Scene,
  viewport: Viewport,
  size: Size,
  paint: Paint,
  selected: ReadonlySet<string>,
  shown: (line: Line) => boolean = () => true,
  pointed: string | null = null,
): void {
  const context = prepare(canvas, size);
  if (!context) return;
  const { x, y, zoom } = viewport;
  const area: Rect = { x: -x / zoom, y: -y / zoom, width: size.width / zoom, height: size.height / zoom };
  const overlay = readOverlay();
  const lines = scene.linesIn(area).filter(shown);
  if (lines.length <= MAX_LINES) {
    context.strokeStyle = paint.line;
    context.lineWidth = 1;
    context.globalAlpha = zoom < 0.12 ? 0.45 : 0.8;
    context.beginPath();
    for (const line of lines) {
      const from = scene.rect(line.from);
      const to = scene.rect(line.to);
      if (!from || !to) continue;
      trace(context, cornersOf(line, startOf(line, from), portOf(to, "in")), viewport);
    }
    context.stroke();
    context.globalAlpha = 1;
    drawTaken(context, scene, lines, viewport, paint, overlay.edges);
  }
  const names = scene.nodesIn(area);
  const lit = readLit();
  const titles = new OverviewNames(scene);
  const alphaOf = (name: string) => {
    if (lit !== null && !lit.has(name) && !scene.liesBehind(name)) return 0.35;
    return disabledOf(scene.doc.get(`node:${name}`)) === null ? 1 : 0.5;
  };
  context.lineWidth = 1;
  const solid = names.filter((name) => !scene.liesBehind(name));
  drawFrames(context, scene, names, viewport, paint, titles);
  for (const name of solid) {
    const rect = scene.rect(name);
    if (!rect) continue;
    const state = stateOf(scene, overlay, name);
    const fill = fillOf(state, paint);
    const left = rect.x * zoom + x;
    const top = rect.y * zoom + y;
    const width = Math.max(2, rect.width * zoom);
    const height = Math.max(2, rect.height * zoom);
    const disabled = disabledOf(scene.doc.get(`node:${name}`)) !== null;
    const role = lit?.get(name);
    context.globalAlpha = lit !== null && role === undefined ? 0.35 : disabled ? 0.5 : 1;
    context.fillStyle = fill ?? paint.node;
    context.strokeStyle = selected.has(name) ? paint.accent : paint.border;
    context.fillRect(left, top, width, height);
    if (width > 5) {
      context.lineWidth = selected.has(name) ? 2 : 1;
      if (disabled) context.setLineDash([3, 3]);
      context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
      context.setLineDash([]);
    }
    if (role !== undefined) drawRole(context, role, left, top, width, paint.accent);
    if (disabled) drawOff(context, left, top, width, height, paint.text);
    if (state !== undefined)
      drawMark(context, state, left, top, width, height, fill === null ? paint.text : paint.node);
    context.lineWidth = 1;
    context.globalAlpha = 1;
    const urgent = selected.has(name) || (state !== undefined && URGENT.has(state));
    titles.add(name, urgent ? "urgent" : name === START || name === END ? "terminal" : "plain");
  }
  titles.draw(context, viewport, paint, alphaOf);
  if (pointed !== null) drawPointed(context, scene, pointed, viewport, size, paint);
}

/** States whose nodes a person looks for: their names come first. */
const URGENT: ReadonlySet<string> = new Set(["failed", "asking", "running", "next", "waiting"]);

function trace(context: CanvasRenderingContext2D, corners: readonly Point[], { x, y, zoom }: Viewport): void {
  corners.forEach((corner, index) => {
    const [left, top] = [corner.x * zoom + x, corner.y * zoom + y];
    if (index === 0) context.moveTo(left, top);
    else context.lineTo(left, top);
  });
}

/** What a node does with the key that is shown: a filled mark at its corner writes it, a ring reads it. */
function drawRole(
  context: CanvasRenderingContext2D,
  role: LitRole,
  left: number,
  top: number,
  width: number,
  colour: string,
): void {
  const radius = Math.max(2, Math.min(5, width / 6));
  context.strokeStyle = colour;
  context.fillStyle = colour;
  context.lineWidth = Math.max(1, radius / 2.5);
  context.beginPath();
  context.arc(left, top, radius, 0, 2 * Math.PI);
  if (role === "reads") context.stroke();
  else context.fill();
  if (role !== "both") return;
  context.beginPath();
  context.arc(left, top, radius * 1.8, 0, 2 * Math.PI);
  context.stroke();
}

/** The sign of a disabled node: a circle that is struck through. */
function drawOff(
  context: CanvasRenderingContext2D,
  left: number,
  top: number,
  width: number,
  height: number,
  colour: string,
): void {
  const radius = Math.min(7, Math.min(width, height) * 0.35);
  if (radius * 2 < LEAST_MARK) return;
  const [x, y] = [left + width / 2, top + height / 2];
  const slant = radius * Math.SQRT1_2;
  context.strokeStyle = colour;
  context.lineWidth = Math.max(1, radius / 4);
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.moveTo(x - slant, y - slant);
  context.lineTo(x + slant, y + slant);
  context.stroke();
}

/** The state of a node; of a folded frame that of the node in it that most wants attention. */
function stateOf(scene: Scene, overlay: Overlay, name: string): NodeOverlay["state"] | undefined {
  const held = scene.heldBy(name);
  return held.length > 0 ? urgentOverlay(held).state : overlay.nodes.get(name)?.state;
}

/** A smaller frame has no name. */
const LEAST_FRAME = 24;

/** Frames are borders with a name: what lies in them is drawn over them. */
function drawFrames(
  context: CanvasRenderingContext2D,
  scene: Scene,
  names: readonly string[],
  { x, y, zoom }: Viewport,
  paint: Paint,
  titles: OverviewNames,
): void {
  context.strokeStyle = paint.border;
  for (const name of names) {
    const rect = scene.liesBehind(name) ? scene.rect(name) : undefined;
    if (!rect) continue;
    const [left, top, width] = [rect.x * zoom + x, rect.y * zoom + y, rect.width * zoom];
    context.strokeRect(left, top, width, rect.height * zoom);
    if (width > LEAST_FRAME) titles.add(name, "frame");
  }
}

/** The lines that were taken, stronger, at every zoom. */
export function drawTaken(
  context: CanvasRenderingContext2D,
  scene: Scene,
  lines: readonly Line[],
  viewport: Viewport,
  paint: Paint,
  edges: Overlay["edges"],
): void {
  const { x, y, zoom } = viewport;
  context.strokeStyle = paint.text;
  context.fillStyle = paint.text;
  context.lineWidth = 2;
  context.font = '600 10px "Inter Variable", sans-serif';
  context.textBaseline = "bottom";
  for (const line of lines) {
    const { from, to, lane, pass } = line;
    const times = wayOverlay(edges, line).times;
    const source = scene.rect(from);
    const target = scene.rect(to);
    if (times === 0 || !source || !target) continue;
    const a = startOf(line, source);
    const b = portOf(target, "in");
    context.beginPath();
    trace(context, cornersOf(line, a, b), viewport);
    context.stroke();
    // In the middle of the line, where no name stands.
    if (times > 1 && zoom > 0.15) {
      const middle = lane ?? pass?.y ?? (a.y + b.y) / 2;
      context.fillText(`×${times}`, ((a.x + b.x) / 2) * zoom + x - 6, middle * zoom + y - 3);
    }
  }
}

type Stroke = readonly (readonly [x: number, y: number])[];
/** The marks of the states as strokes in a square of 1, so that no state is shown by its colour alone. */
export const MARKS: Readonly<Record<string, readonly Stroke[]>> = {
  done: [
    [
      [0.15, 0.55],
      [0.4, 0.8],
      [0.85, 0.25],
    ],
  ],
  failed: [
    [
      [0.2, 0.2],
      [0.8, 0.8],
    ],
    [
      [0.8, 0.2],
      [0.2, 0.8],
    ],
  ],
  rerouted: [
    [
      [0.2, 0.15],
      [0.2, 0.6],
      [0.85, 0.6],
    ],
    [
      [0.6, 0.35],
      [0.85, 0.6],
      [0.6, 0.85],
    ],
  ],
  asking: [
    [
      [0.28, 0.3],
      [0.4, 0.15],
      [0.62, 0.15],
      [0.72, 0.32],
      [0.5, 0.52],
      [0.5, 0.66],
    ],
    [
      [0.5, 0.84],
      [0.5, 0.9],
    ],
  ],
  running: [
    [
      [0.15, 0.2],
      [0.45, 0.5],
      [0.15, 0.8],
    ],
    [
      [0.55, 0.2],
      [0.85, 0.5],
      [0.55, 0.8],
    ],
  ],
  next: [
    [
      [0.3, 0.15],
      [0.8, 0.5],
      [0.3, 0.85],
      [0.3, 0.15],
    ],
  ],
  waiting: [
    [
      [0.35, 0.2],
      [0.35, 0.8],
    ],
    [
      [0.65, 0.2],
      [0.65, 0.8],
    ],
  ],
};
/** Smaller than this a mark is only a smear. */
const LEAST_MARK = 5;

/** The mark of a state, as large as its block allows. */
export function drawMark(
  context: CanvasRenderingContext2D,
  state: string,
  left: number,
  top: number,
  width: number,
  height: number,
  colour = "#000",
): void {
  const size = Math.min(16, Math.min(width, height) * 0.8);
  const strokes = MARKS[state];
  if (strokes === undefined || size < LEAST_MARK) return;
  context.strokeStyle = colour;
  context.lineWidth = Math.max(1.25, size / 8);
  for (const stroke of strokes) {
    context.beginPath();
    stroke.forEach(([x, y], index) => {
      const at = [left + (width - size) / 2 + x * size, top + (height - size) / 2 + y * size] as const;
      if (index === 0) context.moveTo(...at);
      else context.lineTo(...at);
    });
    context.stroke();
  }
}

/** The blocks of the small picture, kept while neither the graph nor the states nor the colours change. */
export class MinimapPicture {
  #picture: HTMLCanvasElement | null = null;
  #key: readonly unknown[] = [];

  /** Draws the picture and the frame of the view. Answers how graph coordinates became pixels, for picking. */
  draw(
    canvas: HTMLCanvasElement,
    scene: Scene,
    viewport: Viewport,
    view: Size,
    size: Size,
    paint: Paint,
  ): { scale: number; left: number; top: number } | null {
    const context = prepare(canvas, size);
    const bounds = scene.bounds();
    if (!context || !bounds) return null;
    const pad = 8;
    const scale = Math.min(
      (size.width - pad * 2) / bounds.width,
      (size.height - pad * 2) / bounds.height,
      0.2,
    );
    const left = size.width / 2 - (bounds.x + bounds.width / 2) * scale;
    const top = size.height / 2 - (bounds.y + bounds.height / 2) * scale;
    const key = [scene.version, readOverlay(), paint, size.width, size.height];
    if (!this.#picture || key.some((each, index) => each !== this.#key[index])) {
      this.#key = key;
      this.#picture ??= document.createElement("canvas");
      const blocks = prepare(this.#picture, size);
      if (blocks) drawBlocks(blocks, scene, paint, scale, left, top);
    }
    context.drawImage(this.#picture, 0, 0, size.width, size.height);
    context.strokeStyle = paint.view;
    context.lineWidth = 1.5;
    const clip = (low: number, length: number, limit: number): [number, number] => {
      const from = Math.max(1, low);
      return [from, Math.max(4, Math.min(limit - 1, low + length) - from)];
    };
    const [x, width] = clip(
      (-viewport.x / viewport.zoom) * scale + left,
      (view.width / viewport.zoom) * scale,
      size.width,
    );
    const [y, height] = clip(
      (-viewport.y / viewport.zoom) * scale + top,
      (view.height / viewport.zoom) * scale,
      size.height,
    );
    context.strokeRect(x, y, width, height);
    return { scale, left, top };
  }
}

function drawBlocks(
  context: CanvasRenderingContext2D,
  scene: Scene,
  paint: Paint,
  scale: number,
  left: number,
  top: number,
): void {
  const overlay = readOverlay();
  for (const [name, rect] of scene.rects()) {
    if (scene.liesBehind(name)) continue;
    context.fillStyle = fillOf(stateOf(scene, overlay, name), paint) ?? paint.border;
    context.fillRect(
      rect.x * scale + left,
      rect.y * scale + top,
      Math.max(1.5, rect.width * scale),
      Math.max(1.5, rect.height * scale),
    );
  }
}
