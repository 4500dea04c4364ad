/** A change in the making: patches are put together from what a document would be after each part. */
import type { GraphDocument } from "./document";
import { op, same, type Patch, type PatchOp } from "./patch";
import type { Json, JsonObject } from "./types";

/** Collects ops over a document and answers for the state after them. */
export class Draft {
  /** In the order in which they were made; null where a record has become again what it was. */
  readonly #ops: (PatchOp | null)[] = [];
  /** By record, its last op. */
  readonly #last = new Map<string, number>();
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
    this.#values.set(id, value);
    this.#add(op(id, from, value, at));
  }

  /** Folds later changes of a record into the op that set it, as `joined` does, without going over all ops for each. */
  #add(next: PatchOp): void {
    const index = this.#last.get(next.id);
    const previous = index === undefined ? null : (this.#ops[index] ?? null);
    if (index === undefined || previous === null || previous.to === null || next.to === null) {
      this.#last.set(next.id, this.#ops.length);
      this.#ops.push(next);
    } else if (previous.from !== null && same(previous.from, next.to)) {
      this.#last.delete(next.id);
      this.#ops[index] = null;
    } else this.#ops[index] = { ...previous, to: next.to };
  }

  remove(id: string): void {
    this.set(id, undefined);
  }

  patch(): Patch {
    return { ops: this.#ops.filter((each) => each !== null) };
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
