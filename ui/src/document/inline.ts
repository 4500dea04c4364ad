/**
 * The nodes of a nested graph in the place of the node that runs it. Keys are shared by name, so what has a mapping of
 * its own, or a key that means something else outside, is refused.
 */
import type { GraphDocument } from "./document";
import { addEdge, Draft } from "./draft";
import { uniqueName, type Point } from "./edits";
import { member, withTargets } from "./extract";
import type { Refusal } from "./extraction";
import { type DynamicTargets, namedBy, type Schemas, withNames } from "./node-references";
import { same, type Patch } from "./patch";
import { edgeOf, END, isObject, nodeOf, positionOf, START, type Json, type JsonObject } from "./types";
import type { Usage } from "./usage";

interface Around {
  readonly usage: ReadonlyMap<string, Usage>;
  readonly schemas: Schemas;
  readonly leads: DynamicTargets;
  /** The nested file lies in another folder, from which its paths are read. */
  readonly elsewhere: boolean;
}

const refuse = (refused: Refusal["refused"], names: Iterable<string> = []): Refusal => ({
  refused,
  names: [...new Set(names)],
});

/** What a Graph node itself may have without losing it. */
const OWN = new Set(["kind", "config", "title", "description"]);

export function inlineGraph(
  doc: GraphDocument,
  node: string,
  inner: GraphDocument,
  around: Around,
): { patch: Patch; names: string[] } | Refusal {
  const problem = refusalOf(doc, node, inner, around);
  if (problem) return problem;
  const draft = new Draft(doc);
  const renamed = new Map<string, string>();
  for (const name of inner.names("node"))
    renamed.set(name, uniqueName(doc, "node", name, new Set(renamed.values())));
  for (const key of inner.names("key"))
    if (!doc.has(`key:${key}`)) draft.set(`key:${key}`, inner.get(`key:${key}`));
  const joined = joinEdges(doc, node, inner, renamed);
  if ("refused" in joined) return joined;
  for (const edge of doc.edgesOf(node)) draft.remove(`edge:${edge}`);
  const at = doc.names("node").indexOf(node);
  draft.remove(`layout:${node}`);
  draft.remove(`node:${node}`);
  const shift = shiftTo(inner, positionOf(doc.get(`layout:${node}`)));
  inner.names("node").forEach((name, index) => {
    const to = renamed.get(name) ?? name;
    const record = inner.get(`node:${name}`);
    if (!isObject(record)) return;
    const next = withFallback(
      withNames(record, around.schemas, (other) => renamed.get(other)),
      renamed,
    );
    draft.set(`node:${to}`, next, at + index);
    const spot = positionOf(inner.get(`layout:${name}`));
    if (spot) draft.set(`layout:${to}`, [Math.round(spot.x + shift.x), Math.round(spot.y + shift.y)]);
  });
  for (const edge of joined.edges) addEdge(draft, edge);
  return { patch: draft.patch(), names: [...renamed.values()] };
}

function refusalOf(doc: GraphDocument, node: string, inner: GraphDocument, around: Around): Refusal | null {
  const record = doc.get(`node:${node}`);
  const { config } = nodeOf(record);
  if (inner.names("node").length === 0) return refuse("empty");
  const policy = Object.keys(isObject(record) ? record : {}).filter((field) => !OWN.has(field));
  if (policy.length > 0) return refuse("policy", policy);
  const { remembers } = config;
  if (remembers === "thread" || remembers === "nothing") return refuse("remembers");
  const mapped = mappedKeys(config);
  if (mapped.length > 0) return refuse("mapped", mapped);
  const named = namedBy(doc, around.schemas, (name) => name === node).map(([name]) => name);
  const led = Object.entries(around.leads).flatMap(([from, names]) => (names.includes(node) ? [from] : []));
  const replaced = doc.names("node").filter((name) => {
    const other = doc.get(`node:${name}`);
    const fallback = isObject(other) ? other["fallback"] : undefined;
    return isObject(fallback) && (fallback["node"] === node || fallback["to"] === node);
  });
  if (named.length + led.length + replaced.length > 0)
    return refuse("named", [...named, ...led, ...replaced]);
  const files = inner.names("node").filter((name) => namesFiles(nodeOf(inner.get(`node:${name}`)).config));
  if (around.elsewhere && files.length > 0) return refuse("files", files);
  return keyRefusal(doc, node, inner, around.usage);
}

