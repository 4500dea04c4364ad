/**
 * Names of the far drawing: none lies on another one. The most important come first, and their number in a frame is
 * limited, so that a large graph costs the same. A name without room for all of it is cut, or left out.
 */
import { END, START } from "../document/types";
import { t } from "../lib/texts";
import type { Rect } from "./geometry";
import type { Paint } from "./overview";
import type { Viewport } from "./viewport";
import type { Scene } from "./window";

const NAME_FONT = '600 11px "Inter Variable", sans-serif';
/** Names that are looked at in a frame. */
export const MOST_NAMES = 300;
/** Height of a name, and from its lower edge to its block. */
const HEIGHT = 12;
const ABOVE = 2;
/** A block as close as this over another one leaves no room for a name. */
const CLOSE = 5;
/** Between two names, and from a name to the block at its right. */
const GAP = 5;
/** Narrower than this a name says nothing. */
const LEAST_WIDTH = 40;
/** Names that need no room of their own are cut here. */
const WHOLE_WIDTH = 180;
/** Lines at a node that make it a hub, which has a name where others have no room for one. */
const HUB = 5;

/** What a node is to a reader of its name. */
export type NameRank = "urgent" | "frame" | "terminal" | "plain";

const DEGREES = 16;
const SPREAD = 8;
const BUCKETS = 3 + DEGREES * SPREAD;

/** A part of a row that a name takes. */
interface Span {
  readonly left: number;
  readonly right: number;
  readonly top: number;
}

/** A name with its place: the left upper corner. */
interface Placed {
  readonly name: string;
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** Hides most of the lines behind a name, and of a block that it lies on. */
const GROUND = 0.8;

/** The rows of the screen with the names in them. */
class Occupied {
  readonly #rows = new Map<number, Span[]>();

  /** Reads how much room there is to the right of a point, up to `wanted`. */
  room(left: number, top: number, wanted: number): number {
    let room = wanted;
    const row = Math.floor(top / HEIGHT);
    for (let each = row - 1; each <= row + 1; each += 1)
      for (const span of this.#rows.get(each) ?? []) {
        if (Math.abs(span.top - top) >= HEIGHT || span.right + GAP <= left) continue;
        room = Math.min(room, span.left - GAP - left);
      }
    return room;
  }

  take(left: number, top: number, width: number): void {
    const row = Math.floor(top / HEIGHT);
    const spans = this.#rows.get(row) ?? [];
    spans.push({ left, right: left + width, top });
    this.#rows.set(row, spans);
  }
}

/** Widths of texts in the font of names, until there are too many. */
const widths = new Map<string, number>();
const MOST_WIDTHS = 20_000;

function widthOf(context: CanvasRenderingContext2D, text: string): number {
  let width = widths.get(text);
  if (width === undefined) {
    if (widths.size > MOST_WIDTHS) widths.clear();
    width = context.measureText(text).width;
    widths.set(text, width);
  }
  return width;
}

/** Names among equals, by their letters: spread over the graph, and the same ones in every frame. */
function spreadOf(name: string): number {
  let hash = 7;
  for (let index = 0; index < name.length; index += 1) hash = (hash * 31 + name.charCodeAt(index)) | 0;
  return (hash ^ (hash >>> 7) ^ (hash >>> 13)) & (SPREAD - 1);
}

interface Order {
  version: number;
  at: number;
  readonly buckets: Map<string, number>;
}

const orders = new WeakMap<Scene, Order>();
/** While a graph changes, as by a drag, degrees are counted again this often. */
const COUNTED_MS = 500;

function orderOf(scene: Scene): Order {
  const now = performance.now();
  const known = orders.get(scene);
  if (known && (known.version === scene.version || now - known.at < COUNTED_MS)) return known;
  const order = { version: scene.version, at: now, buckets: new Map<string, number>() };
  orders.set(scene, order);
  return order;
}

/** The names of one frame: all nodes in view are added, and the best of them are drawn. */
export class OverviewNames {
  readonly #scene: Scene;
  readonly #order: Order;
  readonly #buckets: string[][] = [];
  readonly #urgent = new Set<string>();

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#order = orderOf(scene);
  }

