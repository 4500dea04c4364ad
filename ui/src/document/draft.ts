/** A change in the making: patches are put together from what a document would be after each part. */
import type { GraphDocument } from "./document";
import { joined, op, same, type Patch } from "./patch";
import type { Json, JsonObject } from "./types";

/** Collects ops over a document and answers for the state after them. */
export class Draft {
  #patch: Patch = { ops: [] };
  readonly #values = new Map<string, Json | undefined>();
  readonly doc: GraphDocument;

  constructor(doc: GraphDocument) {
    this.doc = doc;
  }

  get(id: string): Json | undefined {
    return this.#values.has(id) ? this.#values.get(id) : this.doc.get(id);
  }

  set(id: string, value: Json | undefined, at?: number): void {
    const from = this.get(id);
    if (same(from ?? null, value ?? null)) return;
    this.#patch = joined(this.#patch, { ops: [op(id, from, value, at)] });
    this.#values.set(id, value);
  }

  remove(id: string): void {
    this.set(id, undefined);
  }

  patch(): Patch {
    return this.#patch;
  }
}

/** The id that a new edge gets: what it connects, numbered when that is taken. As in `crates/document`. */
function newEdgeId(draft: Draft, edge: JsonObject): string {
  const from = edge["from"];
  const source = Array.isArray(from) ? from.join("+") : typeof from === "string" ? from : "?";
  const base = `${source}->${"route" in edge || typeof edge["to"] !== "string" ? "?" : edge["to"]}`;
  for (let count = 1; ; count += 1) {
    const id = count === 1 ? base : `${base}~${count}`;
    if (draft.get(`edge:${id}`) === undefined) return id;
  }
}

/** Adds an edge under an id of its own. */
export function addEdge(draft: Draft, edge: JsonObject): string {
  const id = newEdgeId(draft, edge);
  draft.set(`edge:${id}`, edge);
  return id;
}

/** Gives a record another name, in its place. */
export function moveRecord(
  draft: Draft,
  section: "node" | "layout" | "key",
  from: string,
  to: string,
  value: Json,
): void {
  const at = draft.doc.names(section).indexOf(from);
  draft.remove(`${section}:${from}`);
  draft.set(`${section}:${to}`, value, at);
}