/** Keys that a mapping gives or takes under another name or in another form. */
function mappedKeys(config: JsonObject): string[] {
  const others = (field: "input" | "output", from: string) => {
    const mapping = config[field];
    if (!isObject(mapping)) return [];
    return Object.entries(mapping).flatMap(([key, value]) => {
      const [is, was] = [member(from, key), member("state", key)];
      // What was added to a list or a sum is what its reducer adds without a mapping.
      const added = field === "output" ? [`${is}[${was}|length:]`, `${is} - ${was}`, `${is} / ${was}`] : [];
      return typeof value === "string" && [is, ...added].includes(value.trim()) ? [] : [key];
    });
  };
  return [...others("input", "state"), ...others("output", "result")];
}

/** Settings that hold paths, which are read from the folder of the graph. */
function namesFiles(config: JsonObject): boolean {
  return ["graph", "folder", "module", "file"].some(
    (field) => typeof config[field] === "string" && config[field] !== "",
  );
}

const SHAPE = ["type", "reducer", "channel"] as const;

function keyRefusal(
  doc: GraphDocument,
  node: string,
  inner: GraphDocument,
  usage: ReadonlyMap<string, Usage>,
): Refusal | null {
  const both = inner.names("key").filter((key) => doc.has(`key:${key}`));
  const differ = both.filter((key) => {
    const [a, b] = [inner.get(`key:${key}`), doc.get(`key:${key}`)];
    if (!isObject(a) || !isObject(b)) return !same(a ?? null, b ?? null);
    return SHAPE.some((field) => !same(a[field] ?? null, b[field] ?? null));
  });
  if (differ.length > 0) return refuse("keys", differ);
  // A key of the nested graph alone has a value of its own there; outside it would be the same one.
  const listed = (field: "input" | "output", key: string) => {
    const names = inner.head[field];
    return !Array.isArray(names) || names.includes(key);
  };
  const own = both.filter((key) => {
    if (listed("input", key) || listed("output", key)) return false;
    const { readers = [], writers = [] } = usage.get(key) ?? {};
    return [...readers, ...writers].some((id) => id !== `node:${node}`);
  });
  return own.length > 0 ? refuse("private", own) : null;
}

function withFallback(record: JsonObject, renamed: ReadonlyMap<string, string>): JsonObject {
  const { fallback } = record;
  if (!isObject(fallback)) return record;
  const next = { ...fallback };
  for (const field of ["node", "to"]) {
    const name = next[field];
    if (typeof name === "string") next[field] = renamed.get(name) ?? name;
  }
  return { ...record, fallback: next };
}

/** The top left node goes where the Graph node was. */
function shiftTo(inner: GraphDocument, to: Point | null): Point {
  const spots = inner.names("node").flatMap((name) => positionOf(inner.get(`layout:${name}`)) ?? []);
  if (!to || spots.length === 0) return { x: 0, y: 0 };
  return { x: to.x - Math.min(...spots.map(({ x }) => x)), y: to.y - Math.min(...spots.map(({ y }) => y)) };
}

// Edges

/** The edges of the nested graph and of the node, put together where they meet. */
function joinEdges(
  doc: GraphDocument,
  node: string,
  inner: GraphDocument,
  renamed: ReadonlyMap<string, string>,
): { edges: JsonObject[] } | Refusal {
  const inside = objects(inner, inner.names("edge")).map((edge) => moved(edge, renamed));
  const entering = inside.filter((edge) => edge["from"] === START);
  const loops = objects(doc, doc.edgesOf(node));
  const incoming = loops.filter((edge) => edgeOf(edge).targets.includes(node));
  const outgoing = loops.filter((edge) => edgeOf(edge).sources.includes(node));
  if (entering.length === 0) return refuse("empty");
  // Each item has a run of the graph to itself, with a state of its own.
  if (incoming.some((edge) => edgeOf(edge).form === "each")) return refuse("items", [node]);
  // How often the node was visited is not how often one of those in it was.
  if (outgoing.some((edge) => edgeOf(edge).form === "limit")) return refuse("both", [node]);
  const heads = joinHeads(node, incoming, entering);
  const tails = joinTails(node, outgoing, inside, renamed);
  if (heads === null || tails === null) return refuse("both", [node]);
  // An edge of the node onto itself is among both: its head has been joined, its tail is joined to that.
  const selfish = outgoing.some((edge) => edgeOf(edge).targets.includes(node));
  if (selfish) return refuse("both", [node]);
  const within = inside.filter((edge) => edge["from"] !== START && !edgeOf(edge).targets.includes(END));
  return { edges: [...heads, ...within, ...tails] };
}

