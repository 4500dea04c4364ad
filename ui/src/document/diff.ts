/**
 * What differs between two graphs, record by record: added, removed, changed with the fields that did. The layout is kept
 * apart, because a node that was only moved is the same node. And what is made of it: one graph of the two sides of a
 * conflict, one picture of two versions.
 */
import type { DocumentRecord } from "./document";
import { op, same, type Patch, type PatchOp } from "./patch";
import { isObject, sectionOf, SECTIONS, type Json, type Section } from "./types";

export type Change = "added" | "removed" | "changed";

export interface FieldChange {
  /** JSON Pointer in the record. */
  readonly pointer: string;
  /** Absent where there was nothing. */
  readonly before?: Json;
  readonly after?: Json;
}

export interface RecordChange {
  readonly id: string;
  readonly section: Section | "doc";
  /** The record's bare name; empty for the head. */
  readonly name: string;
  readonly change: Change;
  readonly before?: Json;
  readonly after?: Json;
  /** Of a record that is in both: what differs. */
  readonly fields: readonly FieldChange[];
}

export interface DocumentDiff {
  /** The head, keys, nodes and edges; those of `after` in its order, each removed one behind what it stood behind. */
  readonly records: readonly RecordChange[];
  /** Positions, in the same order: nothing that runs depends on them. */
  readonly layout: readonly RecordChange[];
  /** Of the layout: names of nodes that neither came nor went, only their position did. */
  readonly moved: readonly string[];
}

/** A change of an object is listed by its members, so deep. */
const DEEPEST = 6;

