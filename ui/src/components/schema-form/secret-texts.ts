/** The texts of a value that may name secrets, as one: for what is said of fields that are folded away. */
import type { Json } from "./json";
import { MAX_DEPTH, resolve, type Schema } from "./schema";

export function secretTexts(schema: Schema | boolean, value: Json, root: Schema, depth = 0): string {
  if (value === undefined || value === null || depth > MAX_DEPTH) return "";
  const { properties, additionalProperties, items, ...own } = resolve(schema, root);
  if (typeof value === "string") {
    if (own["x-editor"] === "secret") return value === "" ? "" : `\${${value}}`;
    return own["x-secrets"] === undefined ? "" : value;
  }
  const inside = (part: Schema | boolean | undefined, item: Json) =>
    part === undefined ? "" : secretTexts(part, item, root, depth + 1);
  if (Array.isArray(value)) return value.map((item) => inside(items, item)).join("\n");
  if (typeof value !== "object") return "";
  return Object.entries(value as Record<string, Json>)
    .map(([name, item]) => inside(properties?.[name] ?? additionalProperties, item))
    .join("\n");
}
