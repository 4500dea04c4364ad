/** A value of one of several forms: the form is chosen, then filled in. */
import { useState } from "react";
import { listed } from "../../lib/intl";
import { t } from "../../lib/texts";
import { Field, type FieldProblem } from "../Field";
import { Select } from "../Select";
import { useForm, beginning, type FieldProps, type FormSettings } from "./form";
import { absentText } from "./placeholder";
import { brief, type Json } from "./json";
import { controlFor } from "./control";
import { resolve, type Schema } from "./schema";
import { typesOf } from "./types";
import { variantOf } from "./validate";
import { itemsClass } from "../recipes";

export function VariantsField({
  schema,
  variants,
  value,
  onChange,
  pointer,
  name,
  required,
  shownLabel,
  label,
  problems,
}: FieldProps & { variants: Schema[]; shownLabel: string | undefined; problems: FieldProblem[] }) {
  const form = useForm();
  const [picked, setPicked] = useState<number | null>(null);
  // What was picked counts as long as the value could be of it; otherwise the value decides.
  const fitting = variantOf(variants, value, form.root);
  const active =
    picked !== null &&
    picked < variants.length &&
    (value === undefined || variantOf([variants[picked]!], value, form.root) === 0)
      ? picked
      : fitting;
  const chosen = active >= 0 ? variants[active] : undefined;
  const readOnly = form.readOnly || schema.readOnly === true;
  const titles = variants.map((variant, index) => variant.title ?? variantTitle(variant, index, form.root));
  return (
    <Field
      {...(shownLabel !== undefined && { label: shownLabel })}
      required={required && shownLabel !== undefined}
      description={schema.description ?? chosen?.description}
      error={chosen === undefined ? problems : undefined}
      pointer={form.pointerPrefix + pointer}
    >
      <div className={itemsClass}>
        <Select
          aria-label={`${shownLabel ?? label ?? ""} ${t("forms.schema.kind")}`.trim()}
          size="small"
          value={active < 0 ? -1 : active}
          disabled={readOnly}
          options={[
            ...(active < 0
              ? [
                  {
                    value: -1,
                    label: value === undefined ? absentText(schema) : brief(value),
                    absent: value === undefined,
                  },
                ]
              : []),
            ...(!required && value !== undefined && shownLabel !== undefined
              ? [{ value: -2, label: absentText(schema) }]
              : []),
            ...variants.map((variant, index) => ({
              value: index,
              label: titles[index]!,
              description: variant.description,
            })),
          ]}
          onChange={(next) => {
            if (next === -2) {
              setPicked(null);
              onChange(undefined);
            } else if (next >= 0 && next !== active) {
              setPicked(next);
              onChange(carryOver(value, variants[next]!, form));
            }
          }}
        />
        {chosen !== undefined && controlFor(chosen, form.root).kind !== "const" && (
          <form.Nested
            key={active}
            schema={{ ...chosen, title: undefined, description: undefined } as unknown as Schema}
            value={value}
            onChange={onChange}
            pointer={pointer}
            name={name}
            required
            bare
            label={titles[active] ?? ""}
          />
        )}
      </div>
    </Field>
  );
}

export function variantTitle(variant: Schema, index: number, root: Schema): string {
  for (const [property, raw] of Object.entries(variant.properties ?? {})) {
    const found = resolve(raw, root);
    if ("const" in found) return `${property}: ${brief(found.const)}`;
  }
  const types = typesOf(variant);
  if ("const" in variant) return brief(variant.const);
  if (types.length === 1 && types[0] !== "object") return types[0]!;
  const names = Object.keys(variant.properties ?? {});
  if (names.length > 0) return listed(names.slice(0, 3));
  return types[0] ?? t("forms.schema.variant", { n: index + 1 });
}

/** Starts a variant, keeping what the old value has under the same names. */
function carryOver(value: Json, variant: Schema, form: FormSettings): Json {
  const { root } = form;
  const fresh = beginning(form, variant);
  if (typeof value !== "object" || value === null || typeof fresh !== "object" || fresh === null)
    return fresh;
  if (Array.isArray(value) || Array.isArray(fresh)) return fresh;
  const kept = { ...fresh };
  for (const [name, property] of Object.entries(variant.properties ?? {})) {
    const found = resolve(property, root);
    if (name in value && !("const" in found) && variantOf([found], value[name], root) === 0)
      kept[name] = value[name];
  }
  return kept;
}
