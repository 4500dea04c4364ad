/** One value of a form: chooses the control for its schema and draws it. Fields of several values call it for what is inside. */
import type { ReactNode } from "react";
import { Plus } from "lucide-react";
import { t } from "../../lib/texts";
import { Button } from "../Button";
import { Checkbox } from "../Checkbox";
import { Combobox } from "../Combobox";
import { Field } from "../Field";
import { JsonEditor } from "../JsonEditor";
import { NumberField } from "../NumberField";
import { unitOf } from "../span";
import { Switch } from "../Switch";
import { TextArea, TextField } from "../TextField";
import { useForm, type FieldProps, type FormSettings } from "./form";
import { placeholderOf } from "./placeholder";
import { BUILT_IN } from "./editors";
import { EnumField } from "./EnumField";
import { NullableField } from "./NullableField";
import { VariantsField } from "./VariantsField";
import { ObjectField } from "./ObjectField";
import { ArrayField } from "./ArrayField";
import { brief, sameJson, type Json } from "./json";
import { controlFor, type Control } from "./control";
import { labelOf } from "./labels";
import { resolve, type Schema } from "./schema";
import { typesOf, typeTitle } from "./types";
import { WithSecrets } from "./WithSecrets";
import { cx } from "../cx";
import { formsIds } from "../../lib/testIds";

export function SchemaField(props: FieldProps) {
  const { value, onChange, pointer, name, required, bare = false } = props;
  const form = useForm();
  const schema = resolve(props.schema, form.root);
  const label = bare ? undefined : labelOf(name, schema);
  const hint = schema["x-editor"];
  const Editor = hint === undefined ? undefined : (form.editors[hint] ?? BUILT_IN[hint]);
  const problems =
    Editor !== undefined && Editor.nested !== true
      ? [...form.problemsAt(pointer), ...form.problemsBelow(pointer)]
      : form.problemsAt(pointer);
  const control = controlOf(schema, form, value, required);
  const readOnly = form.readOnly || schema.readOnly === true;
  const spoken = props.label ?? (label === undefined ? (schema.title ?? t("forms.schema.json")) : undefined);
  const onBlur = () => form.touch(pointer);

  const wrap = (
    inside: ReactNode,
    options: { aside?: ReactNode; switchLike?: boolean; help?: ReactNode; spoken?: string | undefined } = {},
  ) => (
    <Field
      {...(label !== undefined && { label })}
      spoken={options.spoken}
      description={options.help ?? (bare && pointer !== "" ? undefined : schema.description)}
      required={required && !bare}
      error={problems}
      pointer={form.pointerPrefix + pointer}
      aside={options.aside}
      {...(options.switchLike === true && { layout: "switch" as const })}
    >
      <div
        className={cx(options.switchLike === true && "flex")}
        data-control
        onBlur={(event) => {
          // A field inside of this one reports itself.
          if (event.target.closest("[data-control]") === event.currentTarget) onBlur();
        }}
        data-testid={pointer === "" ? undefined : formsIds.field(`${form.pointerPrefix}${pointer}`)}
      >
        {schema["x-secrets"] === undefined ? (
          inside
        ) : (
          <WithSecrets schema={schema} value={value} readOnly={readOnly} onChange={onChange}>
            {inside}
          </WithSecrets>
        )}
      </div>
    </Field>
  );

  if (Editor !== undefined) {
    return wrap(
      <Editor
        schema={schema}
        value={value}
        onChange={onChange}
        pointer={pointer}
        stateKeys={form.stateKeys}
        variables={form.variables}
        readOnly={readOnly}
        problems={problems}
        problemsAt={form.problemsAt}
        onBlur={onBlur}
      />,
      { spoken },
    );
  }

  const placeholder = placeholderOf(schema);
  const spokenProp = spoken === undefined ? {} : { "aria-label": spoken };

  // A value of another type than the schema's must stay visible; the typed controls would hide it.
  const fits = value === undefined || fitsControl(control.kind, value);
  if (!fits && control.kind !== "variants" && control.kind !== "nullable" && control.kind !== "json") {
    return wrap(<JsonEditor {...spokenProp} value={value} onChange={onChange} readOnly={readOnly} />);
  }

  switch (control.kind) {
    case "text": {
      const text = typeof value === "string" ? value : "";
      // An optional text that is emptied is not there any more; a required one is the empty text.
      const change = (next: string) => onChange(next === "" && !required && !bare ? undefined : next);
      if (Array.isArray(schema.examples) && schema.examples.length > 1 && !readOnly) {
        return wrap(
          <Combobox
            {...spokenProp}
            value={text}
            onChange={change}
            placeholder={placeholder}
            items={schema.examples.map((example) => ({ value: String(example) }))}
          />,
        );
      }
      if (inputType(schema.format) !== "text") {
        return wrap(
          <TextField
            {...spokenProp}
            value={text}
            onChange={change}
            placeholder={placeholder}
            readOnly={readOnly}
            type={inputType(schema.format)}
          />,
        );
      }
      return wrap(
        <TextArea
          {...spokenProp}
          value={text}
          onChange={change}
          placeholder={placeholder}
          readOnly={readOnly}
          minRows={control.long ? 2 : 1}
          // A short text is a name more often than a sentence.
          spellCheck={control.long}
          onKeyDown={(event) => {
            // One line grows with long text, but becomes several only on purpose.
            const alone = !control.long && !text.includes("\n");
            if (event.key === "Enter" && alone && !event.shiftKey && !event.ctrlKey && !event.metaKey)
              event.preventDefault();
          }}
        />,
      );
    }
    case "number":
      return wrap(
        <NumberField
          {...spokenProp}
          value={typeof value === "number" ? value : undefined}
          onChange={onChange}
          integer={control.integer}
          min={schema.minimum}
          max={schema.maximum}
          step={schema.multipleOf ?? (control.integer ? 1 : numberStep(schema))}
          unit={form.workplace === undefined ? undefined : unitOf(name)}
          placeholder={placeholder}
          readOnly={readOnly}
        />,
      );
    case "boolean":
      return wrap(
        <Switch
          {...spokenProp}
          checked={typeof value === "boolean" ? value : schema.default === true}
          onChange={onChange}
          readOnly={readOnly}
        />,
        { switchLike: true },
      );
    case "const":
      return wrap(
        value === undefined && !required ? (
          <Button size="small" icon={<Plus size={13} />} onClick={() => onChange(control.value)}>
            {brief(control.value)}
          </Button>
        ) : (
          <span className="text-xs/inherit text-text-3">
            {t("forms.schema.fixed", { value: brief(control.value) })}
          </span>
        ),
      );
    case "enum":
      return wrap(
        <EnumField
          {...spokenProp}
          schema={schema}
          options={control.options}
          value={value}
          onChange={onChange}
          optional={!required && !bare}
          readOnly={readOnly}
          root={form.root}
        />,
      );
    case "flags":
      return wrap(
        <div className="flex flex-col" role="group" {...spokenProp}>
          {control.options.map((option) => {
            const chosen: Json[] = Array.isArray(value) ? value : [];
            const on = chosen.some((item) => sameJson(item, option));
            return (
              <Checkbox
                key={brief(option, 200)}
                checked={on}
                disabled={readOnly}
                onChange={(next) =>
                  onChange(
                    // Kept in the order of the schema, so that ticking twice changes nothing.
                    control.options.filter((item) =>
                      sameJson(item, option) ? next : chosen.some((other) => sameJson(other, item)),
                    ),
                  )
                }
              >
                {brief(option, 200)}
              </Checkbox>
            );
          })}
        </div>,
      );
    case "nullable":
      return (
        <NullableField
          {...props}
          schema={schema}
          inner={control.inner}
          label={label ?? props.label ?? ""}
          showLabel={label !== undefined}
          problems={problems}
        />
      );
    case "variants":
      return (
        <VariantsField
          {...props}
          schema={schema}
          variants={control.variants}
          shownLabel={label}
          problems={problems}
        />
      );
    case "object":
      return (
        <ObjectField
          {...props}
          schema={schema}
          properties={control.properties}
          extra={control.extra}
          shownLabel={label}
          problems={problems}
        />
      );
    case "array":
      return wrap(
        <ArrayField {...props} schema={schema} items={control.items} itemLabel={label ?? props.label} />,
      );
    case "json":
      return wrap(
        <JsonEditor
          {...spokenProp}
          value={value}
          onChange={onChange}
          readOnly={readOnly}
          placeholder={placeholder ?? jsonPlaceholder(schema)}
        />,
      );
  }
}

