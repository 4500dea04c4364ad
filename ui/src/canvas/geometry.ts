/**
 * Sizes, ports and lines, all computed from the document: nothing on the canvas is ever measured. Every figure is a
 * multiple of the 4-pixel grid.
 */
import type { Point } from "../document/edits";
import { pointerGet } from "../document/pointer";
import { isObject, type Json, type NodeRecord } from "../document/types";

export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export const NODE_WIDTH = 216;
export const HEAD = 44;
const ROW = 18;
const ROWS_PAD = 8;
export const MAX_ROWS = 3;
export const PILL_WIDTH = 72;
export const PILL_HEIGHT = 28;
export const GRID = 4;
/** Where the wires meet a card, from its top. */
export const PORT_Y = HEAD / 2;

export interface CardRow {
  /** `into` rows say where the result goes. */
  readonly role: "text" | "code" | "into";
  readonly text: string;
}

/** The summary rows of a node: what its kind says is worth seeing, without empty ones. */
export function cardRows(node: NodeRecord, card: readonly string[]): CardRow[] {
  const rows: CardRow[] = [];
  for (const pointer of card) {
    const value = pointerGet(node.config, pointer);
    if (value === undefined || value === null || value === "") continue;
    if (pointer === "/into") rows.push({ role: "into", text: String(value) });
    else if (isObject(value)) {
      for (const [key, item] of Object.entries(value))
        rows.push({ role: "code", text: `${key} = ${inline(item)}` });
    } else {
      const text = Array.isArray(value) ? value.map(inline).join(", ") : firstLine(inline(value));
      if (text !== "")
        rows.push({ role: pointer === "/source" || pointer === "/query" ? "code" : "text", text });
    }
  }
  return rows.slice(0, MAX_ROWS);
}

