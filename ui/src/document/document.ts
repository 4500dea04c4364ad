/**
 * The open graph: records by id, their order in each section, who is connected to whom, and a version that counts
 * changes. Plain TypeScript: it knows no React and no host. Records are immutable values; a change replaces one, so
 * "has it changed" is a comparison of references, and readers subscribe to exactly the record they show.
 */
import { op, PatchError, reversed, same, type Patch, type PatchOp } from "./patch";
import { edgeOf, isObject, sectionOf, SECTIONS, type Json, type JsonObject, type Section } from "./types";

export interface DocumentRecord {
  readonly id: string;
  readonly value: Json;
}

/** Does an edge begin at a node, end there, or both? */
interface Ends {
  readonly from: boolean;
  readonly to: boolean;
}

/** What to listen to: a record's id, the names of a section (`ids:node`), or `any` change. */
export type Topic = string;

const FIELDS: Record<Section, string> = { key: "state", node: "nodes", edge: "edges", layout: "layout" };

export class GraphDocument {
  #records = new Map<string, Json>();
  #order: Record<Section, readonly string[]> = { key: [], node: [], edge: [], layout: [] };
  /** By node, the names of edges that begin or end there, and which of both. */
  #touching = new Map<string, Map<string, Ends>>();
  #listeners = new Map<Topic, Set<() => void>>();
  #watchers = new Set<(changed: ReadonlySet<string> | null) => void>();
  #version = 0;

  /** Counts changes. */
  get version(): number {
    return this.#version;
  }

  /** The head: every top-level field of the file that is not a section. */
  get head(): JsonObject {
    const head = this.#records.get("doc");
    return isObject(head) ? head : {};
  }

  get name(): string {
    const name = this.head["name"];
    return typeof name === "string" ? name : "";
  }

  get(recordId: string): Json | undefined {
    return this.#records.get(recordId);
  }

  has(recordId: string): boolean {
    return this.#records.has(recordId);
  }

  /** Names in a section, in the order of the file. The array is replaced, never changed, when they change. */
  names(section: Section): readonly string[] {
    return this.#order[section];
  }

  /** Names of the edges that begin or end at a node. */
  edgesOf(node: string): readonly string[] {
    const touching = this.#touching.get(node);
    return touching ? [...touching.keys()] : [];
  }

