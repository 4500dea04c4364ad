/**
 * What a form needs to know about a JSON Schema, as pure functions: which control fits a value, what an empty value
 * looks like, what is wrong with a value. Rust has the last word on validity; this is the part that must answer
 * while a person types.
 */

import { listed } from "../../lib/intl";
import { t, tn, type TextKey } from "../../lib/texts";

/** A value as JSON has it. `undefined` stands for "not there". */
// oxlint-disable-next-line typescript/no-explicit-any -- as in the generated bindings: JSON is checked where it is read
export type Json = any;

/** The keywords that forms understand. Everything else is kept and ignored. */
export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  definitions?: Record<string, Schema>;
  type?: string | string[];
  title?: string;
  description?: string;
  default?: Json;
  examples?: Json[];
  enum?: Json[];
  const?: Json;
  properties?: Record<string, Schema | boolean>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  minProperties?: number;
  items?: Schema | boolean;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  oneOf?: (Schema | boolean)[];
  anyOf?: (Schema | boolean)[];
  allOf?: (Schema | boolean)[];
  nullable?: boolean;
  readOnly?: boolean;
  "x-editor"?: string;
  "x-enum-labels"?: string[];
  /** Shown only while the fields beside it have these values: one, one of a list, or any (`*`). */
  "x-if"?: Record<string, Json>;
  /** Of these fields only one may be there. */
  "x-one-of"?: string[];
  /** Fields that are shown at first, and the groups that the others are folded into. */
  "x-form"?: {
    readonly front?: readonly string[];
    readonly groups?: readonly { readonly title: string; readonly fields: readonly string[] }[];
  };
  /** Names a node to go on with, while the fields beside it have these values. */
  /** What an item of a list may begin as, each with the place in it that is written first. */
  "x-begin"?: { title: string; value: Json; first?: string }[];
  "x-leads-to"?: Record<string, Json>;
  /** A state key that takes the value of the field beside it with this name. */
  "x-takes"?: string;
  /** The state key that is made for a name which no key has. */
  "x-key"?: Record<string, Json>;
  /** Language of a code editor, or the field beside it that names it. */
  "x-language"?: string;
  "x-language-of"?: string;
  [keyword: string]: Json;
}

/** One complaint about a value, at a JSON Pointer inside it ("" is the value itself). */
export interface SchemaError {
  pointer: string;
  message: string;
}

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

/** Does a field have the wanted value? Also one of a list, or any (`*`). */
export function fits(value: Json, wanted: Json): boolean {
  if (wanted === "*") return value !== undefined && value !== null && value !== "";
  return Array.isArray(wanted) ? wanted.includes(value) : value === wanted;
}

const MAX_DEPTH = 32;

/** Follows local references and folds `allOf` in; a reference that leads nowhere becomes "anything". */
export function resolve(schema: Schema | boolean | undefined, root: Schema, depth = 0): Schema {
  if (schema === undefined || typeof schema === "boolean" || schema === null) return {};
  if (depth > MAX_DEPTH) return {};
  let found: Schema = schema;
  if (typeof schema.$ref === "string") {
    const { $ref, ...beside } = schema;
    const target = lookUp(root, $ref);
    found = { ...resolve(target, root, depth + 1), ...beside };
  }
  if (Array.isArray(found.allOf)) {
    const { allOf, ...beside } = found;
    found = allOf
      .map((part) => resolve(part, root, depth + 1))
      .reduce<Schema>((into, part) => mergeSchemas(into, part), beside);
  }
  return found;
}

function lookUp(root: Schema, reference: string): Schema | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  return getPointer(root, decodeURIComponent(reference.slice(1))) as Schema | undefined;
}

function mergeSchemas(into: Schema, part: Schema): Schema {
  const merged: Schema = { ...part, ...into };
  if (into.properties || part.properties) {
    merged.properties = { ...into.properties, ...part.properties };
  }
  if (into.required || part.required) {
    merged.required = [...new Set([...(into.required ?? []), ...(part.required ?? [])])];
  }
  return merged;
}

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

