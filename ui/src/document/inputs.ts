/** What an input of a graph has to give: the keys that are read on some way before a node on it writes them. */
import type { NodeKind } from "../ipc/bindings/NodeKind";
import type { GraphDocument } from "./document";
import { errorWayOf } from "./error-ways";
import { edgeOf, isObject, START, type Json } from "./types";
import { usageOf } from "./usage";

type Keys = ReadonlySet<string>;

const NOTHING: Keys = new Set();

/** Stands for a node that has failed; no node is called so. */
const failed = (node: string) => `${node}|failed`;

/** What is written instead of a node's work when it goes on somewhere else. */
function errorKeys(record: Json | undefined): string[] {
  const fallback = isObject(record) ? record["fallback"] : undefined;
  const into = isObject(fallback) ? fallback["into"] : undefined;
  return typeof into === "string" ? [into] : [];
}

const both = (a: Keys | undefined, b: Keys): Keys =>
  a === undefined ? b : new Set([...a].filter((key) => b.has(key)));

/**
 * The keys that nodes fill in: each is written, and on every way before it is read. What ways without an edge lead to may
 * begin with nothing written.
 */
export function filledByNodes(doc: GraphDocument, kinds: readonly NodeKind[]): Set<string> {
  const usage = usageOf(doc, kinds);
  const reads = new Map<string, string[]>();
  const writes = new Map<string, string[]>();
  for (const [key, { readers, writers }] of usage) {
    for (const record of readers) reads.set(record, [...(reads.get(record) ?? []), key]);
    for (const record of writers) writes.set(record, [...(writes.get(record) ?? []), key]);
  }
  const edges = doc.names("edge").map((name) => [`edge:${name}`, edgeOf(doc.get(`edge:${name}`))] as const);
  const into = new Map<string, (readonly string[])[]>();
  const shared = new Set<string>();
  for (const [, { form, sources, targets }] of edges)
    for (const target of targets) {
      if (form !== "each") shared.add(target);
      into.set(target, [
        ...(into.get(target) ?? []),
        ...(form === "join" ? [sources] : sources.map((source) => [source])),
      ]);
    }
  const nodes = doc.names("node");
  for (const node of nodes) {
    const way = errorWayOf(doc.get(`node:${node}`));
    if (way?.how !== "branch" || way.to === null) continue;
    shared.add(way.to);
    into.set(way.to, [...(into.get(way.to) ?? []), [failed(node)]]);
  }
  // What is written when a node has run, on all ways to it; unknown until a way there is known.
  const after = new Map<string, Keys>([[START, NOTHING]]);
  const before = new Map<string, Keys>();
  for (const node of nodes) if (!into.has(node)) before.set(node, NOTHING);
  for (let changed = true; changed;) {
    changed = false;
    for (const node of nodes) {
      let known = into.has(node) ? undefined : NOTHING;
      for (const sources of into.get(node) ?? []) {
        const each = sources.flatMap((source) => after.get(source) ?? []);
        if (each.length === sources.length) known = both(known, new Set(each.flatMap((keys) => [...keys])));
      }
      if (known === undefined) continue;
      const own = writes.get(`node:${node}`) ?? [];
      if (after.has(node) && known.size === before.get(node)?.size) continue;
      before.set(node, known);
      after.set(node, new Set([...known, ...own]));
      after.set(failed(node), new Set([...known, ...errorKeys(doc.get(`node:${node}`))]));
      changed = true;
    }
  }
  const given = new Set<string>();
  const look = (record: string, known: Keys) => {
    for (const key of reads.get(record) ?? []) if (!known.has(key)) given.add(key);
  };
  // A packet is all that its task reads.
  for (const node of nodes)
    if (shared.has(node) || !into.has(node)) look(`node:${node}`, before.get(node) ?? NOTHING);
  for (const [record, { sources }] of edges)
    look(record, new Set(sources.flatMap((source) => [...(after.get(source) ?? NOTHING)])));
  const filled = [...usage].filter(([key, { writers }]) => writers.length > 0 && !given.has(key));
  return new Set(filled.map(([key]) => key));
}
