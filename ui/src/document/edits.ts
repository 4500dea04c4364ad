/**
 * Everything that can be done to a graph, each as a pure function from a document to a patch. None of them looks at
 * anything else, so what the canvas, the forms and the outline do is the same, and all of it is undone the same way.
 */
import type { Schema } from "../components/schema-form/schema";
import type { NodeKind } from "../ipc/bindings/NodeKind";
import type { GraphDocument } from "./document";
import { withWayNamed } from "./disabled";
import { addEdge, Draft, moveRecord } from "./draft";
import {
  dropErrorWaysTo,
  errorNode,
  errorWayOf,
  removeErrorWay,
  setErrorWay,
  withErrorWayNamed,
} from "./error-ways";
import { keysTaking, namedBy, namingKinds, withAllowed, withLabels, withNames } from "./node-references";
import type { Patch } from "./patch";
import { pointerGet, pointerSet } from "./pointer";
import { edgeOf, END, isObject, nodeOf, ROUTER, START, type Json, type JsonObject } from "./types";
import { alsoInVariants } from "./variants";
import { withCondition, withRules, withValues, withWritten } from "./written-names";

export interface Point {
  readonly x: number;
  readonly y: number;
}

// Names

/** What a node may be called; answers what is wrong, or null. */
export function nodeNameProblem(
  doc: GraphDocument,
  name: string,
  self?: string,
): "empty" | "reserved" | "sign" | "taken" | null {
  if (name.trim() === "") return "empty";
  if (name.startsWith("__")) return "reserved";
  if (/[:|]/.test(name)) return "sign";
  if (name !== self && doc.has(`node:${name}`)) return "taken";
  return null;
}

/** `base`, or `base_2`, `base_3` … whichever is free among the records of a section and `taken`. */
export function uniqueName(
  doc: GraphDocument,
  section: "node" | "key",
  base: string,
  taken: ReadonlySet<string> = new Set(),
): string {
  const free = (name: string) => !doc.has(`${section}:${name}`) && !taken.has(name);
  if (free(base)) return base;
  const stem = base.replace(/_\d+$/, "");
  for (let count = 2; ; count += 1) {
    const name = `${stem}_${count}`;
    if (free(name)) return name;
  }
}

// Fields

/** Sets (or with `undefined` removes) the value at a JSON Pointer of a record. */
export function setField(
  doc: GraphDocument,
  recordId: string,
  pointer: string,
  value: Json | undefined,
): Patch {
  const draft = new Draft(doc);
  const before = doc.get(recordId);
  if (before === undefined) return draft.patch();
  draft.set(recordId, pointerSet(before, pointer, value));
  return draft.patch();
}

export function getField(doc: GraphDocument, recordId: string, pointer: string): Json | undefined {
  return pointerGet(doc.get(recordId), pointer);
}

/** Puts a whole value in a record's place; adds the record when there is none. */
export function setRecord(doc: GraphDocument, recordId: string, value: Json): Patch {
  const draft = new Draft(doc);
  draft.set(recordId, value);
  return draft.patch();
}

// Nodes

export interface NewNode {
  readonly name: string;
  readonly kind: string;
  readonly config: JsonObject;
  readonly position: Point;
  /** State keys that come with it. */
  readonly keys?: ReadonlyMap<string, JsonObject>;
}

export function addNode(doc: GraphDocument, node: NewNode): Patch {
  const draft = new Draft(doc);
  addNodeTo(draft, node);
  return draft.patch();
}

function addNodeTo(draft: Draft, { name, kind, config, position, keys }: NewNode): void {
  for (const [key, schema] of keys ?? []) draft.set(`key:${key}`, schema);
  draft.set(`node:${name}`, { kind, config });
  draft.set(`layout:${name}`, rounded(position));
}

/** A new node with an edge from or to a node that is there: what a dropped wire makes. */
export function addConnectedNode(
  doc: GraphDocument,
  node: NewNode,
  wire: { from?: string; to?: string },
): Patch {
  const draft = new Draft(doc);
  addNodeTo(draft, node);
  if (wire.from !== undefined) addEdge(draft, { from: wire.from, to: node.name });
  if (wire.to !== undefined) addEdge(draft, { from: node.name, to: wire.to });
  return draft.patch();
}

export function rounded(position: Point): Json {
  return [Math.round(position.x), Math.round(position.y)];
}

export function moveNodes(doc: GraphDocument, positions: ReadonlyMap<string, Point>): Patch {
  const draft = new Draft(doc);
  for (const [name, position] of positions) draft.set(`layout:${name}`, rounded(position));
  return draft.patch();
}