function impliedType(schema: Schema): string | undefined {
  if (schema.properties) return "object";
  if (schema.items) return "array";
  if (schema.minLength !== undefined || schema.maxLength !== undefined || schema.pattern) return "string";
  if (schema.minimum !== undefined || schema.maximum !== undefined) return "number";
  return undefined;
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

/** A JSON type as a title. */
export function typeTitle(type: string): string {
  const text = typeText(type);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Label of a property: its title, or its name made readable. */
export function labelOf(name: string, schema: Schema): string {
  if (schema.title) return schema.title;
  const words = name.replace(/[_-]+/g, " ").replace(/([a-z])([A-Z])/g, "$1 $2");
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
}

/** What a new value of this schema starts as: its default, or the least that is of its type. */
export function initialValue(schema: Schema | boolean | undefined, root?: Schema): Json {
  return begin(schema, root, false, 0);
}

/**
 * What a form begins with that asks somebody: the defaults, and nothing that would have to be decided. An answer is
 * given, not left as it was found.
 */
export function blankValue(schema: Schema | boolean | undefined, root?: Schema): Json {
  return begin(schema, root, true, 0);
}

function begin(
  schema: Schema | boolean | undefined,
  root: Schema | undefined,
  blank: boolean,
  depth: number,
): Json {
  const base = root ?? (typeof schema === "object" ? schema : {});
  const found = resolve(schema, base);
  if ("default" in found) return structuredCloneJson(found.default);
  if (depth > MAX_DEPTH) return null;
  const control = controlFor(found, base);
  if (blank && ["text", "number", "boolean", "enum", "variants"].includes(control.kind)) return undefined;
  switch (control.kind) {
    case "text":
      return "";
    case "number":
      return control.integer ? Math.ceil(Math.max(0, lowest(found))) : Math.max(0, lowest(found));
    case "boolean":
      return false;
    case "enum":
      return structuredCloneJson(control.options[0]);
    case "const":
      return structuredCloneJson(control.value);
    case "flags":
      return [];
    case "array": {
      const count = Math.min(found.minItems ?? 0, 20);
      return Array.from({ length: count }, () => begin(control.items, base, blank, depth + 1));
    }
    case "nullable":
      return null;
    case "variants":
      return begin(control.variants[0], base, blank, depth + 1);
    case "object": {
      const value: Record<string, Json> = {};
      for (const [name, property] of control.properties) {
        const isRequired = found.required?.includes(name) ?? false;
        if (!isRequired && !("default" in property)) continue;
        const first = begin(property, base, blank, depth + 1);
        if (first !== undefined) value[name] = first;
      }
      return value;
    }
    default: {
      const type = typesOf(found)[0] ?? impliedType(found);
      if (blank) return undefined;
      if (type === "array") return [];
      if (type === "object") return {};
      return null;
    }
  }
}

function lowest(schema: Schema): number {
  if (typeof schema.minimum === "number") return schema.minimum;
  if (typeof schema.exclusiveMinimum === "number") return schema.exclusiveMinimum + 1;
  if (typeof schema.maximum === "number" && schema.maximum < 0) return schema.maximum;
  return 0;
}

/** JSON's name for the type of a value. */
function typeName(value: Json): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

/** Index of the variant that fits a value best: the first it satisfies, else the first of its type, else -1. */
export function variantOf(variants: Schema[], value: Json, root: Schema): number {
  if (value === undefined) return -1;
  const exact = variants.findIndex((variant) => validate(variant, value, root).length === 0);
  if (exact >= 0) return exact;
  // A value that is being edited is often not valid yet; a constant property shows which variant is meant.
  if (typeName(value) === "object") {
    const tagged = variants.findIndex((variant) =>
      Object.entries(resolve(variant, root).properties ?? {}).some(([name, property]) => {
        const found = resolve(property, root);
        return "const" in found && name in value && sameJson(found.const, value[name]);
      }),
    );
    if (tagged >= 0) return tagged;
  }
  return variants.findIndex((variant) => matchesType(resolve(variant, root), value));
}

function matchesType(schema: Schema, value: Json): boolean {
  const types = typesOf(schema);
  const allowed = types.length > 0 ? types : [impliedType(schema)].filter((t) => t !== undefined);
  if (allowed.length === 0) return true;
  const name = typeName(value);
  return allowed.includes(name) || (name === "integer" && allowed.includes("number"));
}

/**
 * Finds what is wrong with a value. Covers the keywords that forms render; what it does not know it lets pass, since
 * the workbench checks again.
 */
export function validate(schema: Schema | boolean | undefined, value: Json, root?: Schema): SchemaError[] {
  const errors: SchemaError[] = [];
  const base = root ?? (typeof schema === "object" ? schema : {});
  check(schema, value, base, "", errors, 0);
  return errors;
}

function check(
  raw: Schema | boolean | undefined,
  value: Json,
  root: Schema,
  pointer: string,
  errors: SchemaError[],
  depth: number,
): void {
  if (raw === undefined || raw === true || depth > MAX_DEPTH) return;
  const say = (message: string, at = pointer) => errors.push({ pointer: at, message });
  if (raw === false) {
    say(t("forms.check.nothing"));
    return;
  }
  const schema = resolve(raw, root);

  if ("const" in schema && !sameJson(schema.const, value)) {
    say(t("forms.check.const", { value: brief(schema.const) }));
    return;
  }
  if (Array.isArray(schema.enum) && !schema.enum.some((option) => sameJson(option, value))) {
    say(t("forms.check.enum", { values: listed(schema.enum.map((option) => brief(option))) }));
    return;
  }
  const types = typesOf(schema);
  if (types.length > 0 && !matchesType(schema, value)) {
    say(
      t("forms.check.type", {
        expected: types.map(typeText).join(t("forms.check.or")),
        found: typeText(typeName(value)),
      }),
    );
    return;
  }

  const choices = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(choices) && choices.length > 0) {
    const attempts = choices.map((choice) => {
      const found: SchemaError[] = [];
      check(choice, value, root, pointer, found, depth + 1);
      return found;
    });
    if (!attempts.some((found) => found.length === 0)) {
      const nearest = variantOf(
        choices.map((choice) => resolve(choice, root)),
        value,
        root,
      );
      const chosen = nearest >= 0 ? attempts[nearest] : undefined;
      if (chosen && chosen.some((error) => error.pointer !== pointer)) errors.push(...chosen);
      else say(t("forms.check.variants"));
      return;
    }
  }

  if (typeof value === "string") checkText(schema, value, say);
  if (typeof value === "number") checkNumber(schema, value, say);
  if (Array.isArray(value)) {
    if (schema.minItems !== undefined && value.length < schema.minItems) {
      say(tn("forms.check.minItems.one", "forms.check.minItems.many", schema.minItems));
    }
    if (schema.maxItems !== undefined && value.length > schema.maxItems) {
      say(tn("forms.check.maxItems.one", "forms.check.maxItems.many", schema.maxItems));
    }
    if (schema.uniqueItems === true && hasRepeats(value)) say(t("forms.check.unique"));
    if (schema.items !== undefined) {
      value.forEach((item, index) =>
        check(schema.items, item, root, `${pointer}/${index}`, errors, depth + 1),
      );
    }
  }
  if (typeName(value) === "object") checkObject(schema, value, root, pointer, errors, depth);
}

function checkText(schema: Schema, value: string, say: (message: string) => void): void {
  const length = [...value].length;
  if (schema.minLength !== undefined && length < schema.minLength) {
    say(
      schema.minLength === 1
        ? t("forms.check.notEmpty")
        : t("forms.check.minLength", { n: schema.minLength }),
    );
  }
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    say(t("forms.check.maxLength", { n: schema.maxLength, length }));
  }
  if (schema.pattern) {
    let pattern: RegExp | null = null;
    try {
      pattern = new RegExp(schema.pattern, "u");
    } catch {
      pattern = null;
    }
    if (pattern && !pattern.test(value)) say(t("forms.check.pattern", { pattern: schema.pattern }));
  }
}

