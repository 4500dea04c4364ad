/** The nodes that lead to some nodes, or that these lead to, along edges and other ways: what comes before and after them. */
import type { GraphDocument } from "../document/document";
import { jumpsOf, type DynamicTargets, type Schemas } from "../document/node-references";
import { edgeOf } from "../document/types";

export type Along = "upstream" | "downstream" | "connected";

/** The nodes with those that are reached from them; each way at most once, whatever loops there are. */
export function reached(
  doc: GraphDocument,
  names: readonly string[],
  along: Along,
  schemas: Schemas = new Map(),
  leads: DynamicTargets = {},
): string[] {
  const jumps = jumpsOf(doc, schemas, leads);
  const next = (name: string): string[] => [
    ...(along === "upstream"
      ? []
      : doc.edgesFrom(name).flatMap((edge) => edgeOf(doc.get(`edge:${edge}`)).targets)),
    ...(along === "downstream"
      ? []
      : doc.edgesTo(name).flatMap((edge) => edgeOf(doc.get(`edge:${edge}`)).sources)),
    ...jumps.flatMap(({ from, to }) => [
      ...(along !== "upstream" && from === name ? [to] : []),
      ...(along !== "downstream" && to === name ? [from] : []),
    ]),
  ];
  const found = new Set(names);
  for (const name of found) for (const other of next(name)) found.add(other);
  return [...found];
}