/**
 * Renames a node with every reference to it: edges, settings of nodes (known from the kinds' schemas), and the labels of
 * choices that read a key which takes its name. Answers an empty patch when the name cannot be used.
 */
export function renameNode(doc: GraphDocument, from: string, to: string, kinds: readonly NodeKind[]): Patch {
  const draft = new Draft(doc);
  const value = doc.get(`node:${from}`);
  if (from === to || value === undefined || nodeNameProblem(doc, to, from)) return draft.patch();
  moveRecord(draft, "node", from, to, value);
  const position = doc.get(`layout:${from}`);
  if (position !== undefined && !doc.has(`layout:${to}`)) moveRecord(draft, "layout", from, to, position);
  const renamed = (name: Json | undefined) => (name === from ? to : (name ?? null));
  for (const edge of doc.edgesOf(from)) {
    const id = `edge:${edge}`;
    const record = doc.get(id);
    if (!isObject(record)) continue;
    const next: JsonObject = { ...record };
    for (const field of ["from", "to", "default"]) {
      const part = next[field];
      if (Array.isArray(part)) next[field] = part.map(renamed);
      else if (part === from) next[field] = to;
    }
    if (isObject(next["paths"])) {
      next["paths"] = Object.fromEntries(
        Object.entries(next["paths"]).map(([label, target]) => [label, renamed(target)]),
      );
    }
    draft.set(id, next);
  }
  const schemas = namingKinds(kinds);
  const places = namedBy(doc, schemas, (name) => name === from);
  const next = (name: string) => (name === from ? to : undefined);
  const taking = keysTaking(places);
  for (const edge of taking.size === 0 ? [] : doc.names("edge")) {
    const record = draft.get(`edge:${edge}`);
    if (isObject(record))
      draft.set(
        `edge:${edge}`,
        withRules(withCondition(withLabels(record, taking, next), taking, next), taking, next),
      );
  }
  // Who writes the name into such a key writes the new one.
  const settings = new Map(kinds.map((kind) => [kind.kind, kind.configSchema as Schema]));
  for (const name of taking.size === 0 ? [] : doc.names("node")) {
    const id = `node:${next(name) ?? name}`;
    const record = draft.get(id);
    if (isObject(record)) draft.set(id, withWritten(record, settings.get(nodeOf(record).kind), taking, next));
  }
  for (const key of taking) {
    const record = draft.get(`key:${key}`);
    if (isObject(record)) draft.set(`key:${key}`, withRules(withAllowed(record, next, false), taking, next));
  }
  if (taking.size > 0) draft.set("doc", withHeadNamed(doc.head, taking, next));
  for (const [name] of places) {
    const id = `node:${next(name) ?? name}`;
    const record = draft.get(id);
    if (isObject(record)) draft.set(id, withNames(record, schemas, next));
  }
  // Nodes named by another one: its fallback, where it goes on when it fails, or its way while it is disabled.
  for (const name of doc.names("node")) {
    const id = `node:${next(name) ?? name}`;
    const old = draft.get(id);
    if (!isObject(old)) continue;
    const named = alsoInVariants(old, (each) => withNames(each, schemas, next));
    draft.set(id, withErrorWayNamed(withWayNamed(named, next), next));
  }
  return draft.patch();
}

/** The head of a graph whose rules and examples name a node in one of the keys. */
function withHeadNamed(
  head: JsonObject,
  keys: ReadonlySet<string>,
  renamed: (name: string) => string | undefined,
): JsonObject {
  const { examples } = head;
  const next = Array.isArray(examples)
    ? examples.map((example) =>
        isObject(example) && isObject(example["input"])
          ? { ...example, input: withValues(example["input"], keys, renamed) }
          : example,
      )
    : undefined;
  return withRules({ ...head, ...(next && { examples: next }) }, keys, renamed);
}

// Deleting

export interface Doomed {
  readonly nodes?: readonly string[];
  readonly edges?: readonly string[];
  /** Single lines of an edge: a route's label, a join's source. */
  readonly paths?: readonly { readonly edge: string; readonly part: string }[];
  readonly keys?: readonly string[];
}

/** Deletes records and what cannot stay without them: edges of nodes, positions. */
export function deleteThings(
  doc: GraphDocument,
  { nodes = [], edges = [], paths = [], keys = [] }: Doomed,
): Patch {
  const draft = new Draft(doc);
  for (const edge of edges) {
    const failing = errorNode(doc, edge);
    if (failing === null) draft.remove(`edge:${edge}`);
    else removeErrorWay(draft, failing);
  }
  for (const { edge, part } of paths) removePath(draft, edge, part);
  for (const node of nodes) {
    if (node === START || node === END) continue;
    for (const edge of doc.edgesOf(node)) detach(draft, edge, node);
    draft.remove(`layout:${node}`);
    draft.remove(`node:${node}`);
  }
  if (nodes.length > 0) dropErrorWaysTo(draft, new Set(nodes));
  for (const key of keys) draft.remove(`key:${key}`);
  return draft.patch();
}

