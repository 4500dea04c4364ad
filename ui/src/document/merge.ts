/** A graph that comes into another one: its nodes, edges and state keys, beside those that are there or in their place. Pure. */
import type { NodeKind } from "../ipc/bindings/NodeKind";
import { CLIP_FORMAT, pasteClip, type Clip } from "./clip";
import { GraphDocument, type DocumentRecord } from "./document";
import { addEdge, Draft } from "./draft";
import { inTurn, rounded, uniqueName, type Point } from "./edits";
import { addPattern } from "./patterns";
import { same, type Patch } from "./patch";
import { renameEverywhere, usesOf } from "./rename";
import { edgeOf, END, isObject, positionOf, START, type Json, type JsonObject } from "./types";

/** Beside what is there, with new names; or in the place of the nodes and keys of the same names. */
export type Merging = "beside" | "update";

/** The records of a graph file; null when the text is none. */
export function readGraph(text: string): DocumentRecord[] | null {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(file) || !isObject(file["nodes"])) return null;
  const { state, nodes, edges, layout, ...head } = file;
  const section = (name: string, records: Json | undefined): DocumentRecord[] =>
    Object.entries(isObject(records) ? records : {}).map(([id, value]) => ({ id: `${name}:${id}`, value }));
  const lines = (Array.isArray(edges) ? edges : []).filter(isObject);
  return [
    { id: "doc", value: head },
    ...section("key", state),
    ...section("node", nodes),
    // What an edge is called means nothing in another graph.
    ...lines.map((value, index) => ({ id: `edge:${index}`, value: withoutId(value) })),
    ...section("layout", layout),
  ];
}

const withoutId = ({ id: _own, ...edge }: JsonObject): JsonObject => edge;

export interface Clashes {
  readonly nodes: readonly string[];
  /** Keys that mean something else here. */
  readonly keys: readonly string[];
}

/** The names that both graphs have. */
export function clashesOf(doc: GraphDocument, records: readonly DocumentRecord[]): Clashes {
  const names = (section: "node" | "key") =>
    records.filter(({ id }) => id.startsWith(`${section}:`)).map(({ id, value }) => ({ id, value }));
  return {
    nodes: names("node").flatMap(({ id }) => (doc.has(id) ? [id.slice("node:".length)] : [])),
    keys: names("key").flatMap(({ id, value }) =>
      doc.has(id) && !sameShape(doc.get(id), value) ? [id.slice("key:".length)] : [],
    ),
  };
}

/** Keys of one shape are one key: what is said about it for people may differ. */
function sameShape(a: Json | undefined, b: Json | undefined): boolean {
  if (!isObject(a) || !isObject(b)) return false;
  return ["type", "items", "reducer", "channel"].every((field) => same(a[field] ?? null, b[field] ?? null));
}

/** The patch, and the names of the nodes that came; `place` is where the top left corner of new ones goes. */
export function mergeGraph(
  doc: GraphDocument,
  records: readonly DocumentRecord[],
  how: Merging,
  place: Point,
  kinds: readonly NodeKind[],
): { patch: Patch; names: string[] } {
  if (doc.names("node").length === 0) {
    const start = positionOf(doc.get(`layout:${START}`)) ?? { x: place.x - 160, y: place.y };
    return addPattern(doc, records, place, start, kinds);
  }
  const coming = new GraphDocument();
  coming.reset(records);
  return how === "update" ? updated(doc, coming, place) : beside(doc, coming, place, kinds, { ends: [END] });
}

/** Keys of a clip that mean something else here. */
export const clashingKeys = (doc: GraphDocument, clip: Clip): readonly string[] =>
  clashesOf(doc, keysOf(clip)).keys;

const keysOf = ({ state = {} }: Clip): DocumentRecord[] =>
  Object.entries(state).map(([name, value]) => ({ id: `key:${name}`, value }));

/**
 * Pastes with the keys that the nodes use, where they are not there. One that means something else here gets a name of its
 * own, or with `shared` the nodes use the one that is here.
 */
export function pasteWithKeys(
  doc: GraphDocument,
  clip: Clip,
  place: Point,
  kinds: readonly NodeKind[],
  { shared = false, connected = false }: { readonly shared?: boolean; readonly connected?: boolean } = {},
): { patch: Patch; names: string[] } {
  const coming = new GraphDocument();
  const records = (section: string, values: JsonObject) =>
    Object.entries(values).map(([name, value]) => ({ id: `${section}:${name}`, value }));
  coming.reset([
    { id: "doc", value: {} },
    ...keysOf(clip),
    ...records("node", clip.nodes),
    ...clip.edges.map((value, index) => ({ id: `edge:${index}`, value })),
    ...records("layout", clip.layout),
  ]);
  return beside(doc, coming, place, kinds, { shared, connected, incoming: clip.incoming ?? [] });
}

