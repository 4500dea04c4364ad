/** What a question offers to choose from. */
import { blankValue } from "../../components/schema-form/initial";
import { controlFor } from "../../components/schema-form/control";
import { validate } from "../../components/schema-form/validate";
import type { Schema } from "../../components/schema-form/schema";
import type { Asked } from "../../ipc/bindings/Asked";
import type { Choice } from "../../ipc/bindings/Choice";
import { t } from "../../lib/texts";
import { isObject } from "../parts/diff";
import { decisionsIn } from "./call-answers";

/** A choice of the question, or one that opens the form with what it begins with. */
export interface OwnChoice extends Choice {
  form?: unknown;
}

/** Forms that an answer may have besides the given choices, such as "edit" beside "approve": a choice each. */
function formsOf(schema: Schema, given: readonly Choice[], { calls }: Asked): OwnChoice[] {
  if (given.length === 0) return [];
  if ((calls?.calls.length ?? 0) > 1) return [{ label: t("debug.calls.each"), value: null, form: {} }];
  const control = controlFor(schema, schema);
  if (control.kind !== "variants") return [];
  return control.variants
    .filter(
      (variant) =>
        variant.title !== undefined &&
        !given.some((choice) => validate(variant, decisionsIn(calls, choice.value), schema).length === 0),
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
  return [...given, ...(isObject(asked.schema) ? formsOf(asked.schema, given, asked) : [])];
}

/** Words that answers begin with which let something not happen. */
const REFUSALS =
  /^(no|not|reject|rejected|deny|denied|decline|declined|refuse|refused|cancel|abort|stop|skip|block|disapprove|ignore)(?![\p{L}\p{N}])/iu;
const REFUSALS_ZH = /^(不|拒|否|取消|驳回|跳过)/u;

function isRefusal({ label, value }: OwnChoice): boolean {
  const word = isObject(value) && typeof value["type"] === "string" ? value["type"] : value;
  if (typeof word === "boolean") return !word;
  return [word, label].some(
    (text) => typeof text === "string" && (REFUSALS.test(text.trim()) || REFUSALS_ZH.test(text.trim())),
  );
}

/** The keys that mean the same for every question, and which choice each takes; -1 for none. */
export interface Verdicts {
  readonly approve: number;
  readonly reject: number;
}

/** The choice that lets it happen, the first of them, and the first that does not. */
export function verdictsOf(choices: readonly OwnChoice[]): Verdicts {
  const reject = choices.findIndex((choice) => !("form" in choice) && isRefusal(choice));
  const approve = choices.findIndex(
    (choice, at) => at !== reject && !("form" in choice) && !isRefusal(choice),
  );
  return { approve, reject };
}

/** The key of a choice: the same for every question that is approved or rejected, and a number for what there is besides. */
export function keyOf(choices: readonly OwnChoice[], index: number): string {
  const { approve, reject } = verdictsOf(choices);
  if (index === approve) return "A";
  if (index === reject) return "R";
  return index < 9 ? String(index + 1) : "";
}

/** The choice that a key takes; -1 for none. */
export function choiceOf(choices: readonly OwnChoice[], key: string): number {
  const { approve, reject } = verdictsOf(choices);
  if (key === "a" || key === "A") return approve;
  if (key === "r" || key === "R") return reject;
  const at = /^[1-9]$/.test(key) ? Number(key) - 1 : -1;
  return at < choices.length && at !== approve && at !== reject ? at : -1;
}
