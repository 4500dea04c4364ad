/**
 * How two versions of a document differ, record by record: added, changed, removed; what only moves things on the canvas is
 * apart. Plain data, drawn as a list and on the canvas.
 */
import type { DocumentRecord } from "./document";
import { same } from "./patch";
import { isObject, sectionOf, type Json } from "./types";

export type DiffMark = "added" | "removed" | "changed";

/** A record that differs. `before` is the older version's, `after` the newer one's. */
export interface RecordDiff {
  readonly id: string;
  readonly section: "doc" | "key" | "node" | "edge" | "layout";
  readonly name: string;
  readonly mark: DiffMark;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  /** Of a changed record: the fields that differ, as paths with dots between. */
  readonly fields: readonly string[];
}

export interface VersionDiff {
  /** The head, keys, nodes, edges; in this order. */
  readonly content: readonly RecordDiff[];
  /** Positions, notes' sizes and the like: nothing that runs depends on them. */
  readonly layout: readonly RecordDiff[];
}

/** Fields that differ, at most this many of one record. */
const MOST_FIELDS = 24;
const ORDER = ["doc", "key", "node", "edge"] as const;

export function compareRecords(
  older: readonly DocumentRecord[],
  newer: readonly DocumentRecord[],
): VersionDiff {
  const before = new Map(older.map(({ id, value }) => [id, value]));
  const after = new Map(newer.map(({ id, value }) => [id, value]));
  const all: RecordDiff[] = [];
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    const diff = recordDiff(id, before.get(id), after.get(id));
    if (diff) all.push(diff);
  }
  const content = all.filter((diff) => diff.section !== "layout");
  content.sort((a, b) => ORDER.indexOf(place(a)) - ORDER.indexOf(place(b)) || a.name.localeCompare(b.name));
  return { content, layout: all.filter((diff) => diff.section === "layout") };
}

const place = (diff: RecordDiff) => (diff.section === "layout" ? "doc" : diff.section);

function recordDiff(id: string, before: Json | undefined, after: Json | undefined): RecordDiff | null {
  if (before !== undefined && after !== undefined && same(before, after)) return null;
  const at = sectionOf(id);
  const mark: DiffMark = before === undefined ? "added" : after === undefined ? "removed" : "changed";
  return {
    id,
    section: at ? at.section : "doc",
    name: at ? at.name : "",
    mark,
    before,
    after,
    fields: mark === "changed" ? changedFields(before, after) : [],
  };
}

/** The deepest fields that differ between two values; a list counts as one. */
function changedFields(before: Json | undefined, after: Json | undefined): string[] {
  const found: string[] = [];
  const walk = (a: Json | undefined, b: Json | undefined, path: string) => {
    if (found.length >= MOST_FIELDS || (a !== undefined && b !== undefined && same(a, b))) return;
    if (isObject(a) && isObject(b))
      for (const name of new Set([...Object.keys(a), ...Object.keys(b)]))
        walk(a[name], b[name], path === "" ? name : `${path}.${name}`);
    else found.push(path);
  };
  walk(before, after, "");
  return found;
}

/** The value of a field of a record, for showing it. */
export function fieldOf(value: Json | undefined, field: string): Json | undefined {
  if (field === "") return value;
  let at: Json | undefined = value;
  for (const name of field.split(".")) at = isObject(at) ? at[name] : undefined;
  return at;
}

/** How far below a node of the older version another is drawn that stands at its place now. */
const BELOW = 180;

/**
 * The older version with what was added since, so that both can be drawn at once. An edge that leads elsewhere now is drawn as it
 * was and as it is; a node that stands where one of the older version stood is drawn below that.
 */
export function unionOf(
  older: readonly DocumentRecord[],
  newer: readonly DocumentRecord[],
): { records: DocumentRecord[]; marks: ReadonlyMap<string, DiffMark> } {
  const { content } = compareRecords(older, newer);
  const marks = new Map(content.map((diff) => [diff.id, diff.mark]));
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