interface Beside {
  /** See `pasteClip`. */
  readonly ends?: readonly string[];
  readonly connected?: boolean;
  readonly incoming?: Json[];
  /** A key that means something else here is taken for the one that is here. */
  readonly shared?: boolean;
}

function beside(
  doc: GraphDocument,
  coming: GraphDocument,
  place: Point,
  kinds: readonly NodeKind[],
  { ends = [], connected = false, incoming = [], shared = false }: Beside,
): { patch: Patch; names: string[] } {
  const keys = shared ? [] : clashesOf(doc, coming.records()).keys;
  const taken = new Set(coming.names("key"));
  for (const key of keys) {
    const to = uniqueName(doc, "key", key, taken);
    taken.add(to);
    const named = { what: "key", name: key } as const;
    const programs = usesOf(coming, kinds, {}, named).filter((use) => use.program === true && !use.unsure);
    coming.apply(renameEverywhere(coming, kinds, named, to, programs));
  }
  let names: string[] = [];
  const patch = inTurn(
    doc,
    (here) => {
      const draft = new Draft(here);
      for (const name of coming.names("key"))
        if (!here.has(`key:${name}`)) draft.set(`key:${name}`, coming.get(`key:${name}`));
      return draft.patch();
    },
    (here) => {
      const pasted = pasteClip(here, { ...clipOf(coming), incoming }, place, kinds, { ends, connected });
      names = pasted.names;
      return pasted.patch;
    },
  );
  return { patch, names };
}

function clipOf(doc: GraphDocument): Clip {
  const section = (name: "node" | "layout"): JsonObject =>
    Object.fromEntries(doc.names(name).map((id) => [id, doc.get(`${name}:${id}`) ?? null]));
  return {
    format: CLIP_FORMAT,
    nodes: section("node"),
    edges: doc.names("edge").map((id) => doc.get(`edge:${id}`) ?? null),
    layout: section("layout"),
  };
}

/** Nodes and keys of the same names take what comes, where they stand; what leads in from the start stays as it is here. */
function updated(doc: GraphDocument, coming: GraphDocument, place: Point): { patch: Patch; names: string[] } {
  const draft = new Draft(doc);
  const names = coming.names("node");
  const theirs = new Set(names);
  const spot = (of: GraphDocument, name: string) => positionOf(of.get(`layout:${name}`));
  for (const key of coming.names("key")) draft.set(`key:${key}`, coming.get(`key:${key}`));
  // New nodes stand to those that are here as they stood there.
  const anchor = names.find((name) => spot(doc, name) !== null && spot(coming, name) !== null);
  const from = anchor === undefined ? null : spot(coming, anchor);
  const to = anchor === undefined ? null : spot(doc, anchor);
  const shift = from && to ? { x: to.x - from.x, y: to.y - from.y } : place;
  names.forEach((name) => {
    const known = doc.has(`node:${name}`);
    draft.set(`node:${name}`, coming.get(`node:${name}`));
    const own = spot(coming, name);
    if (!known && own) draft.set(`layout:${name}`, rounded({ x: own.x + shift.x, y: own.y + shift.y }));
  });

  const inside = (edge: JsonObject, ends: readonly string[]) => {
    const { sources, targets } = edgeOf(edge);
    return (
      sources.length > 0 &&
      sources.every((name) => theirs.has(name)) &&
      targets.every((name) => theirs.has(name) || ends.includes(name))
    );
  };
  const wanted = coming
    .names("edge")
    .map((id) => coming.get(`edge:${id}`))
    .filter((edge): edge is JsonObject => isObject(edge) && inside(edge, [END]));
  const kept: JsonObject[] = [];
  for (const id of doc.names("edge")) {
    const edge = doc.get(`edge:${id}`);
    if (!isObject(edge) || !inside(edge, [END])) continue;
    if (wanted.some((each) => same(each, withoutId(edge)))) kept.push(withoutId(edge));
    else draft.remove(`edge:${id}`);
  }
  for (const edge of wanted) if (!kept.some((each) => same(each, edge))) addEdge(draft, edge);
  return { patch: draft.patch(), names: [...names] };
}
