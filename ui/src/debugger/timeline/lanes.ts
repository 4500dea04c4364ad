/**
 * The commit graph of a thread: which lane each checkpoint sits in and which lines cross its row. Rows come newest
 * first, as the list shows them; a checkpoint's line runs down to the one that it continues. Pure, so that forks of any
 * shape can be tested without drawing them.
 */
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";

/** A line through (half of) a row: lanes at its upper and lower end. */
interface Line {
  readonly from: number;
  readonly to: number;
  /** The half of the row it crosses. */
  readonly half: "upper" | "lower";
  /** The checkpoint at the upper end of the whole line: the line belongs to the branch it is on. */
  readonly child: string;
}

export interface LaneRow {
  readonly id: string;
  readonly lane: number;
  readonly lines: readonly Line[];
  /** How many checkpoints continue this one; more than one is a fork. */
  readonly children: number;
}

export interface LaneLayout {
  readonly rows: readonly LaneRow[];
  readonly width: number;
}

/** Lanes that are drawn by themselves; those beyond are drawn on the last one. */
export const MOST_LANES = 8;

interface Open {
  /** The checkpoint this lane leads down to. */
  readonly parent: string;
  readonly child: string;
}

/** `list` is newest first; parents that are not in it leave their line open at the bottom. */
export function layoutLanes(list: readonly Pick<CheckpointView, "id" | "parent">[]): LaneLayout {
  const lanes: (Open | undefined)[] = [];
  const rows: LaneRow[] = [];
  // Lanes that lead down to a checkpoint, the leftmost first.
  const leading = new Map<string, number[]>();
  let width = 1;

  for (const checkpoint of list) {
    const arriving = (leading.get(checkpoint.id) ?? []).toSorted((a, b) => a - b);
    leading.delete(checkpoint.id);
    let lane = arriving[0];
    if (lane === undefined) {
      lane = lanes.findIndex((open) => open === undefined);
      if (lane < 0) lane = lanes.length;
    }

    const lines: Line[] = [];
    for (const from of arriving) {
      const child = lanes[from]?.child;
      if (child !== undefined) lines.push({ from, to: lane, half: "upper", child });
    }
    // A row has as many lines as are seen, however many branches pass it.
    for (let from = 0; from < Math.min(lanes.length, MOST_LANES); from += 1) {
      const open = lanes[from];
      if (!open || open.parent === checkpoint.id) continue;
      lines.push({ from, to: from, half: "upper", child: open.child });
      lines.push({ from, to: from, half: "lower", child: open.child });
    }
    for (const freed of arriving) lanes[freed] = undefined;
    lanes[lane] = undefined;
    if (checkpoint.parent !== undefined) {
      lanes[lane] = { parent: checkpoint.parent, child: checkpoint.id };
      const others = leading.get(checkpoint.parent);
      if (others) others.push(lane);
      else leading.set(checkpoint.parent, [lane]);
      lines.push({ from: lane, to: lane, half: "lower", child: checkpoint.id });
    }
    while (lanes.length > 0 && lanes.at(-1) === undefined) lanes.pop();
    width = Math.max(width, lane + 1, lanes.length);
    rows.push({ id: checkpoint.id, lane, lines, children: arriving.length });
  }
  return { rows, width };
}

type List = readonly Pick<CheckpointView, "id" | "parent">[];

/** Lists are replaced, never changed, so what is worked out from one holds as long as it is there. */
const parentsCache = new WeakMap<List, ReadonlyMap<string, string | undefined>>();

function parentsOf(list: List): ReadonlyMap<string, string | undefined> {
  let parents = parentsCache.get(list);
  if (!parents) {
    parents = new Map(list.map((checkpoint) => [checkpoint.id, checkpoint.parent]));
    parentsCache.set(list, parents);
  }
  return parents;
}

const childrenCache = new WeakMap<List, ReadonlyMap<string, string>>();

function newestChildren(list: List): ReadonlyMap<string, string> {
  const known = childrenCache.get(list);
  if (known) return known;
  const newest = new Map<string, string>();
  for (const checkpoint of list) {
    // Newest first, so the first child seen is the newest.
    if (checkpoint.parent !== undefined && !newest.has(checkpoint.parent))
      newest.set(checkpoint.parent, checkpoint.id);
  }
  childrenCache.set(list, newest);
  return newest;
}

/** Ids from the given checkpoint back to the root, itself included: what is not among them is another branch or later. */
export function pathTo(
  list: readonly Pick<CheckpointView, "id" | "parent">[],
  from: string | undefined,
): ReadonlySet<string> {
  const parents = parentsOf(list);
  const path = new Set<string>();
  let at = from;
  while (at !== undefined && !path.has(at) && parents.has(at)) {
    path.add(at);
    at = parents.get(at);
  }
  return path;
}

/**
 * The branch a scrubber moves along: back from the given checkpoint to the root, and forward through the newest
 * continuation to a tip. Oldest first.
 */
export function branchThrough(
  list: readonly Pick<CheckpointView, "id" | "parent">[],
  through: string | undefined,
): string[] {
  if (through === undefined) return [];
  const back = [...pathTo(list, through)].toReversed();
  const newestChild = newestChildren(list);
  const branch = back;
  const seen = new Set(branch);
  let at = newestChild.get(through);
  while (at !== undefined && !seen.has(at)) {
    branch.push(at);
    seen.add(at);
    at = newestChild.get(at);
  }
  return branch;
}

/** The newest checkpoint that both continue (or are). */
export function commonAncestor(
  list: readonly Pick<CheckpointView, "id" | "parent">[],
  a: string,
  b: string,
): string | undefined {
  const left = pathTo(list, a);
  for (const id of pathTo(list, b)) if (left.has(id)) return id;
  return undefined;
}