/** The control, with two thoughts that need the value: what may be absent needs no null, and anything goes by type. */
function controlOf(schema: Schema, form: FormSettings, value: Json, required: boolean): Control {
  const { root } = form;
  const control = controlFor(schema, root);
  // A switch is off before anybody has decided.
  if (form.blank && control.kind === "boolean" && required && schema.default === undefined)
    return { kind: "enum", options: [true, false] };
  if (control.kind === "nullable" && !required && value !== null) return controlFor(control.inner, root);
  if (
    control.kind === "json" &&
    typesOf(schema).length === 0 &&
    schema.not === undefined &&
    schema.if === undefined
  ) {
    return { kind: "variants", variants: anything() };
  }
  return control;
}

/** A value without a declared type is edited by the type it has. */
function anything(): Schema[] {
  return ["string", "number", "boolean", "array", "object", "null"].map((type) => ({
    type,
    title: typeTitle(type),
  }));
}

function fitsControl(kind: string, value: Json): boolean {
  switch (kind) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    case "flags":
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    default:
      return true;
  }
}

function inputType(format: string | undefined): string {
  switch (format) {
    case "date":
      return "date";
    case "time":
      return "time";
    case "password":
      return "password";
    default:
      return "text";
  }
}

function numberStep(schema: Schema): number {
  const range = (schema.maximum ?? Infinity) - (schema.minimum ?? -Infinity);
  return range <= 2 ? 0.1 : 1;
}

function jsonPlaceholder(schema: Schema): string {
  const type = typesOf(schema)[0];
  return type === "array" ? "[ ]" : type === "object" ? "{ }" : t("forms.json.placeholder");
}