/** Takes a node out of an edge; the edge goes when nothing is left of it. */
function detach(draft: Draft, edge: string, node: string): void {
  const id = `edge:${edge}`;
  const record = draft.get(id);
  if (!isObject(record)) return;
  const view = edgeOf(record);
  if (view.form === "join" && view.sources.includes(node) && !view.targets.includes(node)) {
    draft.set(
      id,
      withSources(
        record,
        view.sources.filter((source) => source !== node),
      ),
    );
    return;
  }
  if (view.form === "route" && !view.sources.includes(node)) {
    for (const path of view.paths) if (path.to === node) removePath(draft, edge, path.part);
    return;
  }
  draft.remove(id);
}

/** A join of one source is a plain edge; of none it is nothing. */
function withSources(record: JsonObject, sources: readonly string[]): JsonObject | undefined {
  const only = sources[0];
  if (only === undefined) return undefined;
  return { ...record, from: sources.length === 1 ? only : [...sources] };
}

/** Takes one line of an edge away; the edge goes with its last one. */
export function removePath(draft: Draft, edge: string, part: string): void {
  const id = `edge:${edge}`;
  const record = draft.get(id);
  if (!isObject(record)) return;
  const view = edgeOf(record);
  if (view.form === "join") {
    draft.set(
      id,
      withSources(
        record,
        view.sources.filter((source) => source !== part),
      ),
    );
    return;
  }
  if (view.form !== "route") {
    draft.remove(id);
    return;
  }
  const next: JsonObject = { ...record };
  if (part === "default") delete next["default"];
  else if (isObject(next["paths"])) {
    const paths = { ...next["paths"] };
    delete paths[part.slice(1)];
    next["paths"] = paths;
  }
  draft.set(id, edgeOf(next).paths.length === 0 ? undefined : next);
}

/** Deletes nodes and connects what came before them with what came after. */
export function deleteAndJoin(doc: GraphDocument, nodes: readonly string[]): Patch {
  let patch: Patch = { ops: [] };
  const scratch = copyOf(doc);
  for (const node of nodes) {
    if (node === START || node === END || !scratch.has(`node:${node}`)) continue;
    const draft = new Draft(scratch);
    const successors = [
      ...new Set(
        scratch
          .edgesFrom(node)
          .map((edge) => edgeOf(scratch.get(`edge:${edge}`)))
          .filter(({ form }) => form !== "limit")
          .flatMap(({ targets }) => [...targets])
          .filter((target) => target !== node),
      ),
    ];
    for (const edge of scratch.edgesTo(node)) {
      const record = scratch.get(`edge:${edge}`);
      const view = edgeOf(record);
      if (!isObject(record) || view.sources.includes(node)) continue;
      const [first, ...others] = successors;
      if (first === undefined) continue;
      if (view.form === "route") {
        for (const path of view.paths) if (path.to === node) retarget(draft, edge, path.part, first);
      } else {
        // A fan-out behind the node becomes one edge for each branch; the first takes the place of the old one.
        const source = view.sources[0];
        const known = (to: string) =>
          view.form === "plain" && source !== undefined && findPlain(scratch, source, to) !== undefined;
        const { id: _own, ...rest } = record;
        for (const to of others) if (!known(to)) addEdge(draft, { ...rest, to });
        if (!known(first)) {
          draft.set(`edge:${edge}`, { ...record, to: first });
          continue;
        }
        draft.remove(`edge:${edge}`);
      }
    }
    dropErrorWaysTo(draft, new Set([node]), successors[0]);
    const rewired = scratch.apply(draft.patch());
    const removed = scratch.apply(deleteThings(scratch, { nodes: [node] }));
    patch = { ops: [...patch.ops, ...rewired.ops, ...removed.ops] };
  }
  return patch;
}

function copyOf(doc: GraphDocument): GraphDocument {
  const copy = new (doc.constructor as new () => GraphDocument)();
  copy.reset(doc.records());
  return copy;
}

// Edges

export function findPlain(doc: GraphDocument, from: string, to: string): string | undefined {
  return doc.edgesFrom(from).find((edge) => {
    const view = edgeOf(doc.get(`edge:${edge}`));
    return view.form === "plain" && view.targets[0] === to;
  });
}

/** May an edge go from here to there? Loops onto oneself may. */
export function canConnect(from: string, to: string): boolean {
  return from !== END && to !== START && !(from === START && to === END);
}

