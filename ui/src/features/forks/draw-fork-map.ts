/**
 * Draws the part of the fork map that is in sight on a canvas element: lines of branches, the checkpoints on them, what
 * is folded. The work is that of what is seen, however long the thread is.
 */
import {
  columnAt,
  type Column,
  type Columns,
  isStretch,
  LANE,
  type Lanes,
  nodeAt,
  xOf,
} from "../../debugger/timeline/fork-map";
import { type Chain, depthOf, type ForkGraph, type ForkNode } from "../../debugger/timeline/forks";
import { t } from "../../lib/texts";
import { shape } from "./shapes";

export const BRANCH_COLORS = 6;

export interface Palette {
  readonly branches: readonly string[];
  readonly line: string;
  readonly text: string;
  readonly surface: string;
  readonly asking: string;
  readonly failed: string;
  readonly paused: string;
  readonly accent: string;
  readonly soft: string;
  readonly font: string;
}

export function paletteOf(element: Element): Palette {
  const styles = getComputedStyle(element);
  const token = (name: string) => styles.getPropertyValue(name).trim();
  return {
    branches: Array.from({ length: BRANCH_COLORS }, (_, at) => token(`--branch-${at + 1}`)),
    line: token("--line-strong"),
    text: token("--text-2"),
    surface: token("--surface-1"),
    asking: token("--asking"),
    failed: token("--failed"),
    paused: token("--paused"),
    accent: token("--accent"),
    soft: token("--accent-soft"),
    font: `11px ${styles.fontFamily}`,
  };
}

export interface Scene {
  readonly graph: ForkGraph;
  readonly columns: Columns;
  readonly lanes: Lanes;
  /** The way to the moment that is shown: the last place of each branch on it. */
  readonly way: ReadonlyMap<Chain, number>;
  /** The moment that is shown; undefined is now. */
  readonly cursor: ForkNode | undefined;
  /** Branches that begin after it. */
  readonly later: ReadonlySet<Chain>;
  readonly compared: ForkNode | undefined;
  readonly hovered: ForkNode | undefined;
  /** The upper end of a lane. */
  top(lane: number): number;
}

