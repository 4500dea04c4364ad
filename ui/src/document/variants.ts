/**
 * Variants of a node's settings: kept under names beside those in use, as `x-variants` of the node, which no run reads, with
 * the name of the one that was taken last as `x-variant`.
 */
import type { GraphDocument } from "./document";
import { Draft } from "./draft";
import { same, type Patch } from "./patch";
import { isObject, nodeOf, type Json, type JsonObject } from "./types";

const KEPT = "x-variants";
const TAKEN = "x-variant";

export interface Variants {
  /** Names, in the order of the file. */
  readonly names: readonly string[];
  /** The one that was taken or kept last. */
  readonly taken: string | null;
  /** The settings in use are no longer those of the one that was taken. */
  readonly changed: boolean;
}

/** What a variant keeps: settings, and the kind that they are of. */
const settingsOf = (record: JsonObject): JsonObject => {
  const { kind, config } = nodeOf(record);
  return { kind, config };
};

const keptIn = (record: Json | undefined): [string, JsonObject][] => {
  const kept = isObject(record) ? record[KEPT] : undefined;
  return isObject(kept)
    ? Object.entries(kept).flatMap(([name, value]) => (isObject(value) ? [[name, value]] : []))
    : [];
};

export function variantsOf(record: Json | undefined): Variants {
  const kept = keptIn(record);
  const names = kept.map(([name]) => name);
  const said = isObject(record) ? record[TAKEN] : undefined;
  const one = kept.find(([name]) => name === said);
  if (!one || !isObject(record)) return { names, taken: null, changed: false };
  return { names, taken: one[0], changed: !same(settingsOf(one[1]), settingsOf(record)) };
}

/** The record with other variants; without the fields when none is left. */
function withVariants(
  record: JsonObject,
  kept: readonly [string, JsonObject][],
  taken: string | null,
): JsonObject {
  const { [KEPT]: _kept, [TAKEN]: _taken, ...rest } = record;
  if (kept.length === 0) return rest;
  return { ...rest, [KEPT]: Object.fromEntries(kept), ...(taken !== null && { [TAKEN]: taken }) };
}

function change(doc: GraphDocument, node: string, next: (record: JsonObject) => JsonObject): Patch {
  const draft = new Draft(doc);
  const record = doc.get(`node:${node}`);
  if (isObject(record)) draft.set(`node:${node}`, next(record));
  return draft.patch();
}

/** Keeps the settings in use under a name; what was kept under it before is replaced. */
export function keepVariant(doc: GraphDocument, node: string, name: string): Patch {
  return change(doc, node, (record) => {
    const settings = settingsOf(record);
    const kept = keptIn(record);
    const next = kept.some(([each]) => each === name)
      ? kept.map(([each, value]): [string, JsonObject] => [each, each === name ? settings : value])
      : [...kept, [name, settings] as [string, JsonObject]];
    return withVariants(record, next, name);
  });
}

/** Puts the settings of a variant in use. */
export function takeVariant(doc: GraphDocument, node: string, name: string): Patch {
  return change(doc, node, (record) => {
    const kept = keptIn(record);
    const found = kept.find(([each]) => each === name);
    return found ? withVariants({ ...record, ...settingsOf(found[1]) }, kept, name) : record;
  });
}

export function renameVariant(doc: GraphDocument, node: string, from: string, to: string): Patch {
  return change(doc, node, (record) => {
    const kept = keptIn(record).map(([name, value]): [string, JsonObject] => [
      name === from ? to : name,
      value,
    ]);
    return withVariants(record, kept, variantsOf(record).taken === from ? to : variantsOf(record).taken);
  });
}

/** Forgets a variant; the settings in use stay. */
export function deleteVariant(doc: GraphDocument, node: string, name: string): Patch {
  return change(doc, node, (record) => {
    const { taken } = variantsOf(record);
    return withVariants(
      record,
      keptIn(record).filter(([each]) => each !== name),
      taken === name ? null : taken,
    );
  });
}

/** The record with a change of settings made in its variants too: renamed nodes and state keys. */
export function alsoInVariants(record: JsonObject, changed: (record: JsonObject) => JsonObject): JsonObject {
  const kept = keptIn(record);
  if (kept.length === 0) return record;
  const next = kept.map(([name, value]): [string, JsonObject] => [name, changed(value)]);
  return { ...record, [KEPT]: Object.fromEntries(next) };
}
