/** The schema of a form: the keywords of JSON Schema that forms understand, references followed. */
import { type Json, getPointer } from "./json";

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
  /** What the names of an object are, where they are no state keys: parameters of the `tool` beside it. */
  "x-names"?: "tool";
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
  /** An object is one line that opens; `open` for one that does so by itself. */
  "x-fold"?: "closed" | "open";
  /** What an item of a list may begin as, each with the place in it that is written first. */
  "x-begin"?: { title: string; value: Json; first?: string }[];
  /** Names a node to go on with, while the fields beside it have these values. */
  "x-leads-to"?: Record<string, Json>;
  /** A state key that takes the value of the field beside it with this name. */
  "x-takes"?: string;
  /** The text may name secrets; `true` offers their names. */
  "x-secrets"?: boolean | "written";
  /** The state key that is made for a name which no key has. */
  "x-key"?: Record<string, Json>;
  /** Language of a code editor, or the field beside it that names it. */
  "x-language"?: string;
  "x-language-of"?: string;
  [keyword: string]: Json;
}

/** Does a field have the wanted value? Also one of a list, or any (`*`). */
export function fits(value: Json, wanted: Json): boolean {
  if (wanted === "*") return value !== undefined && value !== null && value !== "";
  return Array.isArray(wanted) ? wanted.includes(value) : value === wanted;
}

export const MAX_DEPTH = 32;

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

export function mergeSchemas(into: Schema, part: Schema): Schema {
  const merged: Schema = { ...part, ...into };
  if (into.properties || part.properties) {
    merged.properties = { ...into.properties, ...part.properties };
  }
  if (into.required || part.required) {
    merged.required = [...new Set([...(into.required ?? []), ...(part.required ?? [])])];
  }
  return merged;
}
