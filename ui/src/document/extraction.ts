/** How a selection hangs together with the rest of its graph, or why one node cannot do what it does. */
import type { GraphDocument } from "./document";
import { type DynamicTargets, namedBy, type Schemas } from "./node-references";
import { edgeOf, isObject, nodeOf, NOTE } from "./types";
import type { Usage } from "./usage";

/** Why something cannot be done, and the nodes or keys that it is about. */
export interface Refusal {
  readonly refused:
    | "nothing"
    | "no-entry"
    | "entries"
    | "ways"
    | "items"
    | "join"
    | "named"
    | "mapped"
    | "policy"
    | "remembers"
    | "keys"
    | "private"
    | "files"
    | "empty"
    | "both";
  readonly names: readonly string[];
}

/** What a state key is for the new graph. */
export interface KeyRole {
  readonly name: string;
  readonly reads: boolean;
  readonly writes: boolean;
  /** The proposal: given to the new graph, taken from it. */
  readonly given: boolean;
  readonly taken: boolean;
}

/** How the run goes on behind the node: along the edges of the last node, or to targets without a choice. */
type Exit =
  | { readonly by: "edges"; readonly node: string; readonly edges: readonly string[] }
  | { readonly by: "targets"; readonly edges: readonly string[]; readonly targets: readonly string[] };

export interface Extraction {
  readonly nodes: readonly string[];
  readonly entries: readonly string[];
  readonly incoming: readonly string[];
  /** Edges with both ends inside. */
  readonly internal: readonly string[];
  readonly exit: Exit;
  readonly keys: readonly KeyRole[];
  /** Nodes after which a run may end inside; behind the new node it goes on. */
  readonly ends: readonly string[];
}

interface Around {
  readonly usage: ReadonlyMap<string, Usage>;
  readonly schemas: Schemas;
  readonly leads: DynamicTargets;
}

const refuse = (refused: Refusal["refused"], names: Iterable<string> = []): Refusal => ({
  refused,
  names: [...new Set(names)],
});

export function planExtraction(
  doc: GraphDocument,
  selected: readonly string[],
  around: Around,
): Extraction | Refusal {
  const wanted = new Set(selected);
  const nodes = doc.names("node").filter((name) => wanted.has(name));
  const inside = new Set(nodes);
  const running = nodes.filter((name) => nodeOf(doc.get(`node:${name}`)).kind !== NOTE);
  if (running.length === 0) return refuse("nothing");
  const named = crossingNames(doc, inside, around);
  if (named.length > 0) return refuse("named", named);

  const incoming: string[] = [];
  const internal: string[] = [];
  const outgoing: string[] = [];
  for (const edge of new Set(running.flatMap((name) => doc.edgesOf(name)))) {
    const { form, sources, targets } = edgeOf(doc.get(`edge:${edge}`));
    const from = sources.filter((name) => inside.has(name)).length;
    const to = targets.filter((name) => inside.has(name)).length;
    if (from === 0 && to > 0) {
      if (form === "each") return refuse("items", targets);
      incoming.push(edge);
    } else if (to === targets.length && from === sources.length) internal.push(edge);
    else if (to > 0 && from < sources.length) return refuse("join", sources);
    // The node that takes the place of these has visits of its own.
    else if (form === "limit") return refuse("ways", targets);
    else outgoing.push(edge);
  }
  const entries = entriesOf(doc, inside, running, incoming, internal);
  if (!Array.isArray(entries)) return entries;
  const exit = exitOf(doc, inside, internal, outgoing);
  if ("refused" in exit) return exit;
  const moved = new Set(exit.by === "edges" ? exit.edges : []);
  const within = new Set([
    ...nodes.map((name) => `node:${name}`),
    ...[...internal, ...outgoing].filter((edge) => !moved.has(edge)).map((edge) => `edge:${edge}`),
  ]);
  const again = reaches(doc, targetsOf(doc, outgoing, inside), inside);
  return {
    nodes,
    entries,
    incoming,
    internal,
    exit,
    keys: keyRoles(doc, within, again, around.usage),
    ends: outgoing.length === 0 ? [] : mayEnd(doc, running, exit),
  };
}

/** Nodes that settings name across the border, in either direction. */
function crossingNames(doc: GraphDocument, inside: ReadonlySet<string>, around: Around): string[] {
  const crossing: string[] = [];
  const cross = (from: string, to: string) => {
    if (inside.has(from) !== inside.has(to)) crossing.push(from, to);
  };
  for (const [from, places] of namedBy(doc, around.schemas, () => true))
    for (const { name } of places) cross(from, name);
  for (const [from, names] of Object.entries(around.leads)) for (const name of names) cross(from, name);
  for (const from of doc.names("node")) {
    const record = doc.get(`node:${from}`);
    const fallback = isObject(record) ? record["fallback"] : undefined;
    if (!isObject(fallback)) continue;
    for (const name of [fallback["node"], fallback["to"]]) if (typeof name === "string") cross(from, name);
  }
  return crossing;
}