export interface View {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const colorOf = (palette: Palette, chain: Chain): string =>
  palette.branches[chain.index % BRANCH_COLORS] ?? palette.line;

/** What comes after the moment is fainter. */
const FUTURE = 0.38;

export function draw(pen: CanvasRenderingContext2D, scene: Scene, view: View, palette: Palette): number {
  const { columns, lanes } = scene;
  pen.clearRect(0, 0, view.width, view.height);
  pen.font = palette.font;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineCap = "round";
  const firstColumn = columnAt(columns, view.x);
  const lastColumn = columnAt(columns, view.x + view.width);
  const seen: Seen = {
    from: columns.list[firstColumn]?.from ?? 0,
    to: columns.list[lastColumn]?.to ?? -1,
    columns: columns.list.slice(firstColumn, lastColumn + 1),
  };
  const painter: Painter = { pen, scene, view, palette, drawn: 0 };
  for (const chain of lanes.chains) {
    if (!chain.from) continue;
    const [upper, lower] = [middle(painter, chain.from.chain), middle(painter, chain)];
    if (lower < 0 || upper > view.height) continue;
    drawFork(painter, chain, chain.from, upper, lower);
  }
  lanes.chains.forEach((chain, lane) => {
    const y = scene.top(lane) - view.y;
    if (y + LANE < 0 || y > view.height) return;
    drawLane(painter, chain, y + LANE / 2, seen);
  });
  return painter.drawn;
}

interface Seen {
  readonly from: number;
  readonly to: number;
  readonly columns: readonly Column[];
}

interface Painter {
  readonly pen: CanvasRenderingContext2D;
  readonly scene: Scene;
  readonly view: View;
  readonly palette: Palette;
  drawn: number;
}

const middle = ({ scene, view }: Painter, chain: Chain): number =>
  scene.top(scene.lanes.of.get(chain) ?? 0) - view.y + LANE / 2;

function isLater({ scene }: Painter, node: ForkNode): boolean {
  const { cursor, later } = scene;
  return later.has(node.chain) || (cursor?.chain === node.chain && node.at > cursor.at);
}

/** The line from where a branch parted down to its lane. */
function drawFork(painter: Painter, chain: Chain, from: ForkNode, upper: number, lower: number): void {
  const { pen, scene, view, palette } = painter;
  const x = xOf(scene.columns, depthOf(from)) - view.x;
  const to = xOf(scene.columns, chain.start) - view.x;
  if (to < -LANE || x > view.width + LANE) return;
  const bend = Math.min(10, (to - x) / 2, lower - upper);
  pen.globalAlpha = scene.later.has(chain) ? FUTURE : 1;
  pen.strokeStyle = colorOf(palette, chain);
  pen.lineWidth = scene.way.has(chain) ? 3 : 1.5;
  pen.beginPath();
  pen.moveTo(x, upper);
  pen.lineTo(x, lower - bend);
  pen.quadraticCurveTo(x, lower, x + bend, lower);
  pen.lineTo(to, lower);
  pen.stroke();
  pen.globalAlpha = 1;
  painter.drawn += 1;
}

function drawLane(painter: Painter, chain: Chain, y: number, seen: Seen): void {
  const { pen, scene, view, palette } = painter;
  const end = chain.start + chain.nodes.length - 1;
  if (end < seen.from || chain.start > seen.to) return;
  const color = colorOf(palette, chain);
  const at = (depth: number) => xOf(scene.columns, depth) - view.x;
  const [from, to] = [at(Math.max(chain.start, seen.from - 1)), at(Math.min(end, seen.to + 1))];
  // On the way to the moment the line is strong; what comes after it is faint.
  const last = scene.way.get(chain);
  const cursor = scene.cursor?.chain === chain ? scene.cursor : undefined;
  const turn = last === undefined ? from : Math.max(from, Math.min(to, at(chain.start + last)));
  pen.strokeStyle = color;
  if (last !== undefined) line(pen, from, turn, y, 3);
  pen.globalAlpha = cursor || scene.later.has(chain) ? FUTURE : 1;
  line(pen, turn, to, y, 1.5);
  pen.globalAlpha = 1;
  painter.drawn += 1;
  for (const column of seen.columns) {
    if (column.to < chain.start) continue;
    if (column.from > end) break;
    if (isStretch(column)) drawStretch(painter, chain, column, y, color);
    else {
      const node = nodeAt(chain, column.from);
      if (node) drawNode(painter, node, column.x + column.width / 2 - view.x, y, color);
    }
  }
}

function line(pen: CanvasRenderingContext2D, from: number, to: number, y: number, width: number): void {
  if (to <= from) return;
  pen.lineWidth = width;
  pen.beginPath();
  pen.moveTo(from, y);
  pen.lineTo(to, y);
  pen.stroke();
}

/** Folded steps: how many, on the line; the moment that is shown is a mark at its place among them. */
function drawStretch(painter: Painter, chain: Chain, column: Column, y: number, color: string): void {
  const { pen, scene, view, palette } = painter;
  const end = chain.start + chain.nodes.length - 1;
  const [first, last] = [Math.max(column.from, chain.start), Math.min(column.to, end)];
  const steps = last - first + 1;
  const node = nodeAt(chain, first);
  if (!node) return;
  const [left, right] = [xOf(scene.columns, first) - view.x - 6, xOf(scene.columns, last) - view.x + 6];
  const text = right - left > 46 ? t("forks.steps", { n: steps }) : String(steps);
  pen.globalAlpha = isLater(painter, node) ? FUTURE : 1;
  pen.fillStyle = palette.surface;
  pen.strokeStyle = color;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.roundRect(left, y - 8, Math.max(18, right - left), 16, 8);
  pen.fill();
  pen.stroke();
  pen.fillStyle = palette.text;
  pen.fillText(text, (left + right) / 2, y + 0.5);
  pen.globalAlpha = 1;
  painter.drawn += 1;
  for (const [mark, radius] of [
    [scene.hovered, 3],
    [scene.compared, 4],
    [scene.cursor, 5],
  ] as const) {
    if (mark?.chain !== chain || depthOf(mark) < column.from || depthOf(mark) > column.to) continue;
    const x = xOf(scene.columns, depthOf(mark)) - view.x;
    pen.fillStyle = mark === scene.cursor ? palette.accent : color;
    pen.strokeStyle = palette.surface;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.arc(x, y, radius, 0, Math.PI * 2);
    pen.fill();
    pen.stroke();
  }
}

function drawNode(painter: Painter, node: ForkNode, x: number, y: number, color: string): void {
  const { pen, scene, palette } = painter;
  const mark = scene.graph.markOf(node);
  pen.globalAlpha = isLater(painter, node) ? FUTURE : 1;
  if (node === scene.cursor || node === scene.compared) {
    pen.beginPath();
    pen.arc(x, y, 11, 0, Math.PI * 2);
    pen.fillStyle = palette.soft;
    pen.fill();
    pen.strokeStyle = palette.accent;
    pen.lineWidth = node === scene.cursor ? 2 : 1.5;
    pen.setLineDash(node === scene.cursor ? [] : [3, 3]);
    pen.stroke();
    pen.setLineDash([]);
  } else if (node === scene.hovered) {
    pen.beginPath();
    pen.arc(x, y, 10, 0, Math.PI * 2);
    pen.fillStyle = palette.surface;
    pen.fill();
    pen.strokeStyle = palette.line;
    pen.lineWidth = 1.5;
    pen.stroke();
  }
  const tone =
    { error: palette.failed, question: palette.asking, stop: palette.paused }[mark as string] ?? color;
  shape(pen, mark, x, y, tone, palette.surface);
  if (node.checkpoint.bookmark !== undefined)
    shape(pen, "bookmark", x, y - 8, palette.accent, palette.surface);
  pen.globalAlpha = 1;
  painter.drawn += 1;
}
