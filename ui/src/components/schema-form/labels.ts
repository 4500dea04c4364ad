/** The labels of fields. */
import { type Json, pointerTokens } from "./json";
import { type Schema, resolve } from "./schema";
import { controlFor } from "./control";
import { variantOf } from "./validate";

/** Labels on the way to the value at a pointer, for a sentence that is not beside its field. */
export function labelAt(schema: Schema, pointer: string, value: Json): string {
  const labels: string[] = [];
  let at = resolve(schema, schema);
  let inside = value;
  for (const token of pointerTokens(pointer)) {
    const control = controlFor(at, schema);
    if (control.kind === "variants") at = control.variants[variantOf(control.variants, inside, schema)] ?? {};
    const items = Array.isArray(inside);
    const next: Schema | boolean | undefined = items ? at.items : at.properties?.[token];
    at = resolve(next, schema);
    inside = typeof inside === "object" && inside !== null ? inside[token] : undefined;
    labels.push(items ? String(Number(token) + 1) : labelOf(token, at));
  }
  return labels.join(" · ");
}

/** Label of a property: its title, or its name made readable. */
export function labelOf(name: string, schema: Schema): string {
  if (schema.title) return schema.title;
  const words = name.replace(/[_-]+/g, " ").replace(/([a-z])([A-Z])/g, "$1 $2");
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
}
