/** A value that may be absent: one line until it is set. */
import { Plus } from "lucide-react";
import { t } from "../../lib/texts";
import { Button } from "../Button";
import { Field, type FieldProblem } from "../Field";
import { useForm, beginning, type FieldProps } from "./form";
import { absentText } from "./placeholder";
import { initialValue } from "./initial";
import type { Json } from "./json";
import type { Schema } from "./schema";
import { itemClass } from "../recipes";

export function NullableField({
  inner,
  schema,
  value,
  onChange,
  pointer,
  name,
  required,
  label,
  showLabel,
  problems,
}: FieldProps & { inner: Schema; label: string; showLabel: boolean; problems: FieldProblem[] }) {
  const form = useForm();
  const empty = value === null || value === undefined;
  const readOnly = form.readOnly || schema.readOnly === true;
  return (
    <Field
      {...(showLabel && { label })}
      required={required && showLabel}
      description={schema.description}
      error={empty ? problems : undefined}
      pointer={empty ? form.pointerPrefix + pointer : undefined}
      aside={
        !readOnly && !empty ? (
          <Button size="small" variant="ghost" onClick={() => onChange(required ? null : undefined)}>
            {t("forms.remove")}
          </Button>
        ) : undefined
      }
    >
      {empty ? (
        <div className={itemClass}>
          <span className="flex-1 min-w-0 text-xs/inherit text-text-3">
            {value === null ? t("forms.type.null") : absentText(schema, inner)}
          </span>
          {!readOnly && (
            <Button
              size="small"
              icon={<Plus size={13} aria-hidden />}
              onClick={() => onChange(nonNull(beginning(form, inner), inner))}
            >
              {t("forms.schema.set")}
            </Button>
          )}
        </div>
      ) : (
        <form.Nested
          schema={{ ...inner, title: undefined, description: undefined } as unknown as Schema}
          value={value}
          onChange={(next) => onChange(next === undefined ? null : next)}
          pointer={pointer}
          name={name}
          required
          bare
          label={label}
        />
      )}
    </Field>
  );
}

/** The default of a nullable is often null, which would not set anything. */
function nonNull(value: Json, inner: Schema): Json {
  if (value !== null) return value;
  const { default: _default, ...beside } = inner;
  return initialValue(beside);
}
