/** The order of the edges that leave a node: that of the outline, and of the file. */
import type { GraphDocument } from "./document";
import { Draft } from "./draft";
import type { Patch } from "./patch";
import { edgeOf, isObject } from "./types";

/** Moves a line before or behind the next one that leaves the same node: within a route, then among the edges. */
export function moveLine(doc: GraphDocument, edge: string, part: string, by: 1 | -1): Patch {
  const draft = new Draft(doc);
  const id = `edge:${edge}`;
  const record = doc.get(id);
  if (!isObject(record)) return draft.patch();
  const names = doc.names("edge");
  // Taken out and put in again: neither the members of an object nor records change their order otherwise.
  const paths = isObject(record["paths"]) ? Object.entries(record["paths"]) : [];
  const at = paths.findIndex(([label]) => `=${label}` === part);
  const [own, other] = [paths[at], paths[at + by]];
  if (own && other) {
    paths[at] = other;
    paths[at + by] = own;
    draft.remove(id);
    draft.set(id, { ...record, paths: Object.fromEntries(paths) }, names.indexOf(edge));
    return draft.patch();
  }
  const leaving = new Set(edgeOf(record).sources.flatMap((source) => doc.edgesFrom(source)));
  const beside = names.filter((name) => leaving.has(name));
  const next = beside[beside.indexOf(edge) + by];
  if (next === undefined) return draft.patch();
  const left = names.filter((name) => name !== edge);
  draft.remove(id);
  draft.set(id, record, left.indexOf(next) + (by > 0 ? 1 : 0));
  return draft.patch();
}
