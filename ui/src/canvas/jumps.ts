/**
 * Where nodes may go without an edge: hand-offs of their tools. Kinds say in their settings' schema which fields name
 * such a node (`x-leads-to`, with the fields beside it that must hold), so nothing here knows a kind.
 */
import { fits, resolve, type Schema } from "../components/schema-form/schema";
import type { GraphDocument } from "../document/document";
import { edgeOf, isObject, nodeOf, type Json } from "../document/types";

export interface Jump {
  readonly id: string;
  readonly from: string;
  readonly to: string;
}

const DEEPEST = 8;

/** The nodes that settings name as places to go to. */
export function targetsOf(schema: Schema, config: Json | undefined): string[] {
  const found = new Set<string>();
  const walk = (given: Schema | boolean | undefined, value: Json | undefined, depth: number): void => {
    if (depth > DEEPEST || value === undefined || value === null || given === undefined) return;
    const here = resolve(given, schema);
    for (const each of [...(here.anyOf ?? []), ...(here.oneOf ?? [])]) walk(each, value, depth + 1);
    if (Array.isArray(value)) {
      for (const item of value) walk(here.items as Schema | undefined, item, depth + 1);
      return;
    }
    if (!isObject(value)) return;
    for (const [name, property] of Object.entries(here.properties ?? {})) {
      const field = resolve(property, schema);
      const wanted = field["x-leads-to"];
      if (!isObject(wanted)) {
        walk(field, value[name], depth + 1);
        continue;
      }
      const sibling = (other: string): Json =>
        value[other] ?? resolve(here.properties?.[other], schema).default ?? null;
      if (!Object.entries(wanted).every(([other, value]) => fits(sibling(other), value))) continue;
      const named = value[name];
      for (const each of Array.isArray(named) ? named : [named]) {
        if (typeof each === "string") found.add(each);
      }
    }
  };
  walk(schema, config, 0);
  return [...found];
}

/** Every way of a document that is not drawn as an edge. */
export function jumpsOf(doc: GraphDocument, schemas: ReadonlyMap<string, Schema>): Jump[] {
  const jumps: Jump[] = [];
  for (const from of doc.names("node")) {
    const node = nodeOf(doc.get(`node:${from}`));
    const schema = schemas.get(node.kind);
    if (schema === undefined) continue;
    const drawn = new Set(doc.edgesFrom(from).flatMap((edge) => edgeOf(doc.get(`edge:${edge}`)).targets));
    for (const to of targetsOf(schema, node.config)) {
      if (to !== from && !drawn.has(to) && (to === "__end__" || doc.has(`node:${to}`)))
        jumps.push({ id: `jump|${from}|${to}`, from, to });
    }
  }
  return jumps;
}

/** Schemas of the kinds whose settings may name a node to go to; the others need not be looked through. */
export function leadingKinds(
  kinds: readonly { readonly kind: string; readonly configSchema: unknown }[],
): ReadonlyMap<string, Schema> {
  return new Map(
    kinds.flatMap((each) =>
      JSON.stringify(each.configSchema).includes('"x-leads-to"')
        ? [[each.kind, each.configSchema as Schema] as const]
        : [],
    ),
  );
}
