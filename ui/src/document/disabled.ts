/** Nodes that are switched off: runs pass them by along their plain edges, and where those depend on the node, its way. */
import type { GraphDocument } from "./document";
import { Draft } from "./draft";
import type { Patch } from "./patch";
import { edgeOf, isObject, NOTE, nodeOf, type Json, type JsonObject } from "./types";

/** What a record says about being switched off; null for a node that works. */
export function disabledOf(record: Json | undefined): { readonly way: string | null } | null {
  const field = isObject(record) ? record["disabled"] : undefined;
  if (field === true) return { way: null };
  return isObject(field) ? { way: typeof field["way"] === "string" ? field["way"] : null } : null;
}

export interface WayOut {
  readonly to: string;
  /** The labels and conditions that lead there. */
  readonly labels: readonly string[];
}

/** Where a node leads that decides itself where; `leads` are the nodes that its program goes to without an edge. */
export function waysOut(doc: GraphDocument, node: string, leads: readonly string[] = []): WayOut[] {
  const ways = new Map<string, string[]>();
  const add = (to: string, label: string) => {
    const labels = ways.get(to) ?? [];
    if (label !== "" && !labels.includes(label)) labels.push(label);
    ways.set(to, labels);
  };
  for (const edge of doc.edgesFrom(node)) {
    const view = edgeOf(doc.get(`edge:${edge}`));
    if (view.form === "plain" || view.form === "join" || view.form === "limit") continue;
    for (const path of view.paths) add(path.to, (view.form === "route" ? path.label : view.expression) ?? "");
  }
  for (const to of leads) add(to, "");
  return [...ways].map(([to, labels]) => ({ to, labels }));
}

const runs = (doc: GraphDocument, name: string) => {
  const record = doc.get(`node:${name}`);
  return isObject(record) && nodeOf(record).kind !== NOTE;
};

/** Is one of these nodes switched on? */
export const someEnabled = (doc: GraphDocument, names: readonly string[]): boolean =>
  names.some((name) => runs(doc, name) && disabledOf(doc.get(`node:${name}`)) === null);

/** Switches nodes off when one of them works, and on otherwise. A node with one way out takes it. */
export function toggleDisabled(
  doc: GraphDocument,
  names: readonly string[],
  leads: Readonly<Record<string, readonly string[]>> = {},
): Patch {
  const off = someEnabled(doc, names);
  const draft = new Draft(doc);
  for (const name of names) {
    const record = doc.get(`node:${name}`);
    if (!runs(doc, name) || !isObject(record) || (disabledOf(record) === null) !== off) continue;
    const { disabled: _was, ...rest } = record;
    if (!off) {
      draft.set(`node:${name}`, rest);
      continue;
    }
    const [only, ...others] = waysOut(doc, name, leads[name]);
    const field: Json = only !== undefined && others.length === 0 ? { way: only.to } : true;
    draft.set(`node:${name}`, { ...rest, disabled: field });
  }
  return draft.patch();
}

/** Chooses where runs go on from a node that is switched off. */
export function setWayOut(doc: GraphDocument, node: string, way: string): Patch {
  const draft = new Draft(doc);
  const record = doc.get(`node:${node}`);
  if (isObject(record)) draft.set(`node:${node}`, { ...record, disabled: { way } });
  return draft.patch();
}

/** The record with the way led to the nodes' new names. */
export function withWayNamed(record: JsonObject, next: (name: string) => string | undefined): JsonObject {
  const way = disabledOf(record)?.way ?? null;
  const to = way === null ? undefined : next(way);
  return to === undefined ? record : { ...record, disabled: { way: to } };
}
