/** What keeps an answer from being sent. */
import { labelAt } from "../../components/schema-form/labels";
import type { Schema } from "../../components/schema-form/schema";
import { t, tn } from "../../lib/texts";
import { problemsOf } from "./many-fields";

/** Why an answer cannot be sent yet: the field that is missing or wrong first; `null` when it can. */
export function whatIsMissing(schema: Schema | undefined, draft: unknown, valid: boolean): string | null {
  if (!valid) return t("debug.input.invalid");
  if (draft === undefined) return t("debug.answer.nothing");
  const [first, ...others] = schema ? problemsOf(schema, draft) : [];
  if (first === undefined) return null;
  const field = labelAt(schema ?? {}, first.pointer, draft);
  const text =
    field === ""
      ? first.message
      : first.message === t("forms.check.required")
        ? t("debug.answer.missing", { field })
        : t("debug.answer.field", { field, problem: first.message });
  return others.length === 0
    ? text
    : `${text} ${tn("debug.answer.othersOne", "debug.answer.others", others.length)}`;
}