/** A plain edge. Empty when there is one already. */
export function connect(doc: GraphDocument, from: string, to: string): Patch {
  const draft = new Draft(doc);
  if (canConnect(from, to) && findPlain(doc, from, to) === undefined) addEdge(draft, { from, to });
  return draft.patch();
}

function retarget(draft: Draft, edge: string, part: string, to: string): void {
  const id = `edge:${edge}`;
  const record = draft.get(id);
  if (!isObject(record)) return;
  if (edgeOf(record).form !== "route") draft.set(id, { ...record, to });
  else if (part === "default") draft.set(id, { ...record, default: to });
  else if (isObject(record["paths"])) {
    draft.set(id, { ...record, paths: { ...record["paths"], [part.slice(1)]: to } });
  }
}

/** Moves one end of an edge's line to another node. */
export function reconnect(
  doc: GraphDocument,
  edge: string,
  part: string,
  ends: { from?: string; to?: string },
): Patch {
  const draft = new Draft(doc);
  const id = `edge:${edge}`;
  const view = edgeOf(doc.get(id));
  const path = view.paths.find((each) => each.part === part);
  if (!path) return draft.patch();
  if (!canConnect(ends.from ?? path.from, ends.to ?? path.to)) return draft.patch();
  if (ends.to !== undefined && ends.to !== path.to) retarget(draft, edge, part, ends.to);
  const record = draft.get(id);
  if (ends.from !== undefined && ends.from !== path.from && isObject(record)) {
    const { from: source } = ends;
    if (view.form === "join") {
      const sources = view.sources.map((each) => (each === path.from ? source : each));
      draft.set(id, withSources(record, [...new Set(sources)]));
    } else draft.set(id, { ...record, from: source });
  }
  return draft.patch();
}

/** Puts a node into an edge's line: what led there leads to the node, and the node leads on. */
export function spliceIntoEdge(doc: GraphDocument, edge: string, part: string, node: string): Patch {
  const draft = new Draft(doc);
  const failing = errorNode(doc, edge);
  if (failing !== null) return spliceIntoErrorWay(draft, failing, node);
  const record = doc.get(`edge:${edge}`);
  const view = edgeOf(record);
  const path = view.paths.find((each) => each.part === part);
  if (!path || !isObject(record) || path.from === node || path.to === node) return draft.patch();
  if (view.form === "join") {
    // The node stands before the join: the join waits for it instead of the source.
    const sources = view.sources.map((source) => (source === path.from ? node : source));
    draft.set(`edge:${edge}`, withSources(record, [...new Set(sources)]));
    if (findPlain(doc, path.from, node) === undefined) addEdge(draft, { from: path.from, to: node });
    return draft.patch();
  }
  retarget(draft, edge, part, node);
  if (findPlain(doc, node, path.to) === undefined) addEdge(draft, { from: node, to: path.to });
  return draft.patch();
}

/** The failure of a node leads to a node before it goes on where it led. One that does the work has no way on. */
function spliceIntoErrorWay(draft: Draft, failing: string, node: string): Patch {
  const way = errorWayOf(draft.get(`node:${failing}`));
  const to = way?.to ?? null;
  if (way?.how !== "branch" || to === null || to === node || failing === node) return draft.patch();
  setErrorWay(draft, failing, node);
  if (findPlain(draft.doc, node, to) === undefined) addEdge(draft, { from: node, to });
  return draft.patch();
}

/** A new node in an edge's line. */
export function addNodeIntoEdge(doc: GraphDocument, node: NewNode, edge: string, part: string): Patch {
  return inTurn(
    doc,
    (each) => addNode(each, node),
    (each) => spliceIntoEdge(each, edge, part, node.name),
  );
}

/** Several changes as one, each made on what the ones before it left. */
export function inTurn(doc: GraphDocument, ...changes: readonly ((doc: GraphDocument) => Patch)[]): Patch {
  const scratch = copyOf(doc);
  return { ops: changes.flatMap((change) => scratch.apply(change(scratch)).ops) };
}

/** The first node of a graph stands between its ends; one that chooses among its ways leads nowhere besides them. */
export function addFirstNode(doc: GraphDocument, node: NewNode): Patch {
  return inTurn(
    doc,
    (each) => addNode(each, node),
    (each) => connect(each, START, node.name),
    (each) => (node.kind === ROUTER ? { ops: [] } : connect(each, node.name, END)),
  );
}

/** Bounds how often a thread may come to a node after an input; undefined takes the bound away. */
export function setMaxVisits(doc: GraphDocument, node: string, most: number | undefined): Patch {
  return setField(doc, `node:${node}`, "/max_visits", most);
}
