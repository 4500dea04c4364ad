/**
 * Two nodes of one super-step that write the same key without a reducer, as a new wire would make them: said while the
 * wire is drawn. The workbench says the same of a graph as it is (`parallel-writers`).
 */
import type { GraphDocument } from "./document";
import { edgeOf, END, isObject } from "./types";
import type { Usage } from "./usage";

export interface Clash {
  readonly one: string;
  readonly other: string;
  readonly key: string;
}

/** Steps that branches are followed side by side. */
const FAR = 12;

/** Nodes that a node always leads to, joins aside: what waits is in step with nothing. */
function leadsTo(doc: GraphDocument, node: string): string[] {
  return doc.edgesFrom(node).flatMap((edge) => {
    const view = edgeOf(doc.get(`edge:${edge}`));
    return view.form === "plain" ? view.targets.filter((to) => to !== END) : [];
  });
}

/** Takes one write in a super-step: no reducer joins two, and no channel does. */
function takesOne(doc: GraphDocument, key: string): boolean {
  const schema = doc.get(`key:${key}`);
  if (!isObject(schema)) return false;
  const { reducer, channel } = schema;
  if (channel === "any" || channel === "topic") return false;
  return reducer === undefined || reducer === "overwrite";
}

/** The first clash that an always followed wire would make; null when there is none. */
export function clashOf(
  doc: GraphDocument,
  usage: ReadonlyMap<string, Usage>,
  from: string,
  to: string,
): Clash | null {
  const writes = new Map<string, string[]>();
  for (const [key, { writers }] of usage) {
    if (!takesOne(doc, key)) continue;
    for (const record of writers) {
      const node = record.slice("node:".length);
      writes.set(node, [...(writes.get(node) ?? []), key]);
    }
  }
  const clash = (one: string, other: string): Clash | null => {
    const theirs = writes.get(other) ?? [];
    const key = one === other ? undefined : (writes.get(one) ?? []).find((name) => theirs.includes(name));
    return key === undefined ? null : { one, other, key };
  };
  for (const sibling of new Set(leadsTo(doc, from).filter((name) => name !== to))) {
    let [mine, theirs] = [new Set([to]), new Set([sibling])];
    for (let step = 0; step < FAR && mine.size > 0 && theirs.size > 0; step += 1) {
      for (const one of mine)
        for (const other of theirs) {
          const found = clash(one, other);
          if (found) return found;
        }
      // Where both arrive at one node there is one task, and what follows is common.
      const [left, right] = [after(doc, mine), after(doc, theirs)];
      [mine, theirs] = [without(left, right), without(right, left)];
    }
  }
  return null;
}

function without(names: ReadonlySet<string>, others: ReadonlySet<string>): Set<string> {
  return new Set([...names].filter((name) => !others.has(name)));
}

function after(doc: GraphDocument, names: ReadonlySet<string>): Set<string> {
  return new Set([...names].flatMap((name) => leadsTo(doc, name)));
}