function inline(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The first line that says something; comments of code are skipped when there is more. */
function firstLine(text: string): string {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return (lines.find((line) => !line.startsWith("//")) ?? lines[0] ?? "").slice(0, 120);
}

/** Height of a row with a named port, and the space around all of them. */
const PORT_ROW = 20;
const PORTS_PAD = 4;

/** What stands on a card under its head. */
export interface CardBody {
  /** Summary rows. */
  readonly rows: number;
  /** Named ports. */
  readonly ports?: number;
  /** A row over the ports with the expression that chooses among them. */
  readonly caption?: boolean;
}

export function cardHeight(body: CardBody): number {
  return portsTop(body) + portsHeight(body);
}

/** Height of the ports with what stands around them. */
export function portsHeight(body: CardBody): number {
  const { ports = 0 } = body;
  return ports === 0 ? 0 : captionHeight(body) + ports * PORT_ROW + 2 * PORTS_PAD;
}

/** Where the ports begin, from the top of the card. */
function portsTop({ rows }: CardBody): number {
  return rows === 0 ? HEAD : HEAD + rows * ROW + ROWS_PAD;
}

const captionHeight = ({ caption }: CardBody) => (caption === true ? PORT_ROW : 0);

/** The middle of a named port, from the top of the card. */
export function portRowY(body: CardBody, index: number): number {
  return portsTop(body) + PORTS_PAD + captionHeight(body) + index * PORT_ROW + PORT_ROW / 2;
}

export function portOf(rect: Rect, side: "in" | "out"): Point {
  const y = rect.y + (rect.height === PILL_HEIGHT ? PILL_HEIGHT / 2 : PORT_Y);
  return { x: side === "in" ? rect.x : rect.x + rect.width, y };
}

export function intersects(a: Rect, b: Rect): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

export function union(rects: Iterable<Rect>): Rect | null {
  let left = Infinity;
  let top = Infinity;
  let right = -Infinity;
  let bottom = -Infinity;
  for (const rect of rects) {
    left = Math.min(left, rect.x);
    top = Math.min(top, rect.y);
    right = Math.max(right, rect.x + rect.width);
    bottom = Math.max(bottom, rect.y + rect.height);
  }
  return left === Infinity ? null : { x: left, y: top, width: right - left, height: bottom - top };
}

// Lines

export const LABEL_HEIGHT = 20;
const LABEL_GAP = 4;
/** From the port to a label. */
export const LABEL_X = 20;
const LABEL_MAX = 148;
/** Signs of Chinese, Japanese and Korean, and full-width forms: as wide as they are high. */
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/g;
const NARROW = /[ijlI.,:;'|!()[\]/\s-]/g;
const SLIM = /[frt]/g;
const BROAD = /[mwMW@%]/g;
const count = (text: string, letters: RegExp): number => text.match(letters)?.length ?? 0;

/** Width of a label of 11 px mono text, with its padding. A letter is 6.6 px wide, where letters sit on whole pixels 7. */
export function labelWidth(text: string): number {
  return Math.min(LABEL_MAX, Math.max(28, text.length * 7 + count(text, WIDE) * 4 + 18));
}

/** About the width of semibold text of 12 px, as names have it in the middle drawing. */
export function nameWidth(text: string): number {
  const narrow = count(text, NARROW) * 3 + count(text, SLIM) * 2;
  return text.length * 7 - narrow + count(text, BROAD) * 3.5 + count(text, WIDE) * 5;
}

/** Distance between the lines' meeting point of a join and the port. */
export const JOIN_X = 20;

/** Vertical places for lines that leave one port, in the order of where they go; centred on the port. */
export function fanOffsets(count: number): number[] {
  const step = LABEL_HEIGHT + LABEL_GAP;
  return Array.from({ length: count }, (_, index) => (index - (count - 1) / 2) * step);
}

/** Must this line go round? It leads to the left of where it begins, or onto itself. */
export function isBack(source: Point, target: Point): boolean {
  return target.x < source.x + 8;
}

/** How far the ends of a curve lead on level. */
function reachOf(from: Point, to: Point): number {
  return Math.max(24, Math.min(140, Math.abs(to.x - from.x) / 2));
}

/** The same where it ends: shorter, so that lines into one port come apart early and each can be taken. */
const reachInto = (from: Point, to: Point): number => Math.min(48, reachOf(from, to));

/** A place of a curve, at a part of its way. */
export function curveAt(from: Point, to: Point, part: number): Point {
  const [reach, into] = [reachOf(from, to), reachInto(from, to)];
  const [a, b, c, d] = [(1 - part) ** 3, 3 * (1 - part) ** 2 * part, 3 * (1 - part) * part ** 2, part ** 3];
  return {
    x: a * from.x + b * (from.x + reach) + c * (to.x - into) + d * to.x,
    y: (a + b) * from.y + (c + d) * to.y,
  };
}

export function curve(from: Point, to: Point): string {
  const [reach, into] = [reachOf(from, to), reachInto(from, to)];
  return `M${from.x},${from.y} C${from.x + reach},${from.y} ${to.x - into},${to.y} ${to.x},${to.y}`;
}

/** From a port to where a line round the nodes turns, at least. */
export const TURN = 20;

/** A line round the nodes: out to the right, along `laneY`, and back in from the left. */
export function detour(from: Point, to: Point, laneY: number, inset = 0, outset = inset): string {
  const right = from.x + TURN + outset;
  const left = to.x - TURN - inset;
  const corner = 10;
  const down = laneY > from.y ? 1 : -1;
  const up = to.y < laneY ? -1 : 1;
  const r1 = Math.min(corner, Math.abs(laneY - from.y) / 2);
  const r2 = Math.min(corner, Math.abs(laneY - to.y) / 2);
  return [
    `M${from.x},${from.y}`,
    `L${right - r1},${from.y}`,
    `Q${right},${from.y} ${right},${from.y + down * r1}`,
    `L${right},${laneY - down * r1}`,
    `Q${right},${laneY} ${right - r1},${laneY}`,
    `L${left + r2},${laneY}`,
    `Q${left},${laneY} ${left},${laneY + up * r2}`,
    `L${left},${to.y - up * r2}`,
    `Q${left},${to.y} ${left + r2},${to.y}`,
    `L${to.x},${to.y}`,
  ].join(" ");
}

/** The lane of a way without an edge. Between two cards that lie one under the other, each direction a little apart; else under both. */
export function jumpLane(from: Rect, to: Rect): { y: number; inset: number } {
  const down = from.y + from.height < to.y;
  const up = to.y + to.height < from.y;
  if (!down && !up) return { y: Math.max(from.y + from.height, to.y + to.height) + 28, inset: 0 };
  const middle = down ? (from.y + from.height + to.y) / 2 : (to.y + to.height + from.y) / 2;
  return { y: middle + (down ? -6 : 6), inset: down ? 0 : 6 };
}

/** Do the segments ab and cd meet? Touching counts; lying along each other does not. */
export function crosses(a: Point, b: Point, c: Point, d: Point): boolean {
  const side = (p: Point, q: Point, r: Point) =>
    Math.sign((q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x));
  const abc = side(a, b, c);
  const abd = side(a, b, d);
  return abc !== abd && side(c, d, a) !== side(c, d, b);
}
