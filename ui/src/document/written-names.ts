/**
 * Names of nodes that are values of state keys: where settings and edges write them or compare with them as texts. A key
 * takes such names where a hand-off says so (`x-takes`); who renames a node renames what is written for it as well.
 */
import type { Schema } from "../components/schema-form/schema";
import { visitSettings, withValue } from "./settings";
import { alsoInVariants } from "./variants";
import { isObject, nodeOf, type Json, type JsonObject } from "./types";

type Renamed = (name: string) => string | undefined;

const QUOTED = /'([^'\\]*)'|"([^"\\]*)"/g;

/** The expression with names in quotes as they are called now. */
export function withQuoted(expression: string, renamed: Renamed): string {
  return expression.replace(QUOTED, (text: string, one: string | undefined, two: string | undefined) => {
    const to = renamed(one ?? two ?? "");
    const mark = text.charAt(0);
    return to === undefined || to.includes(mark) || to.includes("\\") ? text : mark + to + mark;
  });
}

/** Does the expression read one of the keys? */
export function readsKey(expression: string, keys: ReadonlySet<string>): boolean {
  return [...keys].some((key) =>
    new RegExp(`\\bstate\\.${key}\\b|\\bstate\\[['"]${key}['"]\\]`).test(expression),
  );
}

/** An edge whose condition compares one of the keys with a name, or whose packets are given one. */
export function withCondition(edge: JsonObject, keys: ReadonlySet<string>, renamed: Renamed): JsonObject {
  const { when, with: given } = edge;
  let next = edge;
  if (typeof when === "string" && readsKey(when, keys)) next = { ...next, when: withQuoted(when, renamed) };
  if (isObject(given)) {
    const named = Object.entries(given).map(([key, value]) => [
      key,
      typeof value === "string" && (keys.has(key) || readsKey(value, keys))
        ? withQuoted(value, renamed)
        : value,
    ]);
    next = { ...next, with: Object.fromEntries(named) as JsonObject };
  }
  return next;
}

/** A record whose rules compare one of the keys with a name. */
export function withRules(record: JsonObject, keys: ReadonlySet<string>, renamed: Renamed): JsonObject {
  const { invariants } = record;
  if (!Array.isArray(invariants)) return record;
  const next = invariants.map((rule) =>
    isObject(rule) && typeof rule["must"] === "string" && readsKey(rule["must"], keys)
      ? { ...rule, must: withQuoted(rule["must"], renamed) }
      : rule,
  );
  return { ...record, invariants: next };
}

/** Values by key of which some are names: what a fallback writes, what an example begins with. */
export function withValues(values: JsonObject, keys: ReadonlySet<string>, renamed: Renamed): JsonObject {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      keys.has(key) && typeof value === "string" ? (renamed(value) ?? value) : value,
    ]),
  );
}

/** A node whose settings write names into one of the keys, or compare it with them. */
export function withWritten(
  record: JsonObject,
  schema: Schema | undefined,
  keys: ReadonlySet<string>,
  renamed: Renamed,
): JsonObject {
  const own = (each: JsonObject) => {
    const { config } = nodeOf(each);
    const next = choosing(compared(config, schema, keys, renamed), keys, renamed);
    return next === config ? each : { ...each, config: next };
  };
  const { fallback } = record;
  const next =
    isObject(fallback) && isObject(fallback["value"])
      ? { ...record, fallback: { ...fallback, value: withValues(fallback["value"], keys, renamed) } }
      : record;
  return withRules(alsoInVariants(own(next), own), keys, renamed);
}

/** Expressions that read one of the keys, and those that are assigned to it. */
function compared(
  config: JsonObject,
  schema: Schema | undefined,
  keys: ReadonlySet<string>,
  renamed: Renamed,
): JsonObject {
  let next: Json = config;
  if (schema)
    visitSettings(schema, config, ({ path, field, value }) => {
      if (field["x-editor"] === "expression" && typeof value === "string" && readsKey(value, keys))
        next = withValue(next, path, withQuoted(value, renamed));
      if (field["x-editor"] !== "assignments" || !isObject(value)) return;
      for (const [name, item] of Object.entries(value)) {
        const written = path.length === 1 && keys.has(name);
        if (typeof item === "string" && (written || readsKey(item, keys)))
          next = withValue(next, [...path, name], withQuoted(item, renamed));
      }
    });
  return next as JsonObject;
}

/**
 * What a node offers that writes one of its labels into the key `into`: a router's ways, the choices of a question, the values
 * that its form has.
 */
function choosing(config: JsonObject, keys: ReadonlySet<string>, renamed: Renamed): JsonObject {
  const { into } = config;
  if (typeof into !== "string" || !keys.has(into)) return config;
  const follow = (value: Json | undefined): Json | undefined =>
    typeof value === "string" ? (renamed(value) ?? value) : value;
  let next: JsonObject = config;
  for (const [list, field] of [
    ["ways", "label"],
    ["choices", "value"],
  ] as const) {
    const items = next[list];
    if (!Array.isArray(items)) continue;
    const named = items.map((item) => {
      const to = isObject(item) ? follow(item[field]) : undefined;
      return isObject(item) && to !== undefined && to !== item[field] ? { ...item, [field]: to } : item;
    });
    if (named.some((item, at) => item !== items[at])) next = { ...next, [list]: named };
  }
  const { schema } = next;
  const values = isObject(schema) ? schema["enum"] : undefined;
  if (isObject(schema) && Array.isArray(values)) {
    const named = values.map((value) => follow(value) ?? value);
    if (named.some((value, at) => value !== values[at]))
      next = { ...next, schema: { ...schema, enum: named } };
  }
  const otherwise = follow(next["otherwise"]);
  return otherwise === undefined || otherwise === next["otherwise"] ? next : { ...next, otherwise };
}