  edgesFrom(node: string): string[] {
    const out: string[] = [];
    for (const [edge, ends] of this.#touching.get(node) ?? []) if (ends.from) out.push(edge);
    return out;
  }

  edgesTo(node: string): string[] {
    const out: string[] = [];
    for (const [edge, ends] of this.#touching.get(node) ?? []) if (ends.to) out.push(edge);
    return out;
  }

  /** All records in file order: the head, keys, nodes, edges, positions. */
  records(): DocumentRecord[] {
    const out: DocumentRecord[] = [{ id: "doc", value: this.head }];
    for (const section of SECTIONS) {
      for (const name of this.#order[section]) {
        const id = `${section}:${name}`;
        out.push({ id, value: this.#records.get(id) ?? null });
      }
    }
    return out;
  }

  /** Puts other records in place of all that is here: another document, or the same one reloaded. */
  reset(records: readonly DocumentRecord[]): void {
    this.#records = new Map([["doc", {}]]);
    this.#touching = new Map();
    const order: Record<Section, string[]> = { key: [], node: [], edge: [], layout: [] };
    for (const { id, value } of records) {
      const place = sectionOf(id);
      if (!place && id !== "doc") continue;
      this.#records.set(id, value);
      if (!place) continue;
      order[place.section].push(place.name);
      if (place.section === "edge") this.#link(place.name, value);
    }
    this.#order = order;
    this.#version += 1;
    for (const watcher of [...this.#watchers]) watcher(null);
    for (const topic of [...this.#listeners.keys()]) this.#notify(topic);
  }

  /**
   * Applies all ops in order, or none of them. Answers the same patch with every place filled in: the one to keep for
   * undo. Listeners are called once, after the last op.
   */
  apply(patch: Patch): Patch {
    const done: PatchOp[] = [];
    const touched = new Set<Topic>();
    try {
      for (const each of patch.ops) done.push(this.#applyOp(each, touched));
    } catch (thrown) {
      for (const each of reversed({ ops: done }).ops) this.#applyOp(each, touched);
      throw thrown;
    }
    if (done.length > 0) {
      this.#version += 1;
      for (const watcher of [...this.#watchers]) watcher(touched);
      for (const topic of touched) this.#notify(topic);
      this.#notify("any");
    }
    return { ops: done };
  }

  subscribe(topic: Topic, listener: () => void): () => void {
    let set = this.#listeners.get(topic);
    if (!set) this.#listeners.set(topic, (set = new Set()));
    set.add(listener);
    return () => {
      set.delete(listener);
      if (set.size === 0 && this.#listeners.get(topic) === set) this.#listeners.delete(topic);
    };
  }

  /** Hears of every change before the listeners do: the ids that were touched, or null when everything is new. */
  watch(watcher: (changed: ReadonlySet<string> | null) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  #notify(topic: Topic): void {
    const set = this.#listeners.get(topic);
    if (set) for (const listener of [...set]) listener();
  }

  #applyOp(each: PatchOp, touched: Set<Topic>): PatchOp {
    const { id } = each;
    const from = (each.from ?? null) as Json;
    const to = (each.to ?? null) as Json;
    const place = sectionOf(id);
    if (!place && id !== "doc") {
      throw new PatchError("unknown-record", id, `“${id}” names no record.`);
    }
    const current = this.#records.get(id) ?? null;
    if (!same(current, from)) {
      throw new PatchError("conflict", id, `“${id}” has changed since this edit was made.`);
    }
    if (!place) {
      this.#checkHead(to);
      this.#records.set(id, to);
      touched.add(id);
      return op(id, from, to, each.at);
    }
    const { section, name } = place;
    if (Object.hasOwn(this.head, FIELDS[section])) {
      throw new PatchError("blocked", id, `“${FIELDS[section]}” of the file is not a list of records.`);
    }
    let at = each.at;
    if (to === null) {
      if (from === null) return op(id, from, to, at);
      const order = this.#order[section];
      at = order.indexOf(name);
      this.#order[section] = order.toSpliced(at, 1);
      this.#records.delete(id);
      touched.add(`ids:${section}`);
    } else if (!this.#records.has(id)) {
      const order = this.#order[section];
      at = Math.min(at ?? order.length, order.length);
      this.#order[section] = order.toSpliced(at, 0, name);
      this.#records.set(id, to);
      touched.add(`ids:${section}`);
    } else {
      this.#records.set(id, to);
    }
    touched.add(id);
    if (section === "edge") {
      this.#unlink(name, from);
      if (to !== null) this.#link(name, to);
    }
    return op(id, from, to, at);
  }

  #checkHead(to: Json): void {
    if (!isObject(to)) throw new PatchError("bad-head", "doc", "The head of the document must be an object.");
    for (const section of SECTIONS) {
      const field = FIELDS[section];
      if (!Object.hasOwn(to, field)) continue;
      const value = to[field];
      const fits = section === "edge" ? Array.isArray(value) : isObject(value);
      if (fits || this.#order[section].length > 0) {
        throw new PatchError(
          "bad-head",
          "doc",
          `“${field}” is a section; its records are changed one by one.`,
        );
      }
    }
  }

  #link(edge: string, value: Json): void {
    const { sources, targets } = edgeOf(value);
    for (const node of new Set([...sources, ...targets])) {
      const ends = { from: sources.includes(node), to: targets.includes(node) };
      const touching = this.#touching.get(node);
      if (touching) touching.set(edge, ends);
      else this.#touching.set(node, new Map([[edge, ends]]));
    }
  }

  #unlink(edge: string, value: Json): void {
    const view = edgeOf(value);
    for (const node of [...view.sources, ...view.targets]) {
      const touching = this.#touching.get(node);
      touching?.delete(edge);
      if (touching?.size === 0) this.#touching.delete(node);
    }
  }
}
