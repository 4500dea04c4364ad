/** The order of a form's fields: those that are shown at first, and groups that are folded away (`x-form`). */
import { sameJson, type Json, type Schema } from "./schema";

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
    return !sameJson(value, property.default);
  }).length;
}
