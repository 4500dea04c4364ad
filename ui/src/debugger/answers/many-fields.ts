/** An answer of many fields: what is needed first, the others folded in drawers, and those that have the words searched for. */
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

export const fieldsOf = (schema: Schema): string[] => Object.keys(schema.properties ?? {});

/** The schema with its fields laid out; one of few fields, or with a layout of its own, as it is. */
export function folded(schema: Schema, words: string): Schema {
  const names = fieldsOf(schema);
  if (names.length <= MAX_OPEN) return schema;
  const searched = words.toLowerCase().split(/\s+/u).filter(Boolean);
  const field = (name: string) => resolve(schema.properties?.[name], schema);
  const label = (name: string) => labelOf(name, field(name));
  if (searched.length > 0) {
    const has = (name: string) => {
      const text = [name, label(name), field(name).description ?? ""].join("\n").toLowerCase();
      return searched.every((word) => text.includes(word));
    };
    const others = names.filter((name) => !has(name));
    return {
      ...schema,
      "x-form": {
        front: names.filter(has),
        groups: [{ title: t("debug.answer.otherFields"), fields: others }],
      },
    };
  }
  if (schema["x-form"] !== undefined) return schema;
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
  return { ...schema, "x-form": { front, groups } };
}

/** What is missing or wrong in an answer, in the order of the form's fields; nothing before there is an answer. */
export function problemsOf(schema: Schema | undefined, answer: unknown): SchemaError[] {
  if (schema === undefined || answer === undefined) return [];
  const fields = fieldsOf(schema).map((name): [string, Schema] => [name, {}]);
  const { front, groups } = arranged(folded(schema, ""), fields);
  const order = [...front, ...groups.flatMap((group) => group.fields)].map(([name]) => escapeToken(name));
  const placeOf = ({ pointer }: SchemaError) => order.indexOf(pointer.split("/")[1] ?? "");
  return validate(schema, answer).toSorted((one, other) => placeOf(one) - placeOf(other));
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