function objects(doc: GraphDocument, edges: readonly string[]): JsonObject[] {
  return edges.flatMap((edge) => {
    const record = doc.get(`edge:${edge}`);
    if (!isObject(record)) return [];
    const { id: _own, ...rest } = record;
    return [rest];
  });
}

function moved(edge: JsonObject, renamed: ReadonlyMap<string, string>): JsonObject {
  const to = (name: Json | undefined): Json =>
    typeof name === "string" ? (renamed.get(name) ?? name) : (name ?? null);
  const { from } = edge;
  return withTargets({ ...edge, from: Array.isArray(from) ? from.map(to) : to(from) }, to);
}

const isPlain = (edge: JsonObject) => edgeOf(edge).form === "plain";

/** What leads to the node leads to where the nested graph begins. */
function joinHeads(
  node: string,
  incoming: readonly JsonObject[],
  entering: readonly JsonObject[],
): JsonObject[] | null {
  const [entry] = entering;
  const firsts = entering.flatMap((edge) => edgeOf(edge).targets);
  if (entering.length === 1 && entry && isPlain(entry))
    return incoming.map((edge) =>
      withTargets(edge, (name) => (name === node ? (firsts[0] ?? null) : (name ?? null))),
    );
  if (entering.every(isPlain)) {
    // A route has one target for a label.
    if (incoming.some((edge) => edgeOf(edge).form === "route")) return null;
    return incoming.flatMap((edge) => firsts.map((to) => ({ ...edge, to })));
  }
  // The nested graph chooses where to begin: the nodes before it do so in its place.
  if (!incoming.every(isPlain)) return null;
  return incoming.flatMap((edge) => entering.map((own) => ({ ...own, from: edge["from"] ?? null })));
}

/** What leads to the nested graph's end goes on as the node did. */
function joinTails(
  node: string,
  outgoing: readonly JsonObject[],
  inside: readonly JsonObject[],
  renamed: ReadonlyMap<string, string>,
): JsonObject[] | null {
  const ending = inside.filter((edge) => edge["from"] !== START && edgeOf(edge).targets.includes(END));
  const busy = new Set(inside.flatMap((edge) => edgeOf(edge).sources));
  const led = new Set(inside.flatMap((edge) => edgeOf(edge).targets));
  // A node from which no edge leads ends the nested graph, unless it is a text on the canvas.
  const silent = [...renamed.values()].filter((name) => led.has(name) && !busy.has(name));
  const tails: JsonObject[] = [...ending, ...silent.map((from) => ({ from, to: END }))];
  if (outgoing.length === 0) return ending;
  const [only] = outgoing;
  const joins = outgoing.some((edge) => edgeOf(edge).form === "join");
  const parallel = inside.every((edge) => ["plain", "join"].includes(edgeOf(edge).form));
  if (tails.every(isPlain)) {
    const last = tails.map((edge) => edgeOf(edge).sources[0] ?? "");
    return outgoing.flatMap((edge): JsonObject[] => {
      const { form, targets } = edgeOf(edge);
      const others = Array.isArray(edge["from"]) ? edge["from"].filter((name) => name !== node) : [];
      if (form === "join") return [{ ...edge, from: [...last, ...others] }];
      // All of them run: what comes next waits for the last one.
      if (form === "plain" && parallel && last.length > 1 && targets[0] !== END)
        return [{ ...edge, from: last }];
      return last.map((from) => ({ ...edge, from }));
    });
  }
  if (joins || !outgoing.every(isPlain)) return null;
  const next = outgoing.flatMap((edge) => edgeOf(edge).targets);
  if (outgoing.length === 1 && only)
    return tails.map((edge) =>
      withTargets(edge, (name) => (name === END ? (next[0] ?? END) : (name ?? null))),
    );
  if (tails.some((edge) => edgeOf(edge).form === "route")) return null;
  return tails.flatMap((edge) => next.map((to) => ({ ...edge, to })));
}
