/** What a wire may be joined to, and why not: asked while it is drawn, and by the search where it is dropped. */
import type { GraphDocument } from "./document";
import { canConnect, findPlain } from "./edits";
import { errorWayOf } from "./error-ways";
import { type Leaving, portsOf } from "./ports";
import { END, nodeOf, NOTE, START } from "./types";

/** One end of a wire, while the other one is looked for. */
export interface WireEnd {
  readonly node: string;
  /** Does the wire leave the node, or lead to it? */
  readonly side: "out" | "in";
  /** The way that it leaves by, as far as it is said. */
  readonly leaving?: Leaving | undefined;
}

/** Why no wire goes there; the texts of `wires.refused` say what to do. */
export type Refusal = "into-start" | "from-end" | "start-end" | "note" | "exists" | "own-error";

const isNote = (doc: GraphDocument, name: string) => nodeOf(doc.get(`node:${name}`)).kind === NOTE;

/** Why a wire may not be joined to a node; null when it may. */
export function refusalOf(doc: GraphDocument, wire: WireEnd, node: string): Refusal | null {
  const [from, to] = wire.side === "out" ? [wire.node, node] : [node, wire.node];
  if (to === START) return "into-start";
  if (from === END) return "from-end";
  if (!canConnect(from, to)) return "start-end";
  if (isNote(doc, node)) return "note";
  const leaving = wire.side === "out" ? wire.leaving : undefined;
  if (leaving?.way === "error") {
    if (from === to) return "own-error";
    return errorWayOf(doc.get(`node:${from}`))?.to === to ? "exists" : null;
  }
  const { ports } = portsOf(doc, from);
  if (leaving?.way === "port")
    return ports.some((port) => port.id === leaving.id && port.to === to) ? "exists" : null;
  // A node that chooses is asked which way is meant.
  const plain = leaving?.way === "always" || (leaving === undefined && ports.length === 0);
  return plain && findPlain(doc, from, to) !== undefined ? "exists" : null;
}

/** The nodes that a wire may be joined to: first those that wait for one, the node itself last. */
export function fittingNodes(doc: GraphDocument, wire: WireEnd): string[] {
  const place = (name: string): number => {
    if (name === wire.node) return 2;
    return (wire.side === "out" ? doc.edgesTo(name) : doc.edgesFrom(name)).length > 0 ? 1 : 0;
  };
  return doc
    .names("node")
    .filter((name) => refusalOf(doc, wire, name) === null)
    .map((name) => ({ name, at: place(name) }))
    .sort((a, b) => a.at - b.at)
    .map(({ name }) => name);
}