  add(name: string, rank: NameRank): void {
    if (rank === "urgent") this.#urgent.add(name);
    const index = rank === "urgent" ? 0 : rank === "frame" ? 1 : rank === "terminal" ? 2 : this.#plain(name);
    (this.#buckets[index] ??= []).push(name);
  }

  #plain(name: string): number {
    let bucket = this.#order.buckets.get(name);
    if (bucket === undefined) {
      const degree = Math.min(DEGREES - 1, this.#scene.doc.edgesOf(name).length);
      bucket = 3 + (DEGREES - 1 - degree) * SPREAD + spreadOf(name);
      this.#order.buckets.set(name, bucket);
    }
    return bucket;
  }

  /** Draws them; `alphaOf` is how strong the block of a node is. */
  draw(
    context: CanvasRenderingContext2D,
    viewport: Viewport,
    paint: Paint,
    alphaOf: (name: string) => number,
  ): void {
    const occupied = new Occupied();
    context.font = NAME_FONT;
    context.textBaseline = "bottom";
    const drawn: Placed[] = [];
    let left = MOST_NAMES;
    for (let index = 0; index < BUCKETS && left > 0; index += 1)
      for (const name of this.#buckets[index] ?? []) {
        if (left === 0) break;
        left -= 1;
        const hub = index >= 3 && DEGREES - 1 - Math.floor((index - 3) / SPREAD) >= HUB;
        const placed = this.#place(context, name, { free: index < 3, hub }, viewport, occupied);
        if (placed) drawn.push(placed);
      }
    // All grounds before all texts: each change of colour costs as much as a text.
    context.fillStyle = paint.canvas;
    for (const { name, x, y, width } of drawn) {
      context.globalAlpha = alphaOf(name) * GROUND;
      context.fillRect(x - 2, y - 1, width + 4, HEIGHT + 1);
    }
    context.fillStyle = paint.text;
    for (const { name, text, x, y, width } of drawn) {
      context.globalAlpha = alphaOf(name);
      context.fillText(text, x, y + HEIGHT, width + 1);
    }
    context.globalAlpha = 1;
  }

  /** Finds the place of a name; null where it has no room. */
  #place(
    context: CanvasRenderingContext2D,
    name: string,
    { free, hub }: { free: boolean; hub: boolean },
    viewport: Viewport,
    occupied: Occupied,
  ): Placed | null {
    const rect = this.#scene.rect(name);
    if (!rect) return null;
    const text = shownName(name);
    const whole = widthOf(context, text);
    const end = (rect.x + rect.width) * viewport.zoom + viewport.x;
    // Before Start is nothing; the first node is close behind it.
    const x = name === START ? end - whole : rect.x * viewport.zoom + viewport.x;
    const above = rect.y * viewport.zoom + viewport.y - ABOVE - HEIGHT;
    const below = (rect.y + rect.height) * viewport.zoom + viewport.y + ABOVE;
    const wanted = Math.min(whole, WHOLE_WIDTH);
    const own = free ? wanted : this.#column(name, rect, viewport, wanted);
    // Where blocks are too close for names, those of hubs lie on them.
    const over = free || (own < Math.min(wanted, LEAST_WIDTH) && hub);
    if (!over && own < Math.min(wanted, LEAST_WIDTH)) return null;
    for (const y of this.#urgent.has(name) ? [above, below] : [above]) {
      const room = occupied.room(x, y, over ? wanted : own);
      if (room < Math.min(wanted, LEAST_WIDTH)) continue;
      const [shown, width] = room >= whole ? [text, whole] : cut(context, text, whole, room);
      occupied.take(x, y, width);
      return { name, text: shown, x, y, width };
    }
    return null;
  }

  /** The room over a block: to the next one at its right, which has a name too, and none where one is close over it. */
  #column(name: string, rect: Rect, { zoom }: Viewport, wanted: number): number {
    const over = CLOSE / zoom;
    const height = over + (HEIGHT + ABOVE) / zoom;
    const area = { x: rect.x, y: rect.y - over, width: (wanted + GAP) / zoom, height };
    let room = wanted;
    for (const other of this.#scene.nodesIn(area)) {
      if (other === name || this.#scene.liesBehind(other)) continue;
      const near = this.#scene.rect(other);
      const under = near && near.y >= rect.y && near.x < rect.x + rect.width;
      if (near && !under) room = Math.min(room, (near.x - rect.x) * zoom - GAP);
    }
    return room;
  }
}

/** The beginning of a text that has room, with an ellipsis, and how wide that is. */
function cut(
  context: CanvasRenderingContext2D,
  text: string,
  whole: number,
  room: number,
): readonly [string, number] {
  const letters = Math.max(1, Math.floor((text.length * (room - widthOf(context, "…"))) / whole));
  return [`${text.slice(0, letters).trimEnd()}…`, room];
}

const shownName = (name: string) =>
  name === START ? t("canvas.start") : name === END ? t("canvas.end") : name;

/** Draws the whole name of the node under the pointer, within the view. */
export function drawPointed(
  context: CanvasRenderingContext2D,
  scene: Scene,
  name: string,
  { x, y, zoom }: Viewport,
  size: { readonly width: number; readonly height: number },
  paint: Paint,
): void {
  const rect = scene.rect(name);
  if (!rect) return;
  context.font = NAME_FONT;
  context.textBaseline = "bottom";
  const text = shownName(name);
  const [pad, height] = [6, HEIGHT + 8];
  const width = Math.min(size.width - 8, widthOf(context, text) + 2 * pad);
  const left = Math.max(4, Math.min(size.width - width - 4, rect.x * zoom + x));
  const over = rect.y * zoom + y - height - 4;
  const top = over >= 4 ? over : Math.min(size.height - height - 4, (rect.y + rect.height) * zoom + y + 4);
  context.fillStyle = paint.node;
  context.strokeStyle = paint.accent;
  context.lineWidth = 1;
  context.fillRect(left, top, width, height);
  context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
  context.fillStyle = paint.text;
  context.fillText(text, left + pad, top + height - 4, width - 2 * pad);
}
