/** All wires of a port at once: they keep their other ends, their conditions and their labels. */
import type { GraphDocument } from "./document";
import { deleteThings, findPlain, inTurn } from "./edits";
import type { Patch } from "./patch";
import { moveLine } from "./ports";
import { edgeOf } from "./types";

export interface MovedLine {
  readonly edge: string;
  readonly part: string;
  readonly from: string;
  readonly port: string | null;
  readonly to: string;
}

/** Where the ends of the wires go: into a node, or out of one by a port. */
export type NewEnd = { readonly to: string } | { readonly from: string; readonly port: string | null };

/** Moves one end of each line; one that would be a second wire of the same kind goes. */
export function moveWires(doc: GraphDocument, lines: readonly MovedLine[], end: NewEnd): Patch {
  return inTurn(doc, ...lines.map((line) => (each: GraphDocument) => moveOne(each, line, end)));
}

function moveOne(doc: GraphDocument, line: MovedLine, end: NewEnd): Patch {
  const { edge, part, from, port, to } = line;
  const next = "to" in end ? { from, port, to: end.to } : { from: end.from, port: end.port, to };
  if (next.port === null && edgeOf(doc.get(`edge:${edge}`)).form === "plain") {
    const twin = findPlain(doc, next.from, next.to);
    if (twin !== undefined && twin !== edge) return deleteThings(doc, { edges: [edge] });
  }
  return moveLine(doc, edge, part, next);
}