function entriesOf(
  doc: GraphDocument,
  inside: ReadonlySet<string>,
  running: readonly string[],
  incoming: readonly string[],
  internal: readonly string[],
): string[] | Refusal {
  const sources = new Map<string, string[]>();
  let plain = true;
  for (const edge of incoming) {
    const { form, paths } = edgeOf(doc.get(`edge:${edge}`));
    plain &&= form === "plain";
    for (const { from, to } of paths) if (inside.has(to)) sources.set(to, [...(sources.get(to) ?? []), from]);
  }
  if (sources.size === 0) {
    const led = new Set(internal.flatMap((edge) => edgeOf(doc.get(`edge:${edge}`)).targets));
    const roots = running.filter((name) => !led.has(name));
    return roots.length === 0 ? refuse("no-entry") : roots;
  }
  const entries = [...sources.keys()];
  // Several entries are one when the same nodes always lead to all of them.
  const same = new Set([...sources.values()].map((from) => JSON.stringify(from.toSorted())));
  if (entries.length > 1 && (!plain || same.size > 1)) return refuse("entries", entries);
  return entries;
}

function exitOf(
  doc: GraphDocument,
  inside: ReadonlySet<string>,
  internal: readonly string[],
  outgoing: readonly string[],
): Exit | Refusal {
  const views = outgoing.map((edge) => edgeOf(doc.get(`edge:${edge}`)));
  const out = views.flatMap(({ paths }) => paths.filter(({ to }) => !inside.has(to)));
  const leaving = [...new Set(out.map(({ from }) => from).filter((name) => inside.has(name)))];
  const [last] = leaving;
  if (last === undefined) return { by: "targets", edges: [], targets: [] };
  const own = doc.edgesFrom(last);
  const allOut = own.every((edge) =>
    edgeOf(doc.get(`edge:${edge}`)).targets.every((target) => !inside.has(target)),
  );
  if (leaving.length === 1 && allOut) return { by: "edges", node: last, edges: own };
  const mixed = views.find(
    ({ form, sources }) => form === "join" && sources.some((source) => !inside.has(source)),
  );
  if (mixed) return refuse("join", mixed.sources);
  const items = views.find(({ form }) => form === "each");
  if (items) return refuse("items", items.sources);
  const targets = [...new Set(out.map(({ to }) => to))];
  const always = [...internal, ...outgoing].every((edge) =>
    ["plain", "join"].includes(edgeOf(doc.get(`edge:${edge}`)).form),
  );
  if (targets.length > 1 && !always) return refuse("ways", targets);
  return { by: "targets", edges: outgoing, targets };
}

function targetsOf(doc: GraphDocument, edges: readonly string[], inside: ReadonlySet<string>): string[] {
  return edges
    .flatMap((edge) => edgeOf(doc.get(`edge:${edge}`)).targets)
    .filter((target) => !inside.has(target));
}

/** Does a way lead from these nodes to one of the others? */
function reaches(doc: GraphDocument, from: readonly string[], to: ReadonlySet<string>): boolean {
  const seen = new Set(from);
  for (const name of seen) {
    if (to.has(name)) return true;
    for (const edge of doc.edgesFrom(name))
      for (const target of edgeOf(doc.get(`edge:${edge}`)).targets) seen.add(target);
  }
  return false;
}

function mayEnd(doc: GraphDocument, running: readonly string[], exit: Exit): string[] {
  return running.filter((name) => {
    if (exit.by === "edges" && name === exit.node) return false;
    return doc
      .edgesFrom(name)
      .every((edge) => ["when", "each", "limit"].includes(edgeOf(doc.get(`edge:${edge}`)).form));
  });
}

/** Keys are given and taken by name; a graph that lists no inputs or outputs has all of them. */
function keyRoles(
  doc: GraphDocument,
  within: ReadonlySet<string>,
  again: boolean,
  usage: ReadonlyMap<string, Usage>,
): KeyRole[] {
  const listed = (field: "input" | "output", key: string) => {
    const names = doc.head[field];
    return !Array.isArray(names) || names.includes(key);
  };
  // A nested graph without mappings may use any key of both.
  const open = doc.names("node").flatMap((name) => {
    const { kind, config } = nodeOf(doc.get(`node:${name}`));
    return kind === "graph"
      ? [{ id: `node:${name}`, reads: !isObject(config["input"]), writes: !isObject(config["output"]) }]
      : [];
  });
  return doc.names("key").map((name) => {
    const found = usage.get(name);
    const readers = [...(found?.readers ?? []), ...open.flatMap(({ id, reads }) => (reads ? id : []))];
    const writers = [...(found?.writers ?? []), ...open.flatMap(({ id, writes }) => (writes ? id : []))];
    const reads = readers.some((id) => within.has(id));
    const writes = writers.some((id) => within.has(id));
    const kept = again && reads && writes;
    const outside = (records: readonly string[]) => records.some((id) => !within.has(id));
    return {
      name,
      reads,
      writes,
      given: reads && (outside(writers) || listed("input", name) || kept),
      taken: writes && (outside(readers) || listed("output", name) || kept),
    };
  });
}
