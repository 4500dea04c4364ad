/**
 * A form of many fields: objects are lines that open, what is needed stands first, the others are folded in drawers, and words lead
 * to the fields that have them, however deep.
 */
import { escapeToken } from "../../components/schema-form/json";
import { labelOf } from "../../components/schema-form/labels";
import { arranged } from "../../components/schema-form/layout";
import { resolve, type Schema } from "../../components/schema-form/schema";
import { validate, type SchemaError } from "../../components/schema-form/validate";
import { t } from "../../lib/texts";

/** Up to this number all fields are shown. */
export const MAX_OPEN = 20;
/** Fields of a drawer. */
const IN_DRAWER = 20;
/** Objects within objects that are looked into; a schema may name itself. */
const MAX_DEPTH = 8;
/** Fields that are counted. */
const MAX_COUNTED = 100_000;

const fieldsOf = (schema: Schema): string[] => Object.keys(schema.properties ?? {});

/** An object with fields of its own that a form draws as such. */
const isSection = (schema: Schema): boolean =>
  schema["x-editor"] === undefined &&
  schema.oneOf === undefined &&
  schema.anyOf === undefined &&
  (schema.type === undefined || schema.type === "object") &&
  fieldsOf(schema).length > 0;

function walk(
  schema: Schema,
  root: Schema,
  see: (name: string, field: Schema, pointer: string) => boolean,
): void {
  const go = (within: Schema, pointer: string, depth: number): boolean =>
    fieldsOf(within).every((name) => {
      const field = resolve(within.properties?.[name], root);
      const at = `${pointer}/${escapeToken(name)}`;
      if (!see(name, field, at)) return false;
      return !isSection(field) || depth >= MAX_DEPTH || go(field, at, depth + 1);
    });
  go(schema, "", 0);
}

/** How many fields there are, those of objects in place of these. */
export function countFields(schema: Schema): number {
  let found = 0;
  walk(schema, schema, (_name, field) => {
    if (!isSection(field)) found += 1;
    return found < MAX_COUNTED;
  });
  return found;
}

const wordsOf = (words: string): string[] => words.toLowerCase().split(/\s+/u).filter(Boolean);

const hasWords = (words: readonly string[], name: string, field: Schema): boolean => {
  const text = [name, labelOf(name, field), field.description ?? ""].join("\n").toLowerCase();
  return words.every((word) => text.includes(word));
};

/** How many fields have the words, or are in an object that has them. */
export function countFound(schema: Schema, words: string): number {
  const searched = wordsOf(words);
  let found = 0;
  const around = new Set<string>();
  walk(schema, schema, (name, field, pointer) => {
    const isIn = around.has(pointer.slice(0, pointer.lastIndexOf("/")));
    const has = isIn || hasWords(searched, name, field);
    if (has && isSection(field)) around.add(pointer);
    else if (has) found += 1;
    return found < MAX_COUNTED;
  });
  return found;
}

/** The schema with its fields laid out; one of few fields as it is. */
export const folded = (schema: Schema, words: string): Schema =>
  countFields(schema) <= MAX_OPEN ? schema : laidOut(schema, schema, wordsOf(words), 0);

