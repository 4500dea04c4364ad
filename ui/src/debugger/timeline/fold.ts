/** Straight stretches of the timeline as one row each: steps that nothing but a step happened in. Pure. */
import type { LaneRow } from "./lanes";
import type { TimelineRow } from "./rows";

/** Fewer steps than this are shown as they are. */
const LEAST = 4;

/** A row of the list, or several as one: a straight stretch, the rounds of a loop, a turn. Places are those in the list of all rows. */
export type Entry = { readonly kind: "row"; readonly at: number } | Group;

export type Group =
  | { readonly kind: "stretch" | "turn"; readonly from: number; readonly to: number }
  | { readonly kind: "loop"; readonly from: number; readonly to: number; readonly rounds: number };

/** No branch begins or ends beside a row. */
export const isStraight = (lane: LaneRow): boolean => lane.lines.every((line) => line.from === line.to);

/** Whether a row says nothing that its neighbours do not: a step between two steps, without a fork beside it. */
function isPlain({ checkpoint, lane }: TimelineRow): boolean {
  return (
    checkpoint.source === "loop" &&
    checkpoint.questions === 0 &&
    checkpoint.failed === 0 &&
    checkpoint.bookmark === undefined &&
    lane.children === 1 &&
    isStraight(lane)
  );
}

/** What ran in a stretch of rows, and how often: the most frequent first, then what ran first. */
export function ranIn(rows: readonly TimelineRow[]): readonly (readonly [string, number])[] {
  const times = new Map<string, number>();
  for (const { ran } of rows.toReversed())
    for (const node of ran) times.set(node, (times.get(node) ?? 0) + 1);
  return [...times].toSorted((a, b) => b[1] - a[1]);
}

/** `kept` are checkpoints that stay rows of their own: those that are compared or were unfolded. */
export function folded(
  rows: readonly TimelineRow[],
  kept: (id: string) => boolean,
  least = LEAST,
): readonly Entry[] {
  const entries: Entry[] = [];
  let from: number | null = null;
  const close = (to: number) => {
    if (from === null) return;
    if (to - from >= least) entries.push({ kind: "stretch", from, to });
    else for (let at = from; at < to; at += 1) entries.push({ kind: "row", at });
    from = null;
  };
  rows.forEach((row, at) => {
    const before = rows[at - 1];
    const plain = isPlain(row) && !kept(row.checkpoint.id);
    // The lists of two branches alternate: a stretch is of checkpoints that continue each other.
    if (from !== null && (!plain || before?.checkpoint.parent !== row.checkpoint.id)) close(at);
    if (!plain) entries.push({ kind: "row", at });
    else from ??= at;
  });
  close(rows.length);
  return entries;
}

/**
 * The same with one more row by itself: what it was folded with is folded on both sides of it. The newest of several stands
 * for all of them, and opens nothing.
 */
export function opened(entries: readonly Entry[], row: number): readonly Entry[] {
  const at = entryOf(entries, row);
  const entry = entries[at];
  if (entry === undefined || entry.kind === "row" || entry.from === row) return entries;
  const side = (from: number, to: number, kind: "stretch" | "turn"): readonly Entry[] =>
    to - from >= LEAST
      ? [{ kind, from, to }]
      : Array.from({ length: Math.max(0, to - from) }, (_, n) => ({ kind: "row", at: from + n }));
  return [
    ...entries.slice(0, at),
    ...side(entry.from, row, "stretch"),
    { kind: "row", at: row },
    // The input of a turn is at its older end.
    ...side(row + 1, entry.to, entry.kind === "turn" ? "turn" : "stretch"),
    ...entries.slice(at + 1),
  ];
}

/** Every row by itself. */
export const everyRow = (rows: readonly TimelineRow[]): readonly Entry[] =>
  rows.map((_, at) => ({ kind: "row", at }));

/** The entry that a row is in. */
export function entryOf(entries: readonly Entry[], row: number): number {
  let [low, high] = [0, entries.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const entry = entries[middle];
    const from = entry?.kind === "row" ? entry.at : (entry?.from ?? 0);
    if (from <= row) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The row of the entry at a distance from the one that a row is in, or is beside; of a stretch its newest. */
export function rowBy(entries: readonly Entry[], row: number, by: number): number {
  const at = entryOf(entries, row);
  const to = entries[Math.max(0, Math.min(entries.length - 1, at + by))];
  return to === undefined ? row : to.kind === "row" ? to.at : to.from;
}
