/** Nodes as a graph of their own: the records of the new graph, and the patch that puts a Graph node in their place. */
import type { GraphDocument } from "./document";
import { addEdge, Draft } from "./draft";
import type { Point } from "./edits";
import type { Extraction } from "./extraction";
import type { Patch } from "./patch";
import { edgeOf, END, isObject, START, type Json, type JsonObject } from "./types";

export interface ExtractionChoice {
  /** Name of the node in this graph, and of the new graph. */
  readonly node: string;
  readonly name: string;
  /** The file as seen from this graph's folder. */
  readonly file: string;
  readonly given: ReadonlySet<string>;
  readonly taken: ReadonlySet<string>;
}

interface GraphRecord {
  readonly id: string;
  readonly value: Json;
}

export function extract(
  doc: GraphDocument,
  plan: Extraction,
  choice: ExtractionChoice,
  place: (name: string) => Point,
): { outer: Patch; inner: GraphRecord[] } {
  return { outer: outerPatch(doc, plan, choice, place), inner: innerRecords(doc, plan, choice, place) };
}

/** Joins a value with itself to another one: what went in must not come out again. */
const DOUBLING = new Set(["append", "add", "multiply"]);

const reducerOf = (record: Json | undefined) => (isObject(record) ? record["reducer"] : undefined);

/** The mapping of what comes out; only needed when a list or a sum is given and taken. */
function outputOf(doc: GraphDocument, { given, taken }: ExtractionChoice): JsonObject | undefined {
  const doubled = (key: string) => given.has(key) && DOUBLING.has(String(reducerOf(doc.get(`key:${key}`))));
  if (![...taken].some(doubled)) return undefined;
  return Object.fromEntries(
    doc
      .names("key")
      .filter((key) => taken.has(key))
      .map((key) => {
        const [was, is] = [member("state", key), member("result", key)];
        const record = doc.get(`key:${key}`);
        if (!doubled(key)) return [key, is];
        if (reducerOf(record) === "multiply") return [key, `${is} / ${was}`];
        const type = isObject(record) ? record["type"] : undefined;
        return [key, type === "integer" || type === "number" ? `${is} - ${was}` : `${is}[${was}|length:]`];
      }),
  );
}

export function member(object: string, key: string): string {
  return /^[A-Za-z_]\w*$/.test(key) ? `${object}.${key}` : `${object}[${JSON.stringify(key)}]`;
}

function outerPatch(
  doc: GraphDocument,
  plan: Extraction,
  choice: ExtractionChoice,
  place: (name: string) => Point,
): Patch {
  const draft = new Draft(doc);
  const inside = new Set(plan.nodes);
  const { node } = choice;
  const output = outputOf(doc, choice);
  const at = doc.names("node").indexOf(plan.nodes[0] ?? "");
  const moved = new Set(plan.exit.by === "edges" ? plan.exit.edges : []);
  for (const edge of [...plan.internal, ...plan.exit.edges])
    if (!moved.has(edge)) draft.remove(`edge:${edge}`);
  for (const name of plan.nodes) {
    draft.remove(`layout:${name}`);
    draft.remove(`node:${name}`);
  }
  const config: JsonObject = { graph: choice.file, ...(output && { output }) };
  draft.set(`node:${node}`, { kind: "graph", config }, at);
  const spots = plan.nodes.map(place);
  const entry = place(plan.entries[0] ?? "");
  draft.set(`layout:${node}`, [Math.round(Math.min(...spots.map(({ x }) => x))), Math.round(entry.y)]);
  const into = (name: Json | undefined): Json =>
    typeof name === "string" && inside.has(name) ? node : (name ?? null);
  const led = new Set<string>();
  for (const edge of plan.incoming) {
    const record = doc.get(`edge:${edge}`);
    if (!isObject(record)) continue;
    const { form, sources } = edgeOf(record);
    const again = form === "plain" && led.has(sources[0] ?? "");
    if (form === "plain") led.add(sources[0] ?? "");
    draft.set(`edge:${edge}`, again ? undefined : withTargets(record, into));
  }
  for (const edge of moved) {
    const record = draft.get(`edge:${edge}`);
    if (!isObject(record)) continue;
    const from = record["from"];
    draft.set(`edge:${edge}`, { ...record, from: Array.isArray(from) ? from.map(into) : into(from) });
  }
  if (plan.exit.by === "targets") for (const to of plan.exit.targets) addEdge(draft, { from: node, to });
  return draft.patch();
}

