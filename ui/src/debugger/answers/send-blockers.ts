/** What keeps an answer from being sent. */
import { labelAt } from "../../components/schema-form/labels";
import type { Schema } from "../../components/schema-form/schema";
import type { SchemaError } from "../../components/schema-form/validate";
import { t, tn } from "../../lib/texts";

/** Why an answer cannot be sent yet, of its problems the first one; `null` when it can. */
export function whatIsMissing(
  schema: Schema | undefined,
  draft: unknown,
  valid: boolean,
  [first, ...others]: readonly SchemaError[],
): string | null {
  if (!valid) return t("debug.input.invalid");
  if (draft === undefined) return t("debug.answer.nothing");
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
