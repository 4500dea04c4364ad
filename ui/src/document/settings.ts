/** A walk over a node's settings by the schema of its kind, and a change at one place of them. */
import { resolve, type Schema } from "../components/schema-form/schema";
import { isObject, type Json } from "./types";

export type Path = readonly (string | number)[];

/** A field of an object in the settings that has a value. */
export interface Place {
  readonly path: Path;
  readonly field: Schema;
  readonly value: Json;
  /** The fields of the same object. */
  readonly beside: {
    readonly names: readonly string[];
    field(name: string): Schema;
    /** Its value, or its default. */
    value(name: string): Json;
  };
}

const DEEPEST = 8;

/** Visits every field that has a value, in lists and behind references too; one that may have several forms, once for each. */
export function visitSettings(schema: Schema, config: Json | undefined, visit: (place: Place) => void): void {
  const walk = (
    given: Schema | boolean | undefined,
    value: Json | undefined,
    path: Path,
    depth: number,
  ): void => {
    if (depth > DEEPEST || value === undefined || value === null || given === undefined) return;
    const here = resolve(given, schema);
    for (const each of [...(here.anyOf ?? []), ...(here.oneOf ?? [])]) walk(each, value, path, depth + 1);
    if (Array.isArray(value)) {
      value.forEach((item, index) =>
        walk(here.items as Schema | undefined, item, [...path, index], depth + 1),
      );
      return;
    }
    if (!isObject(value)) return;
    const field = (name: string) => resolve(here.properties?.[name], schema);
    const beside: Place["beside"] = {
      names: Object.keys(here.properties ?? {}),
      field,
      value: (name) => value[name] ?? (field(name).default as Json | undefined) ?? null,
    };
    for (const name of beside.names) {
      const held = value[name];
      if (held === undefined || held === null) continue;
      visit({ path: [...path, name], field: field(name), value: held, beside });
      walk(field(name), held, [...path, name], depth + 1);
    }
  };
  walk(schema, config, [], 0);
}

/** Settings with another value at one place. */
export function withValue(value: Json, [first, ...rest]: Path, to: Json): Json {
  if (first === undefined) return to;
  if (Array.isArray(value))
    return value.map((item, index) => (index === first ? withValue(item, rest, to) : item));
  return isObject(value) ? { ...value, [first]: withValue(value[first] ?? null, rest, to) } : value;
}
