/**
 * Values of the run context that the document keeps under names, as `context_sets` of its head: a run takes one by its name.
 * An entry without a name or values is left as it is in the file.
 */
import type { GraphDocument } from "./document";
import { Draft } from "./draft";
import type { Patch } from "./patch";
import { isObject, type Json, type JsonObject } from "./types";

const CONTEXT = "context";
const SETS = "context_sets";

/** The most that a document may have, and the longest name; the check of documents has the same. */
export const MOST_SETS = 64;
export const LONGEST_NAME = 100;

export interface ContextSet {
  readonly name: string;
  readonly values: JsonObject;
}

const usable = (entry: Json | undefined): entry is JsonObject & { name: string; values: JsonObject } =>
  isObject(entry) && typeof entry["name"] === "string" && entry["name"] !== "" && isObject(entry["values"]);

const entriesOf = (head: Readonly<Record<string, unknown>>): readonly Json[] =>
  Array.isArray(head[SETS]) ? (head[SETS] as Json[]) : [];

export function contextSetsOf(head: Readonly<Record<string, unknown>>): ContextSet[] {
  return entriesOf(head)
    .filter(usable)
    .map(({ name, values }) => ({ name, values }));
}

/** The head with other sets, without the field when none is left. */
function withSets(head: JsonObject, sets: readonly Json[]): JsonObject {
  const { [SETS]: _sets, ...rest } = head;
  if (sets.length === 0) return rest;
  return { ...head, [SETS]: [...sets] };
}

function change(doc: GraphDocument, next: (head: JsonObject) => JsonObject): Patch {
  const draft = new Draft(doc);
  const head = doc.get("doc");
  if (isObject(head)) draft.set("doc", next(head));
  return draft.patch();
}

const isNamed = (entry: Json, name: string): boolean => usable(entry) && entry["name"] === name;

/** Keeps values under a name; what was kept under it before is replaced. */
export function keepContextSet(doc: GraphDocument, name: string, values: JsonObject): Patch {
  return change(doc, (head) => {
    const sets = entriesOf(head);
    return withSets(
      head,
      sets.some((entry) => isNamed(entry, name))
        ? sets.map((entry) => (isNamed(entry, name) && isObject(entry) ? { ...entry, values } : entry))
        : [...sets, { name, values }],
    );
  });
}

export function renameContextSet(doc: GraphDocument, from: string, to: string): Patch {
  return change(doc, (head) =>
    withSets(
      head,
      entriesOf(head).map((entry) =>
        isNamed(entry, from) && isObject(entry) ? { ...entry, name: to } : entry,
      ),
    ),
  );
}

export function deleteContextSet(doc: GraphDocument, name: string): Patch {
  return change(doc, (head) =>
    withSets(
      head,
      entriesOf(head).filter((entry) => !isNamed(entry, name)),
    ),
  );
}

/** Renames a field of the context, in the sets as well. Expressions that use it stay as they are. */
export function renameContextField(doc: GraphDocument, from: string, to: string): Patch {
  const renamed = (fields: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name === from ? to : name, value]));
  return changeFields(doc, renamed, renamed);
}

/** Removes a field of the context, with its values in the sets. */
export function removeContextField(doc: GraphDocument, field: string): Patch {
  const without = (fields: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => name !== field));
  return changeFields(doc, without, without);
}

/** Declares a field of the context, or changes what is declared. */
export function putContextField(doc: GraphDocument, field: string, schema: Json): Patch {
  return changeFields(
    doc,
    (fields) => ({ ...fields, [field]: schema }),
    (values) => values,
  );
}

function changeFields(
  doc: GraphDocument,
  declared: (fields: JsonObject) => JsonObject,
  given: (values: JsonObject) => JsonObject,
): Patch {
  return change(doc, (head) => {
    const fields = declared(isObject(head[CONTEXT]) ? head[CONTEXT] : {});
    const { [CONTEXT]: _context, ...rest } = head;
    const next = Object.keys(fields).length === 0 ? rest : { ...head, [CONTEXT]: fields };
    const sets = entriesOf(head);
    return sets.length === 0
      ? next
      : withSets(
          next,
          sets.map((entry) => (usable(entry) ? { ...entry, values: given(entry["values"]) } : entry)),
        );
  });
}
