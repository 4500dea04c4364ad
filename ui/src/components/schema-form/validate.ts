/** What is wrong with a value. Rust has the last word on validity; this is the part that must answer while a person types. */
import { listed } from "../../lib/intl";
import { t, tn } from "../../lib/texts";
import { type Json, brief, sameJson, escapeToken } from "./json";
import { type Schema, MAX_DEPTH, resolve } from "./schema";
import { typesOf, typeName, matchesType, typeText } from "./types";

/** One complaint about a value, at a JSON Pointer inside it ("" is the value itself). */
export interface SchemaError {
  pointer: string;
  message: string;
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