function fieldsOf(before: Json, after: Json, pointer: string, depth: number, into: FieldChange[]): void {
  if (same(before, after)) return;
  if (depth > 0 && isObject(before) && isObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const at = `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      const had = Object.hasOwn(before, name);
      const has = Object.hasOwn(after, name);
      if (had && has) fieldsOf(before[name] ?? null, after[name] ?? null, at, depth - 1, into);
      else if (had) into.push({ pointer: at, before: before[name] ?? null });
      else into.push({ pointer: at, after: after[name] ?? null });
    }
    return;
  }
  into.push({ pointer, before, after });
}

const placed = (id: string): { section: Section | "doc"; name: string } =>
  sectionOf(id) ?? { section: "doc", name: "" };

/** Ids of both, in the order of `after`; what only `before` has comes behind what it stood behind. */
function bothOrders(before: readonly DocumentRecord[], after: readonly DocumentRecord[]): string[] {
  const order = after.map(({ id }) => id);
  const there = new Set(order);
  const behind = new Map<string | null, string[]>();
  let last: string | null = null;
  for (const { id } of before) {
    if (there.has(id)) last = id;
    else {
      const run = behind.get(last);
      if (run) run.push(id);
      else behind.set(last, [id]);
    }
  }
  return [...(behind.get(null) ?? []), ...order.flatMap((id) => [id, ...(behind.get(id) ?? [])])];
}

/** `deepest`: the level down to which a changed object is listed by its members. */
export function diffDocuments(
  before: readonly DocumentRecord[],
  after: readonly DocumentRecord[],
  deepest: number = DEEPEST,
): DocumentDiff {
  const was = new Map(before.map(({ id, value }) => [id, value]));
  const is = new Map(after.map(({ id, value }) => [id, value]));
  const records: RecordChange[] = [];
  const layout: RecordChange[] = [];
  for (const id of bothOrders(before, after)) {
    const old = was.get(id);
    const now = is.get(id);
    if (old !== undefined && now !== undefined && same(old, now)) continue;
    const { section, name } = placed(id);
    const fields: FieldChange[] = [];
    if (old !== undefined && now !== undefined) fieldsOf(old, now, "", deepest, fields);
    (section === "layout" ? layout : records).push({
      id,
      section,
      name,
      change: old === undefined ? "added" : now === undefined ? "removed" : "changed",
      ...(old !== undefined && { before: old }),
      ...(now !== undefined && { after: now }),
      fields,
    });
  }
  // The position of a node that came or went goes with it.
  const stayed = ({ name }: RecordChange) => was.has(`node:${name}`) === is.has(`node:${name}`);
  return { records, layout, moved: layout.filter(stayed).map(({ name }) => name) };
}

const rank = (section: Section | "doc") => (section === "doc" ? -1 : SECTIONS.indexOf(section));

/** The head, keys, nodes, edges; each by name. */
export function byName(records: readonly RecordChange[]): RecordChange[] {
  return records.toSorted((a, b) => rank(a.section) - rank(b.section) || a.name.localeCompare(b.name));
}

// Conflicts

export type Chosen = "ours" | "theirs";

/** Which side a record is taken from without asking: the one that changed, where the graph before both is known. */
export function proposedChoices(
  ours: readonly DocumentRecord[],
  theirs: readonly DocumentRecord[],
  base: readonly DocumentRecord[] | null,
): Map<string, Chosen> {
  const chosen = new Map<string, Chosen>();
  const { records, moved } = diffDocuments(ours, theirs);
  for (const name of moved) chosen.set(`layout:${name}`, "ours");
  if (base === null) return chosen;
  const was = new Map(base.map(({ id, value }) => [id, value]));
  for (const { id, before, after } of records) {
    if (same(before ?? null, was.get(id) ?? null)) chosen.set(id, "theirs");
    else if (same(after ?? null, was.get(id) ?? null)) chosen.set(id, "ours");
  }
  return chosen;
}

/** One graph of both sides. A record that both have alike is in it; of the others the chosen one, ours without a choice. */
export function joinSides(
  ours: readonly DocumentRecord[],
  theirs: readonly DocumentRecord[],
  chosen: ReadonlyMap<string, Chosen>,
): DocumentRecord[] {
  const mine = new Map(ours.map(({ id, value }) => [id, value]));
  const other = new Map(theirs.map(({ id, value }) => [id, value]));
  const joined = bothOrders(ours, theirs).flatMap((id): DocumentRecord[] => {
    const value = (chosen.get(id) === "theirs" ? other : mine).get(id);
    return value === undefined ? [] : [{ id, value }];
  });
  const nodes = new Set(joined.flatMap(({ id }) => (id.startsWith("node:") ? [id.slice(5)] : [])));
  // A node that comes from their side comes with its place.
  for (const name of nodes) {
    const place = other.get(`layout:${name}`);
    if (
      place !== undefined &&
      !mine.has(`layout:${name}`) &&
      !joined.some(({ id }) => id === `layout:${name}`)
    )
      joined.push({ id: `layout:${name}`, value: place });
  }
  return joined
    .filter(({ id }) => !id.startsWith("layout:") || nodes.has(id.slice(7)) || id.startsWith("layout:__"))
    .toSorted((a, b) => rank(placed(a.id).section) - rank(placed(b.id).section));
}

/** The edit that turns `now` into `merged`; records that are alike stay as they are. */
export function mergedInto(now: readonly DocumentRecord[], merged: readonly DocumentRecord[]): Patch {
  const after = new Map(merged.map(({ id, value }) => [id, value]));
  const before = new Map(now.map(({ id, value }) => [id, value]));
  const ops: PatchOp[] = [];
  // Edges before the nodes that they join.
  for (const { id, value } of now.toReversed()) if (!after.has(id)) ops.push(op(id, value, undefined));
  for (const { id, value } of merged) {
    const was = before.get(id);
    if (was === undefined || !same(was, value)) ops.push(op(id, was, value));
  }
  return { ops };
}

// Pictures

/** How far below a node of the older version another is drawn that stands at its place now. */
const BELOW = 180;

/**
 * The older version with what was added since, so that both can be drawn at once. An edge that leads elsewhere now is drawn as it
 * was and as it is; a node that stands where one of the older version stood is drawn below that.
 */
export function unionOf(
  older: readonly DocumentRecord[],
  newer: readonly DocumentRecord[],
): { records: DocumentRecord[]; marks: ReadonlyMap<string, Change> } {
  const marks = new Map(diffDocuments(older, newer).records.map(({ id, change }) => [id, change]));
  const known = new Set(older.map(({ id }) => id));
  const records = [...older];
  const taken = older.flatMap(({ id, value }) => (id.startsWith("layout:") ? [placeOf(value)] : []));
  for (const record of newer) {
    const { id } = record;
    const at = sectionOf(id);
    if (at?.section === "layout" && !known.has(id) && marks.get(`node:${at.name}`) === "added")
      records.push({ id, value: free(placeOf(record.value), taken) });
    else if (at && at.section !== "layout" && marks.get(id) === "added") records.push(record);
    else if (at?.section === "edge" && marks.get(id) === "changed") {
      const now = `${id} now`;
      marks.set(id, "removed");
      marks.set(now, "added");
      records.push({ id: now, value: record.value });
    }
  }
  return { records, marks };
}

type Place = readonly [number, number];

function placeOf(value: Json): Place {
  const [x, y] = Array.isArray(value) ? value : [];
  return [typeof x === "number" ? x : 0, typeof y === "number" ? y : 0];
}

function free([x, y]: Place, taken: Place[]): number[] {
  let at: Place = [x, y];
  while (taken.some(([a, b]) => Math.abs(a - at[0]) < 160 && Math.abs(b - at[1]) < BELOW))
    at = [at[0], at[1] + BELOW];
  taken.push(at);
  return [...at];
}
