/** Which control a form draws for a schema. */
import type { Json } from "./json";
import { type Schema, resolve, mergeSchemas } from "./schema";
import { typesOf, impliedType, typeTitle } from "./types";

/** How a value is edited. `json` is what is left when no other control fits. */
export type Control =
  | { kind: "text"; long: boolean }
  | { kind: "number"; integer: boolean }
  | { kind: "boolean" }
  | { kind: "enum"; options: Json[] }
  | { kind: "const"; value: Json }
  | { kind: "flags"; options: Json[] }
  | { kind: "object"; properties: [string, Schema][]; extra: Schema | null }
  | { kind: "array"; items: Schema }
  | { kind: "nullable"; inner: Schema }
  | { kind: "variants"; variants: Schema[] }
  | { kind: "json" };

/** Chooses the control for a schema. The schema must be resolved. */
export function controlFor(schema: Schema, root: Schema): Control {
  if ("const" in schema) return { kind: "const", value: schema.const };
  if (Array.isArray(schema.enum) && schema.enum.length > 0) {
    return { kind: "enum", options: schema.enum };
  }

  const choices = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(choices) && choices.length > 0) {
    const variants = choices.map((choice) => resolve(choice, root));
    if (variants.every((variant) => "const" in variant)) {
      return { kind: "enum", options: variants.map((variant) => variant.const) };
    }
    const solid = variants.filter((variant) => !isNull(variant));
    if (solid.length < variants.length && solid.length === 1) {
      return { kind: "nullable", inner: withOuterTexts(solid[0]!, schema) };
    }
    const base = withoutChoices(schema);
    return { kind: "variants", variants: variants.map((variant) => mergeSchemas(variant, base)) };
  }

  const types = typesOf(schema);
  if (types.length > 1) {
    const solid = types.filter((type) => type !== "null");
    const { nullable: _nullable, ...beside } = schema;
    if (solid.length === 1 && types.length === 2 && types.includes("null")) {
      return { kind: "nullable", inner: { ...beside, type: solid[0]! } };
    }
    return {
      kind: "variants",
      variants: types.map((type) => ({ ...narrowTo(beside, type), type, title: typeTitle(type) })),
    };
  }

  switch (types[0] ?? impliedType(schema)) {
    case "string":
      return { kind: "text", long: isLong(schema) };
    case "integer":
      return { kind: "number", integer: true };
    case "number":
      return { kind: "number", integer: false };
    case "boolean":
      return { kind: "boolean" };
    case "null":
      return { kind: "const", value: null };
    case "array": {
      if (schema.items === undefined || typeof schema.items === "boolean") return { kind: "json" };
      const items = resolve(schema.items, root);
      if (schema.uniqueItems === true && Array.isArray(items.enum) && items.enum.length <= 12) {
        return { kind: "flags", options: items.enum };
      }
      return { kind: "array", items };
    }
    case "object": {
      const properties = Object.entries(schema.properties ?? {}).map(
        ([name, property]) => [name, resolve(property, root)] as [string, Schema],
      );
      const extra =
        typeof schema.additionalProperties === "object" && schema.additionalProperties !== null
          ? resolve(schema.additionalProperties, root)
          : null;
      if (properties.length === 0 && extra === null) return { kind: "json" };
      return { kind: "object", properties, extra };
    }
    default:
      return { kind: "json" };
  }
}

function withOuterTexts(inner: Schema, outer: Schema): Schema {
  return {
    ...inner,
    title: outer.title ?? inner.title,
    description: outer.description ?? inner.description,
  };
}

function withoutChoices(schema: Schema): Schema {
  const {
    oneOf: _one,
    anyOf: _any,
    title: _title,
    description: _description,
    default: _d,
    ...beside
  } = schema;
  return beside;
}

/** Drops keywords that say nothing about a type, so that a variant's own form is not confused by them. */
function narrowTo(schema: Schema, type: string): Schema {
  const { properties, required, additionalProperties, items, ...rest } = schema;
  if (type === "object") return { ...rest, properties, required, additionalProperties };
  if (type === "array") return { ...rest, items };
  return rest;
}

function isNull(schema: Schema): boolean {
  return schema.type === "null" || ("const" in schema && schema.const === null);
}

function isLong(schema: Schema): boolean {
  const hint = schema["x-editor"];
  if (hint === "text") return true;
  if (schema.format === "textarea" || schema.format === "markdown") return true;
  return (schema.maxLength ?? 0) > 200;
}
