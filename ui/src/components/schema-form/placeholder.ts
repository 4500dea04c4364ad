/** What a field says while it has no value. */
import { listed } from "../../lib/intl";
import { t } from "../../lib/texts";
import { brief } from "./json";
import type { Schema } from "./schema";

/** What counts while a field is empty, or an example of what to write. */
export function placeholderOf(schema: Schema): string | undefined {
  const { default: given, examples } = schema;
  const nothing = given === undefined || given === null || given === "";
  if (!nothing && !(Array.isArray(given) && given.length === 0))
    return t("forms.schema.defaultIs", { value: brief(Array.isArray(given) ? listed(given) : given, 60) });
  return examples?.[0] === undefined ? undefined : brief(examples[0], 60);
}

/** What a field that is not there means: its default, when it has one. */
export const absentText = (...schemas: Schema[]): string => {
  const known = schemas.find((schema) => schema.default !== undefined && schema.default !== null);
  return (known && placeholderOf({ default: known.default })) ?? t("forms.notSet");
};