function laidOut(schema: Schema, root: Schema, searched: readonly string[], depth: number): Schema {
  const names = fieldsOf(schema);
  const properties: Record<string, Schema | boolean> = {};
  const found: string[] = [];
  let hasSections = false;
  for (const name of names) {
    const given = schema.properties?.[name];
    const field = resolve(given, root);
    const has = searched.length > 0 && hasWords(searched, name, field);
    if (isSection(field) && depth < MAX_DEPTH) {
      hasSections = true;
      // What has the words itself is shown with all that is in it.
      const inside = laidOut(field, root, has ? [] : searched, depth + 1);
      const isFound = has || (inside["x-form"]?.front?.length ?? 0) > 0;
      if (searched.length > 0 && isFound) found.push(name);
      properties[name] = { ...inside, "x-fold": searched.length > 0 && isFound ? "open" : "closed" };
    } else {
      if (has) found.push(name);
      if (given !== undefined) properties[name] = given;
    }
  }
  const whole = hasSections ? { ...schema, properties } : schema;
  if (searched.length > 0) {
    const others = names.filter((name) => !found.includes(name));
    const groups = others.length > 0 ? [{ title: t("debug.answer.otherFields"), fields: others }] : [];
    return { ...whole, "x-form": { front: found, groups } };
  }
  if (schema["x-form"] !== undefined || names.length <= MAX_OPEN) return whole;
  const label = (name: string) => labelOf(name, resolve(schema.properties?.[name], root));
  const required = new Set(schema.required ?? []);
  const front = names.filter((name) => required.has(name)).slice(0, MAX_OPEN);
  const rest = names.filter((name) => !front.includes(name));
  const drawers = Array.from({ length: Math.ceil(rest.length / IN_DRAWER) }, (_, at) =>
    rest.slice(at * IN_DRAWER, (at + 1) * IN_DRAWER),
  );
  const groups = drawers.map((fields) => ({
    title: t("debug.answer.range", { first: label(fields[0] ?? ""), last: label(fields.at(-1) ?? "") }),
    fields,
  }));
  return { ...whole, "x-form": { front, groups } };
}

/** Answers where a pointer stands among the fields as the form has them. */
export function orderOf(schema: Schema): (pointer: string) => number {
  const places = new Map<string, number>();
  const go = (within: Schema, pointer: string, depth: number): void => {
    const fields = fieldsOf(within).map((name): [string, Schema] => [
      name,
      resolve(within.properties?.[name], schema),
    ]);
    const { front, groups } = arranged(within, fields);
    for (const [name, field] of [...front, ...groups.flatMap((group) => group.fields)]) {
      const at = `${pointer}/${escapeToken(name)}`;
      places.set(at, places.size);
      if (isSection(field) && depth < MAX_DEPTH && places.size < MAX_COUNTED) go(field, at, depth + 1);
    }
  };
  go(folded(schema, ""), "", 0);
  return (pointer) => {
    for (let at = pointer; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) {
      const place = places.get(at);
      if (place !== undefined) return place;
    }
    return -1;
  };
}

/** What is missing or wrong in an answer, in the order of the form's fields; nothing before there is an answer. */
export function problemsOf(schema: Schema | undefined, answer: unknown): SchemaError[] {
  if (schema === undefined || answer === undefined) return [];
  const placeOf = orderOf(schema);
  return validate(schema, answer).toSorted((one, other) => placeOf(one.pointer) - placeOf(other.pointer));
}

/** The problem after the field of a pointer, or before it; round at the ends. */
export function problemBeside(
  schema: Schema,
  problems: readonly SchemaError[],
  pointer: string | null,
  by: 1 | -1,
): string | null {
  const placeOf = orderOf(schema);
  const place = pointer === null ? (by > 0 ? -1 : Number.MAX_SAFE_INTEGER) : placeOf(pointer);
  const beyond = problems.filter((problem) => (placeOf(problem.pointer) - place) * by > 0);
  const [first, last] = [beyond[0] ?? problems[0], beyond.at(-1) ?? problems.at(-1)];
  return (by > 0 ? first : last)?.pointer ?? null;
}

/** Puts the focus into the field of a pointer, or the nearest one around it, once it is drawn; then calls `done`. */
export function focusAt(box: HTMLElement | null, pointer: string, done: () => void): void {
  requestAnimationFrame(() => {
    done();
    for (let at = pointer; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) {
      const field = box?.querySelector<HTMLElement>(`[data-pointer="${CSS.escape(at)}"]`);
      if (!field) continue;
      field.scrollIntoView({ block: "nearest" });
      field
        .querySelector<HTMLElement>(
          "input:not([aria-hidden=true]), textarea, .cm-content, [role=combobox], button",
        )
        ?.focus({ preventScroll: true });
      return;
    }
  });
}
