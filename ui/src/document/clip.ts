/** Copies of nodes as text that can be read, mailed and edited, and what pasting it does to a graph. Pure. */
import type { NodeKind } from "../ipc/bindings/NodeKind";
import { GraphDocument } from "./document";
import { withWayNamed } from "./disabled";
import { addEdge, Draft } from "./draft";
import { type Point, rounded, uniqueName } from "./edits";
import { withErrorWayNamed } from "./error-ways";
import { namingKinds, placesOf, withAllowed, withLabels, withNames } from "./node-references";
import type { Patch } from "./patch";
import { usesOfKey } from "./uses";
import { edgeOf, isObject, positionOf, START, type Json, type JsonObject } from "./types";

export const CLIP_FORMAT = "superstep/clip/1";

/** What the clipboard holds: plain JSON that can be read, mailed and edited. */
export interface Clip {
  readonly format: typeof CLIP_FORMAT;
  readonly nodes: JsonObject;
  readonly edges: Json[];
  readonly layout: JsonObject;
  /** State keys that the nodes and their edges read or write, by name. */
  readonly state?: JsonObject;
  /** Edges that lead in from other nodes, for a paste that keeps them. */
  readonly incoming?: Json[];
}

/** The nodes and the edges between them, and those that lead in; with the kinds the keys that they use as well. */
export function copyNodes(
  doc: GraphDocument,
  names: readonly string[],
  positions: (name: string) => Point,
  kinds: readonly NodeKind[] | null = null,
): Clip {
  const chosen = new Set(names.filter((name) => doc.has(`node:${name}`)));
  const nodes: JsonObject = {};
  const layout: JsonObject = {};
  for (const name of doc.names("node")) {
    if (!chosen.has(name)) continue;
    nodes[name] = doc.get(`node:${name}`) ?? null;
    layout[name] = rounded(positions(name));
  }
  const edges: Json[] = [];
  const incoming: Json[] = [];
  for (const edge of doc.names("edge")) {
    const record = doc.get(`edge:${edge}`);
    const view = edgeOf(record);
    const inside = [...view.sources, ...view.targets];
    if (!isObject(record) || inside.length === 0) continue;
    const { id: _own, ...rest } = record;
    if (inside.every((name) => chosen.has(name))) edges.push(rest);
    // A label of a route leads to one node: the way to the copied one stays its own.
    else if (view.form !== "route" && view.targets.every((name) => chosen.has(name))) incoming.push(rest);
  }
  const alone = new GraphDocument();
  alone.reset([
    { id: "doc", value: {} },
    ...Object.entries(nodes).map(([name, value]) => ({ id: `node:${name}`, value })),
    ...edges.map((value, index) => ({ id: `edge:${index}`, value })),
  ]);
  const used =
    kinds === null ? [] : doc.names("key").filter((key) => usesOfKey(alone, kinds, key).length > 0);
  const state = Object.fromEntries(used.map((key) => [key, doc.get(`key:${key}`) ?? {}]));
  return {
    format: CLIP_FORMAT,
    nodes,
    edges,
    layout,
    ...(used.length > 0 && { state }),
    ...(incoming.length > 0 && { incoming }),
  };
}

/** Reads clipboard text; null when it holds nothing of ours. A whole graph file is taken too. */
export function parseClip(text: string): Clip | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(value)) return null;
  const { format, nodes, edges, layout, state, incoming } = value;
  if (typeof format !== "string" || !format.startsWith("superstep/") || !isObject(nodes)) return null;
  return {
    format: CLIP_FORMAT,
    nodes,
    edges: Array.isArray(edges) ? edges : [],
    layout: isObject(layout) ? layout : {},
    ...(isObject(state) && { state }),
    ...(Array.isArray(incoming) && { incoming }),
  };
}

/** Pastes with new names where they are taken. `place` is where the top left corner goes. */
export function pasteClip(
  doc: GraphDocument,
  clip: Clip,
  place: Point,
  kinds: readonly NodeKind[],
  /** Edges from the start or to the end come with it when that is one of `ends`; and those that led in from nodes that are here. */
  { ends = [], connected = false }: { readonly ends?: readonly string[]; readonly connected?: boolean } = {},
): { patch: Patch; names: string[] } {
  const draft = new Draft(doc);
  const renamed = new Map<string, string>();
  const taken = new Set<string>();
  for (const name of Object.keys(clip.nodes)) {
    const next = uniqueName(doc, "node", name, taken);
    renamed.set(name, next);
    taken.add(next);
  }
  const names = [...renamed.values()];
  for (const end of ends) renamed.set(end, end);
  const spots = new Map<string, Point>();
  Object.keys(clip.nodes).forEach((name, index) => {
    spots.set(name, positionOf(clip.layout[name]) ?? { x: index * 40, y: index * 40 });
  });
  const left = Math.min(...[...spots.values()].map((spot) => spot.x));
  const top = Math.min(...[...spots.values()].map((spot) => spot.y));
  // What names a node that came along names its copy; anything else, what it named.
  const schemas = namingKinds(kinds);
  const copied = (name: string) => (name in clip.nodes ? renamed.get(name) : undefined);
  const taking = new Set<string>();
  for (const [name, next] of renamed) {
    const record = clip.nodes[name];
    if (!isObject(record)) continue;
    const spot = spots.get(name) ?? { x: left, y: top };
    for (const place of placesOf(record, schemas))
      if (place.into !== undefined && copied(place.name) !== undefined) taking.add(place.into);
    draft.set(
      `node:${next}`,
      withErrorWayNamed(withWayNamed(withNames(record, schemas, copied), copied), copied),
    );
    draft.set(`layout:${next}`, rounded({ x: place.x + spot.x - left, y: place.y + spot.y - top }));
  }
  for (const key of taking) {
    const record = draft.get(`key:${key}`);
    if (isObject(record)) draft.set(`key:${key}`, withAllowed(record, copied, true));
  }
  const within = (name: Json | undefined): Json | undefined =>
    typeof name === "string" ? renamed.get(name) : undefined;
  for (const each of clip.edges) {
    if (!isObject(each)) continue;
    const view = edgeOf(each);
    if (![...view.sources, ...view.targets].every((name) => renamed.has(name)) || view.paths.length === 0)
      continue;
    const { id: _own, ...edge } = each;
    const from = edge["from"];
    edge["from"] = Array.isArray(from)
      ? from.map((source) => within(source) ?? null)
      : (within(from) ?? null);
    for (const field of ["to", "default"]) {
      const target = within(edge[field]);
      if (target !== undefined) edge[field] = target;
    }
    if (isObject(edge["paths"])) {
      edge["paths"] = Object.fromEntries(
        Object.entries(edge["paths"]).map(([label, target]) => [label, within(target) ?? null]),
      );
    }
    addEdge(draft, withLabels(edge, taking, copied));
  }
  for (const each of connected ? (clip.incoming ?? []) : []) {
    if (!isObject(each)) continue;
    const { sources, targets } = edgeOf(each);
    const [target] = targets;
    const to = target === undefined ? undefined : renamed.get(target);
    const here = (name: string) => name === START || renamed.has(name) || doc.has(`node:${name}`);
    if (to === undefined || targets.length > 1 || !sources.every(here)) continue;
    const { id: _own, from, ...rest } = each;
    // A source that was copied, too, is its copy.
    const source = (name: Json | undefined): Json => within(name) ?? name ?? null;
    addEdge(draft, { ...rest, from: Array.isArray(from) ? from.map(source) : source(from), to });
  }
  return { patch: draft.patch(), names };
}
