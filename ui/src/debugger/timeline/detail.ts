/** How much of a thread the timeline shows: every step, or its loops, straight stretches or turns as one row each. Pure. */
import { type Entry, everyRow, folded, isStraight } from "./fold";
import type { TimelineRow } from "./rows";

/** The coarsest first. */
export const DETAILS = ["turns", "stretches", "loops", "steps"] as const;
export type Detail = (typeof DETAILS)[number];

/** Checkpoints that stay rows of their own. */
type Kept = (id: string) => boolean;

/** The most steps after which a loop comes back to a node. */
const LONGEST_ROUND = 24;

/** Fewer steps are shown as they are. */
const SHORTEST_LOOP = 3;

/** What ran in a row, as text. */
const ranOf = ({ ran }: TimelineRow): string => (ran.length < 2 ? (ran[0] ?? "") : ran.toSorted().join("\n"));

/** Rows in which the same ran again and again, the most frequent first; of those that ran equally often the one that began first. */
function repeated(ran: readonly string[]): readonly (readonly number[])[] {
  const open = new Map<string, number[]>();
  const all: number[][] = [];
  // Newest first: what began is at the end.
  for (let at = ran.length - 1; at >= 0; at -= 1) {
    const what = ran[at];
    if (what === undefined || what === "") continue;
    const known = open.get(what);
    // What came back only long after is another loop.
    if (known && (known.at(-1) ?? at) - at <= LONGEST_ROUND) known.push(at);
    else {
      const places = [at];
      open.set(what, places);
      all.push(places);
    }
  }
  return all.filter(({ length }) => length > 1).toSorted((a, b) => b.length - a.length);
}

/** The loops of a straight stretch, each with what ran in its last round too; what is between them stays rows. */
function loopsIn(rows: readonly TimelineRow[], from: number, to: number): readonly Entry[] {
  const ran = rows.slice(from, to).map(ranOf);
  /** The loop that begins at a place, and places that are in one. */
  const loops = new Map<number, Entry & { kind: "loop" }>();
  const taken = new Uint8Array(ran.length);
  for (const places of repeated(ran)) {
    let [first, last] = [places.at(-1) ?? 0, (places[0] ?? 0) + 1];
    // It is in a loop that came round more often, or around one.
    if (taken.subarray(first, last).includes(1)) continue;
    const inside = new Set(ran.slice(first, last));
    while (first > 0 && taken[first - 1] === 0 && inside.has(ran[first - 1] ?? "")) first -= 1;
    while (last < ran.length && taken[last] === 0 && inside.has(ran[last] ?? "")) last += 1;
    if (last - first < SHORTEST_LOOP) continue;
    taken.fill(1, first, last);
    loops.set(first, { kind: "loop", from: from + first, to: from + last, rounds: places.length });
  }
  const entries: Entry[] = [];
  for (let at = 0; at < ran.length;) {
    const loop = loops.get(at);
    entries.push(loop ?? { kind: "row", at: from + at });
    at = loop ? loop.to - from : at + 1;
  }
  return entries;
}

/** The loops of a thread as one row each. */
function withLoops(rows: readonly TimelineRow[], kept: Kept): readonly Entry[] {
  const entries: Entry[] = [];
  for (const entry of folded(rows, kept, 1))
    if (entry.kind === "row") entries.push(entry);
    else for (const each of loopsIn(rows, entry.from, entry.to)) entries.push(each);
  return entries;
}

/** Each turn of a thread as one row: an input and the steps that followed it, up to the next input or to a fork. */
function withTurns(rows: readonly TimelineRow[], kept: Kept): readonly Entry[] {
  const entries: Entry[] = [];
  const stays = ({ checkpoint, lane }: TimelineRow) =>
    lane.children > 1 || !isStraight(lane) || checkpoint.bookmark !== undefined || kept(checkpoint.id);
  for (let from = 0; from < rows.length;) {
    let to = from;
    for (; to < rows.length; to += 1) {
      const row = rows[to];
      if (!row || stays(row)) break;
      if (to > from && rows[to - 1]?.checkpoint.parent !== row.checkpoint.id) break;
      if (row.checkpoint.source !== "input") continue;
      to += 1;
      break;
    }
    if (to - from < 2) {
      entries.push({ kind: "row", at: from });
      from += 1;
    } else if (rows[to - 1]?.checkpoint.source === "input") {
      entries.push({ kind: "turn", from, to });
      from = to;
    } else {
      // Its input is on the other side of a fork, or was not read yet: these are the steps of a turn, and no turn.
      entries.push({ kind: "stretch", from, to });
      from = to;
    }
  }
  return entries;
}

/** The list at a level of detail. */
export function atDetail(rows: readonly TimelineRow[], detail: Detail, kept: Kept): readonly Entry[] {
  switch (detail) {
    case "steps":
      return everyRow(rows);
    case "loops":
      return withLoops(rows, kept);
    case "stretches":
      return folded(rows, kept);
    case "turns":
      return withTurns(rows, kept);
  }
}

/** Which turn of its branch each checkpoint is of, from 1. Without the beginning of the thread it is not known. */
export function turnNumbers(rows: readonly TimelineRow[]): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>();
  for (const { checkpoint } of rows.toReversed()) {
    const { id, parent, source } = checkpoint;
    const before = parent === undefined ? 0 : numbers.get(parent);
    if (before !== undefined) numbers.set(id, before + (source === "input" ? 1 : 0));
  }
  return numbers;
}
