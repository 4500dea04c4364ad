/** One of a few values, or none. */
import { t } from "../../lib/texts";
import { Select } from "../Select";
import { brief, sameJson, type Json } from "./json";
import { resolve, type Schema } from "./schema";

interface EnumProps {
  schema: Schema;
  options: Json[];
  value: Json;
  onChange(value: Json): void;
  optional: boolean;
  readOnly: boolean;
  root: Schema;
  "aria-label"?: string;
}

/** What is chosen when "not set" is: a value that JSON cannot be. */
const ABSENT = Symbol("absent");

export function EnumField({
  schema,
  options,
  value,
  onChange,
  optional,
  readOnly,
  root,
  ...rest
}: EnumProps) {
  const described = (schema.oneOf ?? schema.anyOf)?.map((choice) => resolve(choice, root));
  const unknown = value !== undefined && !options.some((option) => sameJson(option, value));
  const labelled = (option: Json) => {
    const index = options.findIndex((other) => sameJson(other, option));
    return described?.[index]?.title ?? schema["x-enum-labels"]?.[index] ?? enumLabel(option);
  };
  const absent =
    schema.default === undefined || schema.default === null
      ? t("forms.notSet")
      : t("forms.schema.defaultIs", { value: labelled(schema.default) });
  const choices = [
    ...(optional || value === undefined ? [{ value: ABSENT as Json, label: absent, absent: true }] : []),
    // A value that is not allowed is still what is there.
    ...(unknown ? [{ value, label: brief(value, 80) }] : []),
    ...options.map((option, index) => ({
      value: option,
      label: labelled(option),
      description: described?.[index]?.description,
    })),
  ];
  return (
    <Select
      {...rest}
      value={value === undefined ? (ABSENT as Json) : value}
      options={choices}
      onChange={(next: Json) => onChange(next === ABSENT ? undefined : next)}
      same={sameJson}
      disabled={readOnly}
    />
  );
}

function enumLabel(option: Json): string {
  if (option === true) return t("forms.schema.yes");
  if (option === false) return t("forms.schema.no");
  if (option === null) return t("forms.type.null");
  return brief(option, 80);
}