/** An edge with other targets. */
export function withTargets(edge: JsonObject, renamed: (name: Json | undefined) => Json): JsonObject {
  const next: JsonObject = { ...edge };
  for (const field of ["to", "default"]) if (next[field] !== undefined) next[field] = renamed(next[field]);
  if (isObject(next["paths"]))
    next["paths"] = Object.fromEntries(
      Object.entries(next["paths"]).map(([label, target]) => [label, renamed(target)]),
    );
  return next;
}

/** From the start to the first node, and from the last one to the end. */
const GAP = 136;

function innerRecords(
  doc: GraphDocument,
  plan: Extraction,
  choice: ExtractionChoice,
  place: (name: string) => Point,
): GraphRecord[] {
  const inside = new Set(plan.nodes);
  const { given, taken } = choice;
  const names = doc
    .names("key")
    .filter(
      (key) =>
        given.has(key) ||
        taken.has(key) ||
        plan.keys.some(({ name, reads, writes }) => name === key && (reads || writes)),
    );
  const listed = (keys: ReadonlySet<string>) => names.filter((key) => keys.has(key));
  const context = doc.head["context"];
  const records: GraphRecord[] = [
    {
      id: "doc",
      value: {
        format: doc.head["format"] ?? "superstep/1",
        name: choice.name,
        input: listed(given),
        output: listed(taken),
        ...(context !== undefined && { context }),
      },
    },
  ];
  for (const key of names) {
    const record = doc.get(`key:${key}`) ?? null;
    // What is only added to begins with nothing, or its beginning would be added too.
    const bare =
      isObject(record) && taken.has(key) && !given.has(key) && DOUBLING.has(String(record["reducer"]));
    records.push({ id: `key:${key}`, value: bare ? without(record, "default") : record });
  }
  for (const name of plan.nodes) records.push({ id: `node:${name}`, value: doc.get(`node:${name}`) ?? null });
  const edges = innerEdges(doc, plan, inside);
  records.push(...edges);
  const spots = plan.nodes.map((name) => ({ name, ...place(name) }));
  const left = Math.min(...spots.map(({ x }) => x));
  const top = Math.min(...spots.map(({ y }) => y));
  const right = Math.max(...spots.map(({ x }) => x));
  const entry = spots.find(({ name }) => name === plan.entries[0])?.y ?? top;
  const put = (name: string, x: number, y: number) =>
    records.push({ id: `layout:${name}`, value: [Math.round(x), Math.round(y)] });
  put(START, 0, entry - top + 8);
  for (const { name, x, y } of spots) put(name, x - left + GAP, y - top);
  put(END, right - left + GAP + 216 + GAP, entry - top + 8);
  return records;
}

function without(record: JsonObject, field: string): JsonObject {
  const { [field]: _gone, ...rest } = record;
  return rest;
}

function innerEdges(doc: GraphDocument, plan: Extraction, inside: ReadonlySet<string>): GraphRecord[] {
  const edges: JsonObject[] = plan.entries.map((to) => ({ from: START, to }));
  const record = (edge: string) => doc.get(`edge:${edge}`);
  for (const edge of plan.internal) {
    const value = record(edge);
    if (isObject(value)) edges.push(value);
  }
  if (plan.exit.by === "edges") edges.push({ from: plan.exit.node, to: END });
  else
    for (const edge of plan.exit.edges) {
      const value = record(edge);
      if (!isObject(value)) continue;
      const { form, sources } = edgeOf(value);
      const ended = (name: Json | undefined): Json =>
        typeof name === "string" && inside.has(name) ? name : END;
      if (form === "plain" || form === "join") edges.push(...sources.map((from) => ({ from, to: END })));
      else edges.push(withTargets(without(value, "id"), ended));
    }
  const seen = new Set<string>();
  const ids = new Map<string, number>();
  return edges.flatMap((value) => {
    const key = JSON.stringify(value);
    if (seen.has(key)) return [];
    seen.add(key);
    const { sources, targets, form } = edgeOf(value);
    const base = `${sources.join("+")}->${form === "route" ? "?" : targets[0]}`;
    const count = (ids.get(base) ?? 0) + 1;
    ids.set(base, count);
    return [{ id: `edge:${count === 1 ? base : `${base}~${count}`}`, value }];
  });
}
