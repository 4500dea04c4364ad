/** The fields of an object as a form shows them: which (`x-if`), in which order, and in which groups (`x-form`). */
import { sameJson, type Json } from "./json";
import { type Schema, fits } from "./schema";

interface FieldGroup {
  readonly title: string;
  readonly fields: readonly [string, Schema][];
}

interface Arranged {
  readonly front: readonly [string, Schema][];
  readonly groups: readonly FieldGroup[];
}

/** Fields that the layout does not name come after the first ones; a group without any field is left out. */
export function arranged(schema: Schema, shown: readonly [string, Schema][]): Arranged {
  const layout = schema["x-form"];
  if (layout === undefined) return { front: shown, groups: [] };
  const fields = new Map(shown);
  const take = (names: readonly string[]) =>
    names.flatMap((name): [string, Schema][] => {
      const property = fields.get(name);
      return property === undefined ? [] : [[name, property]];
    });
  const groups = (layout.groups ?? [])
    .map((group) => ({ title: group.title, fields: take(group.fields) }))
    .filter((group) => group.fields.length > 0);
  const placed = new Set([
    ...(layout.front ?? []),
    ...groups.flatMap((group) => group.fields.map(([name]) => name)),
  ]);
  return {
    front: [...take(layout.front ?? []), ...shown.filter(([name]) => !placed.has(name))],
    groups,
  };
}

/** How many of the fields have a value of their own: not the default, and not an empty one. */
export function countSet(
  fields: readonly [string, Schema][],
  object: Readonly<Record<string, Json>>,
): number {
  return fields.filter(([name, property]) => {
    const value = object[name];
    if (value === undefined || value === null || value === "") return false;
    if (Array.isArray(value) && value.length === 0) return false;
    if (typeof value === "object" && Object.values(value).every((inside) => inside === undefined)) return false;
    return !sameJson(value, property.default);
  }).length;
}

/**
 * The fields of an object as they are to be shown: without those that the others rule out, unless they are set, without
 * those that can only be what they are, and with what a field takes from the one beside it.
 */
export function shownProperties(
  properties: readonly [string, Schema][],
  object: Readonly<Record<string, Json>>,
): [string, Schema][] {
  const schemas = new Map(properties);
  const valueOf = (name: string): Json => object[name] ?? schemas.get(name)?.default;
  return properties
    .filter(([name, property]) => {
      if ("const" in property && sameJson(property.const, object[name])) return false;
      const wanted = Object.entries(property["x-if"] ?? {});
      return name in object || wanted.every(([other, value]) => fits(valueOf(other), value));
    })
    .map(([name, property]) => {
      const other = property["x-language-of"];
      return [name, other === undefined ? property : { ...property, "x-language": valueOf(other) }];
    });
}