function checkNumber(schema: Schema, value: number, say: (message: string) => void): void {
  if (schema.minimum !== undefined && value < schema.minimum)
    say(t("forms.check.minimum", { n: schema.minimum }));
  if (schema.maximum !== undefined && value > schema.maximum)
    say(t("forms.check.maximum", { n: schema.maximum }));
  if (typeof schema.exclusiveMinimum === "number" && value <= schema.exclusiveMinimum) {
    say(t("forms.check.exclusiveMinimum", { n: schema.exclusiveMinimum }));
  }
  if (typeof schema.exclusiveMaximum === "number" && value >= schema.exclusiveMaximum) {
    say(t("forms.check.exclusiveMaximum", { n: schema.exclusiveMaximum }));
  }
  if (schema.multipleOf) {
    const quotient = value / schema.multipleOf;
    if (Math.abs(quotient - Math.round(quotient)) > 1e-9)
      say(t("forms.check.multipleOf", { n: schema.multipleOf }));
  }
}

function checkObject(
  schema: Schema,
  value: Record<string, Json>,
  root: Schema,
  pointer: string,
  errors: SchemaError[],
  depth: number,
): void {
  for (const name of schema.required ?? []) {
    if (value[name] === undefined) {
      errors.push({ pointer: `${pointer}/${escapeToken(name)}`, message: t("forms.check.required") });
    }
  }
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const at = `${pointer}/${escapeToken(name)}`;
    const property = schema.properties?.[name];
    if (property !== undefined) check(property, item, root, at, errors, depth + 1);
    else if (schema.additionalProperties === false) {
      errors.push({ pointer: at, message: t("forms.check.unknown", { name }) });
    } else if (schema.additionalProperties !== undefined) {
      check(schema.additionalProperties, item, root, at, errors, depth + 1);
    }
  }
}

function hasRepeats(values: Json[]): boolean {
  return new Set(values.map((value) => JSON.stringify(value))).size < values.length;
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

/** A value in a few characters. */
export function brief(value: Json, length = 32): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** Deep equality of JSON values; the order of object keys does not matter. */
export function sameJson(a: Json, b: Json): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => sameJson(item, b[index]));
  }
  const left = Object.keys(a).filter((key) => a[key] !== undefined);
  const right = Object.keys(b).filter((key) => b[key] !== undefined);
  return left.length === right.length && left.every((key) => key in b && sameJson(a[key], b[key]));
}

function structuredCloneJson(value: Json): Json {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** Escapes a property name for a JSON Pointer. */
export function escapeToken(token: string): string {
  return token.replace(/~/g, "~0").replace(/\//g, "~1");
}

/** The tokens of a JSON Pointer. */
function pointerTokens(pointer: string): string[] {
  if (pointer === "") return [];
  return pointer
    .split("/")
    .slice(1)
    .map((token) => token.replace(/~1/g, "/").replace(/~0/g, "~"));
}

/** The value at a JSON Pointer, or undefined. */
export function getPointer(value: Json, pointer: string): Json {
  let found = value;
  for (const token of pointerTokens(pointer)) {
    if (found === null || typeof found !== "object") return undefined;
    found = found[token];
  }
  return found;
}
