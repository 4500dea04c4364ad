/** Names for completion, from the schema of a value or from a value itself. Pure. */
import type { Json } from "../schema-form/json";
import type { Schema } from "../schema-form/schema";
import { typeName, typeWords } from "../schema-form/types";
import type { KeyInfo } from "./jinja";

/** Deeper than this nothing is offered. */
const DEEPEST = 4;
/** Fields of an object with more of them than a list shows. */
const MOST = 200;

/** A name with what a schema says of its value and of what is inside. */
export function keyInfoOf(name: string, given: unknown, depth = 0): KeyInfo {
  const schema = typeof given === "object" && given !== null ? (given as Schema) : undefined;
  const items = typeof schema?.items === "object" ? schema.items : undefined;
  return {
    name,
    type: typeWords(schema),
    description: typeof schema?.description === "string" ? schema.description : undefined,
    fields: fieldsOf(schema, depth),
    items: fieldsOf(items, depth),
    schema,
  };
}

function fieldsOf(schema: Schema | undefined, depth: number): KeyInfo[] | undefined {
  if (depth >= DEEPEST || !schema?.properties) return undefined;
  return Object.entries(schema.properties).map(([name, property]) => keyInfoOf(name, property, depth + 1));
}

/** The fields of a value that a run has left, where no schema names them. */
export function fieldsOfValue(value: unknown): KeyInfo[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  return Object.entries(value)
    .slice(0, MOST)
    .filter(([name]) => /^[A-Za-z_]\w*$/.test(name))
    .map(([name, each]) => ({
      name,
      type: each === undefined ? "" : typeWords({ type: typeName(each as Json) }),
    }));
}
