/** The JSON types that a schema allows and a value has, and their names on the screen. */
import { t, type TextKey } from "../../lib/texts";
import type { Json } from "./json";
import type { Schema } from "./schema";

/** The types a schema allows, as a list; empty when it does not say. */
export function typesOf(schema: Schema): string[] {
  const types = Array.isArray(schema.type)
    ? [...schema.type]
    : typeof schema.type === "string"
      ? [schema.type]
      : [];
  if (schema.nullable === true && types.length > 0 && !types.includes("null")) types.push("null");
  return types;
}

export function impliedType(schema: Schema): string | undefined {
  if (schema.properties) return "object";
  if (schema.items) return "array";
  if (schema.minLength !== undefined || schema.maxLength !== undefined || schema.pattern) return "string";
  if (schema.minimum !== undefined || schema.maximum !== undefined) return "number";
  return undefined;
}

/** A JSON type as a title. */
export function typeTitle(type: string): string {
  const text = typeText(type);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** JSON's name for the type of a value. */
export function typeName(value: Json): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

export function matchesType(schema: Schema, value: Json): boolean {
  const types = typesOf(schema);
  const allowed = types.length > 0 ? types : [impliedType(schema)].filter((t) => t !== undefined);
  if (allowed.length === 0) return true;
  const name = typeName(value);
  return allowed.includes(name) || (name === "integer" && allowed.includes("number"));
}

const TYPES: Record<string, TextKey> = {
  string: "forms.type.string",
  integer: "forms.type.integer",
  number: "forms.type.number",
  boolean: "forms.type.boolean",
  array: "forms.type.array",
  object: "forms.type.object",
  null: "forms.type.null",
};

/** A JSON type in words. */
export function typeText(type: string): string {
  return t(TYPES[type] ?? "forms.type.any");
}

/** The word for a type where there is one: a key of the state may be declared as anything. */
export const declaredText = (type: string): string => (type in TYPES ? typeText(type) : type);

/** A schema's type in a few words. */
export function typeWords(schema: unknown): string {
  if (typeof schema !== "object" || schema === null) return t("forms.type.any");
  const { enum: values, type, items, reducer } = schema as Schema & { readonly reducer?: unknown };
  if (reducer === "add_messages") return t("forms.keys.messages");
  if (Array.isArray(values))
    return values.map(String).slice(0, 3).join(" | ") + (values.length > 3 ? " | …" : "");
  if (Array.isArray(type)) return type.map((each) => typeText(String(each))).join(t("forms.check.or"));
  if (type === "array" && typeof items === "object" && typeof items.type === "string")
    return t("forms.keys.listOf", { type: typeText(items.type) });
  return typeof type === "string" ? typeText(type) : t("forms.type.any");
}
