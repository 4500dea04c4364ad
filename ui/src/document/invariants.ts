/** The invariants of a document: expressions that must hold, in the record that each is about. */
import type { GraphDocument } from "./document";
import { setField } from "./edits";
import type { Patch } from "./patch";
import { isObject, type Json } from "./types";

export type WhenBroken = "tell" | "pause" | "fail";
export const WHEN_BROKEN: readonly WhenBroken[] = ["tell", "pause", "fail"];

/** Invariants of one record. */
export const MOST_INVARIANTS = 50;

export interface Invariant {
  /** `doc#1`, `node:pay#2`. */
  readonly id: string;
  readonly record: string;
  readonly place: number;
  readonly must: string;
  readonly message: string;
  readonly whenBroken: WhenBroken;
}

const NONE: readonly Invariant[] = [];

function listOf(record: Json | undefined): readonly Json[] {
  const list = isObject(record) ? record["invariants"] : undefined;
  return Array.isArray(list) ? list : [];
}

/** The invariants of one record, as far as they can be read. */
export function invariantsOf(recordId: string, record: Json | undefined): readonly Invariant[] {
  const list = listOf(record);
  if (list.length === 0) return NONE;
  return list.map((one, place) => {
    const text = (field: string) => (isObject(one) && typeof one[field] === "string" ? one[field] : "");
    const then = text("when_broken") as WhenBroken;
    return {
      id: `${recordId}#${place + 1}`,
      record: recordId,
      place,
      must: text("must"),
      message: text("message"),
      whenBroken: WHEN_BROKEN.includes(then) ? then : "tell",
    };
  });
}

/** All of a document, in its order. */
export function allInvariants(document: GraphDocument): readonly Invariant[] {
  const sections = (["key", "node", "edge"] as const).flatMap((section) =>
    document.names(section).map((name) => `${section}:${name}`),
  );
  return ["doc", ...sections].flatMap((record) => invariantsOf(record, document.get(record)));
}

/** The invariants of a document as it changes: the same list until a record with some changes. */
export function keepInvariants(document: GraphDocument): () => readonly Invariant[] {
  let kept: readonly Invariant[] | null = null;
  const records = () => new Set(kept?.map(({ record }) => record));
  document.watch((changed) => {
    if (kept === null) return;
    const before = records();
    const concerns = (id: string) =>
      (id.startsWith("ids:") && before.size > 0) || before.has(id) || listOf(document.get(id)).length > 0;
    if (changed === null || [...changed].some(concerns)) kept = null;
  });
  return () => (kept ??= allInvariants(document));
}

/** What messages call it. */
export const saysOf = (invariant: Pick<Invariant, "must" | "message">): string =>
  invariant.message.trim() === "" ? invariant.must : invariant.message;

/** The record's own name, for a list of several records; empty for the graph. */
export const placeOf = (record: string): string =>
  record === "doc" ? "" : record.slice(record.indexOf(":") + 1);

function withList(document: GraphDocument, record: string, list: readonly Json[]): Patch {
  return setField(document, record, "/invariants", list.length === 0 ? undefined : [...list]);
}

export function addInvariant(document: GraphDocument, record: string, must: string): Patch {
  return withList(document, record, [...listOf(document.get(record)), { must }]);
}

export function removeInvariant(document: GraphDocument, record: string, place: number): Patch {
  const list = listOf(document.get(record));
  return withList(
    document,
    record,
    list.filter((_, at) => at !== place),
  );
}

/** Sets a field of one; an empty text takes the field away, and so does what happens anyway. */
export function setInvariant(
  document: GraphDocument,
  record: string,
  place: number,
  field: "must" | "message" | "when_broken",
  value: string,
): Patch {
  const list = listOf(document.get(record));
  const none = field !== "must" && (value === "" || value === "tell");
  const next = list.map((one, at) => {
    if (at !== place) return one;
    const { [field]: _, ...rest } = isObject(one) ? one : {};
    if (none) return rest;
    return field === "must" ? { must: value, ...rest } : { ...rest, [field]: value };
  });
  return withList(document, record, next);
}
