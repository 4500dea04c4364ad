/** Selected nodes as a block: a graph of its own that is kept beside the graphs of a folder and put into others. Pure. */
import { GraphDocument, type DocumentRecord } from "./document";
import { addEdge, Draft } from "./draft";
import type { Point } from "./edits";
import { errorWayOf, removeErrorWay } from "./error-ways";
import { edgeOf, END, isObject, nodeOf, NOTE, START, type Json, type JsonObject } from "./types";
import type { Usage } from "./usage";

/** What a person calls a block, and says about it. */
export interface BlockText {
  readonly name: string;
  readonly description: string;
}

/** What nodes take along as a block. */
export interface BlockPlan {
  readonly nodes: readonly string[];
  /** State keys that the nodes and their edges read or write. */
  readonly keys: readonly string[];
  readonly edges: readonly JsonObject[];
  /** Other nodes that the nodes lead to: those ways are not part of it. */
  readonly outside: readonly string[];
}

export function planBlock(
  doc: GraphDocument,
  selected: Iterable<string>,
  usage: ReadonlyMap<string, Usage>,
): BlockPlan {
  const inside = new Set(selected);
  const nodes = doc.names("node").filter((name) => inside.has(name));
  const within = new Set(nodes.map((name) => `node:${name}`));
  const edges: JsonObject[] = [];
  const reached = nodes.map((name) => errorWayOf(doc.get(`node:${name}`))?.to ?? END);
  for (const id of doc.names("edge")) {
    const record = doc.get(`edge:${id}`);
    const { sources, targets } = edgeOf(record);
    if (!isObject(record) || !sources.some((name) => inside.has(name))) continue;
    reached.push(...targets);
    const edge = innerEdge(record, inside);
    if (edge === null) continue;
    edges.push(edge);
    within.add(`edge:${id}`);
  }
  const used = (key: string) => {
    const { readers = [], writers = [] } = usage.get(key) ?? {};
    return [...readers, ...writers].some((id) => within.has(id));
  };
  const outside = new Set(reached.filter((name) => name !== END && !inside.has(name)));
  return { nodes, keys: doc.names("key").filter(used), edges, outside: [...outside] };
}

/**
 * What of an edge is part of the block. An edge that only leads to the end is not: what comes next is chosen where the
 * block is put. A route keeps the labels that lead to its nodes; the others wait there for a wire.
 */
function innerEdge({ id: _own, ...edge }: JsonObject, inside: ReadonlySet<string>): JsonObject | null {
  const { form, sources, targets } = edgeOf(edge);
  if (!sources.every((name) => inside.has(name)) || targets.length === 0) return null;
  const fits = (name: Json | undefined) => typeof name === "string" && (name === END || inside.has(name));
  if (form !== "route") {
    const ends = form !== "plain" && form !== "join";
    return targets.every((name) => inside.has(name) || (ends && name === END)) ? edge : null;
  }
  const { paths, default: otherwise, ...rest } = edge;
  const kept = Object.entries(isObject(paths) ? paths : {}).filter(([, to]) => fits(to));
  const inner: JsonObject = { ...rest, paths: Object.fromEntries(kept) };
  if (otherwise !== undefined && fits(otherwise)) inner["default"] = otherwise;
  return edgeOf(inner).targets.length === 0 ? null : inner;
}

/** The records of the block's file: a graph that begins where nothing leads in, so that it can be opened and run. */
export function blockOf(
  doc: GraphDocument,
  plan: BlockPlan,
  { name, description }: BlockText,
  place: (name: string) => Point,
): DocumentRecord[] {
  const context = doc.head["context"];
  const head: JsonObject = {
    format: doc.head["format"] ?? "superstep/1",
    name,
    ...(description !== "" && { description }),
    ...(context !== undefined && { context }),
  };
  const copied = (section: string, names: readonly string[]) =>
    names.map((each) => ({ id: `${section}:${each}`, value: doc.get(`${section}:${each}`) ?? null }));
  const block = new GraphDocument();
  block.reset([{ id: "doc", value: head }, ...copied("key", plan.keys), ...copied("node", plan.nodes)]);
  const draft = new Draft(block);
  for (const each of plan.nodes) {
    const to = errorWayOf(block.get(`node:${each}`))?.to;
    if (to && plan.outside.includes(to)) removeErrorWay(draft, each);
  }
  const entries = entriesOf(doc, plan);
  for (const to of entries) addEdge(draft, { from: START, to });
  for (const edge of plan.edges) addEdge(draft, edge);
  block.apply(draft.patch());
  return [...block.records(), ...layoutOf(plan.nodes, place, entries[0])];
}

/** Where the block begins: nodes that nothing in it leads to; in a circle, those by which its graph enters it. */
function entriesOf(doc: GraphDocument, { nodes, edges }: BlockPlan): string[] {
  const running = nodes.filter((name) => nodeOf(doc.get(`node:${name}`)).kind !== NOTE);
  const followed = new Set([
    ...edges.flatMap((edge) => edgeOf(edge).targets),
    ...running.map((name) => errorWayOf(doc.get(`node:${name}`))?.to),
  ]);
  const first = running.filter((name) => !followed.has(name));
  if (first.length > 0) return first;
  const inside = new Set(nodes);
  const entered = running.filter((name) =>
    doc.edgesOf(name).some((edge) => {
      const { sources, targets } = edgeOf(doc.get(`edge:${edge}`));
      return targets.includes(name) && sources.some((source) => !inside.has(source));
    }),
  );
  return entered.length > 0 ? entered : running.slice(0, 1);
}

/** From the start to the first node, and from the last one, as wide as cards are, to the end. */
const GAP = 136;
const WIDTH = 216;

function layoutOf(
  nodes: readonly string[],
  place: (name: string) => Point,
  entry: string | undefined,
): DocumentRecord[] {
  const spots = nodes.map((name) => ({ name, ...place(name) }));
  const left = Math.min(...spots.map(({ x }) => x));
  const top = Math.min(...spots.map(({ y }) => y));
  const right = Math.max(...spots.map(({ x }) => x));
  const begin = (spots.find(({ name }) => name === entry)?.y ?? top) - top + 8;
  const at = (name: string, x: number, y: number): DocumentRecord => ({
    id: `layout:${name}`,
    value: [Math.round(x), Math.round(y)],
  });
  return [
    at(START, 0, begin),
    ...spots.map(({ name, x, y }) => at(name, x - left + GAP, y - top)),
    at(END, right - left + GAP + WIDTH + GAP, begin),
  ];
}
