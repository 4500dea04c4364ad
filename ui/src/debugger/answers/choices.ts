/** What a question offers to choose from. */
import { blankValue } from "../../components/schema-form/initial";
import { controlFor } from "../../components/schema-form/control";
import { validate } from "../../components/schema-form/validate";
import type { Schema } from "../../components/schema-form/schema";
import type { Asked } from "../../ipc/bindings/Asked";
import type { Choice } from "../../ipc/bindings/Choice";
import { t } from "../../lib/texts";
import { isObject } from "../parts/diff";

/** A choice of the question, or one that opens the form with what it begins with. */
export interface OwnChoice extends Choice {
  form?: unknown;
}

/** Forms that an answer may have besides the given choices, such as "edit" beside "approve": a choice each. */
function formsOf(schema: Schema, given: readonly Choice[]): OwnChoice[] {
  const control = controlFor(schema, schema);
  if (given.length === 0 || control.kind !== "variants") return [];
  return control.variants
    .filter(
      (variant) =>
        variant.title !== undefined &&
        !given.some((choice) => validate(variant, choice.value, schema).length === 0),
    )
    .map((variant) => ({
      label: `${variant.title}…`,
      value: null,
      form: blankValue(variant, schema) as unknown,
      ...(variant.description !== undefined && { description: variant.description }),
    }))
    .filter((choice) => choice.form !== undefined);
}

/** Given choices, or the values of an answer that is one of a few, or yes and no. */
function givenOf(asked: Asked): Choice[] {
  if (asked.choices.length > 0) return asked.choices;
  const schema: unknown = asked.schema;
  if (!isObject(schema)) return [];
  if (Array.isArray(schema.enum) && schema.enum.length <= 9) {
    return schema.enum.map((value: unknown) => ({
      label: typeof value === "string" ? value : JSON.stringify(value),
      value,
    }));
  }
  if (schema.type === "boolean") {
    return [
      { label: t("debug.answer.yes"), value: true },
      { label: t("debug.answer.no"), value: false },
    ];
  }
  return [];
}

/** Everything that can be chosen: answers, and forms to fill in. */
export function choicesOf(asked: Asked): OwnChoice[] {
  const given = givenOf(asked);
  return [...given, ...(isObject(asked.schema) ? formsOf(asked.schema, given) : [])];
}
