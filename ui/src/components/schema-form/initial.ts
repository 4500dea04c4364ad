/** What a value begins as. */
import { type Json, structuredCloneJson } from "./json";
import { type Schema, MAX_DEPTH, resolve } from "./schema";
import { typesOf, impliedType } from "./types";
import { controlFor } from "./control";

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
