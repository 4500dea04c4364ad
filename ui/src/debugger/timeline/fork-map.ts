/**
 * Where the fork map draws what: a row for each branch, a column for each place along the thread at which something
 * happened, and one column for a stretch in which every branch only made steps. Pure arithmetic; a view asks only for
 * what is in sight.
 */
import { type Chain, depthOf, type ForkGraph, type ForkNode } from "./forks";

export const LANE = 28;
const STEP = 26;
const STRETCH = 92;
const INSET = 20;
/** Inside of a stretch nothing is drawn so near to its ends. */
const MARGIN = 14;
/** Fewer places than this are not folded. */
const LEAST = 4;

export interface Column {
  readonly from: number;
  /** The last place in it. */
  readonly to: number;
  readonly x: number;
  readonly width: number;
}

export interface Columns {
  readonly list: readonly Column[];
  readonly width: number;
}

/** `opened` are checkpoints whose places are not folded. */
export function columnsOf(graph: ForkGraph, opened: ReadonlySet<string>, fold: boolean): Columns {
  const places = graph.busy.length;
  const kept = new Set<number>();
  for (const id of opened) {
    const node = graph.node(id);
    if (node) kept.add(depthOf(node));
  }
  const first = graph.chains.reduce((least, chain) => Math.min(least, chain.start), Infinity);
  const list: Column[] = [];
  let x = INSET;
  const push = (from: number, to: number, width: number) => {
    list.push({ from, to, x, width });
    x += width;
  };
  let plain = Number.isFinite(first) ? first : 0;
  const close = (end: number) => {
    if (end - plain >= LEAST) push(plain, end - 1, STRETCH);
    else for (let at = plain; at < end; at += 1) push(at, at, STEP);
  };
  for (let at = plain; at < places; at += 1) {
    if (fold && !graph.busy[at] && !kept.has(at)) continue;
    close(at);
    push(at, at, STEP);
    plain = at + 1;
  }
  close(places);
  return { list, width: x + INSET };
}

/** The last entry that is not after a value. */
function lastUpTo(list: readonly Column[], value: number, of: (column: Column) => number): number {
  let [low, high] = [0, list.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (of(list[middle] as Column) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

export const columnAt = ({ list }: Columns, x: number): number => lastUpTo(list, x, (column) => column.x);
const columnOf = ({ list }: Columns, depth: number): Column | undefined =>
  list[lastUpTo(list, depth, (column) => column.from)];

export const isStretch = ({ from, to }: Column): boolean => to > from;

/** Where a place along the thread is drawn. */
export function xOf(columns: Columns, depth: number): number {
  const column = columnOf(columns, depth);
  if (!column) return INSET;
  if (!isStretch(column)) return column.x + column.width / 2;
  const share = (Math.min(depth, column.to) - column.from) / (column.to - column.from);
  return column.x + MARGIN + share * (column.width - 2 * MARGIN);
}

/** The place that is drawn at or next to a point. */
export function depthAt(columns: Columns, x: number): number {
  const column = columns.list[columnAt(columns, x)];
  if (!column) return 0;
  const share = (x - column.x - MARGIN) / (column.width - 2 * MARGIN);
  return Math.round(column.from + Math.max(0, Math.min(1, share)) * (column.to - column.from));
}

export interface Lanes {
  /** From top to bottom. */
  readonly chains: readonly Chain[];
  readonly of: ReadonlyMap<Chain, number>;
}

/**
 * The first branch on top, and below each the ones that parted from it: those that parted last first, so that no line
 * crosses another.
 */
export function lanesOf(graph: ForkGraph): Lanes {
  const chains: Chain[] = [];
  const open = graph.chains.filter((chain) => !chain.from).toReversed();
  for (let chain = open.pop(); chain; chain = open.pop()) {
    chains.push(chain);
    const children = chain.children.toSorted(
      (a, b) => (a.from?.at ?? 0) - (b.from?.at ?? 0) || b.index - a.index,
    );
    // The last that is put in comes next.
    open.push(...children);
  }
  return { chains, of: new Map(chains.map((chain, at) => [chain, at])) };
}

/** The checkpoint of a branch at a place, when it has one there. */
export const nodeAt = (chain: Chain, depth: number): ForkNode | undefined => chain.nodes[depth - chain.start];

/** The checkpoint of a branch that is nearest to a place. */
function nearest(chain: Chain, depth: number): ForkNode {
  const at = Math.max(0, Math.min(chain.nodes.length - 1, depth - chain.start));
  return chain.nodes[at] as ForkNode;
}

/** Steps of a branch that are folded together with a checkpoint; 1 when it stands for itself. */
export function foldedWith(columns: Columns, node: ForkNode): readonly ForkNode[] {
  const column = columnOf(columns, depthOf(node));
  if (!column || !isStretch(column)) return [node];
  const { chain } = node;
  return chain.nodes.slice(Math.max(0, column.from - chain.start), column.to - chain.start + 1);
}

export type Way = "left" | "right" | "up" | "down" | "first" | "last" | "pageUp" | "pageDown";
const PAGE = 10;

/** Where an arrow key leads: along a branch from column to column, and from branch to branch. */
export function walked(columns: Columns, lanes: Lanes, node: ForkNode, way: Way): ForkNode | undefined {
  const { chain } = node;
  const depth = depthOf(node);
  const column = columnOf(columns, depth);
  if (!column) return undefined;
  switch (way) {
    case "left": {
      const before = nodeAt(chain, column.from - 1);
      return before
        ? headOf(columns, before)
        : column.from <= chain.start
          ? chain.from && headOf(columns, chain.from)
          : undefined;
    }
    case "right":
      return nodeAt(chain, column.to + 1);
    case "first":
      return chain.nodes[0];
    case "last":
      return chain.nodes.at(-1);
    default: {
      const by = { up: -1, down: 1, pageUp: -PAGE, pageDown: PAGE }[way];
      const lane = (lanes.of.get(chain) ?? 0) + by;
      const to = lanes.chains[Math.max(0, Math.min(lanes.chains.length - 1, lane))];
      return to && to !== chain ? headOf(columns, nearest(to, depth)) : undefined;
    }
  }
}

/** Of folded steps the first is the one that is walked to. */
const headOf = (columns: Columns, node: ForkNode): ForkNode => foldedWith(columns, node)[0] ?? node;
