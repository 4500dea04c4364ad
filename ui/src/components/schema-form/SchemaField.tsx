/** One value of a form: chooses the control for its schema and draws it. Calls itself for what is inside. */
import { createContext, useContext, useId, useState, type ComponentType, type ReactNode } from "react";
import { ChevronDown, ChevronRight, CircleAlert, Copy, MoveDown, MoveUp, Plus, X } from "lucide-react";
import { t } from "../../lib/texts";
import { Badge } from "../Badge";
import { Button } from "../Button";
import { Checkbox } from "../Checkbox";
import { Combobox } from "../Combobox";
import type { KeyInfo } from "../code/jinja";
import { ExpressionField } from "../ExpressionField";
import { Field, type FieldProblem } from "../Field";
import { IconButton } from "../IconButton";
import { JsonEditor } from "../JsonEditor";
import { Menu } from "../Menu";
import { NumberField } from "../NumberField";
import { Select } from "../Select";
import { Switch } from "../Switch";
import { TemplateField } from "../TemplateField";
import { TextArea, TextField } from "../TextField";
import { MessagesEditor } from "./MessagesEditor";
import {
  shownProperties,
  blankValue,
  brief,
  controlFor,
  escapeToken,
  initialValue,
  labelOf,
  resolve,
  sameJson,
  typesOf,
  typeTitle,
  variantOf,
  type Control,
  type Json,
  type Schema,
} from "./schema";

/** What an editor for an `x-editor` hint is given. It draws the control only; label and problems are drawn around it. */
export interface FieldEditorProps {
  schema: Schema;
  value: Json;
  onChange(value: Json): void;
  pointer: string;
  stateKeys: readonly KeyInfo[];
  variables: readonly string[];
  readOnly: boolean;
  problems: readonly FieldProblem[];
  /** Problems at a place inside the value. */
  problemsAt(pointer: string): FieldProblem[];
  onBlur(): void;
}

/** An editor with `nested` shows the problems inside its value itself. */
export type FieldEditor = ComponentType<FieldEditorProps> & { nested?: boolean };
export type FormEditors = Readonly<Record<string, FieldEditor>>;

export interface FormSettings {
  root: Schema;
  stateKeys: readonly KeyInfo[];
  variables: readonly string[];
  editors: FormEditors;
  readOnly: boolean;
  /** The form asks somebody: what has no default begins undecided, also yes and no. */
  blank: boolean;
  pointerPrefix: string;
  touch(pointer: string): void;
  problemsAt(pointer: string): FieldProblem[];
  /** Problems anywhere below, for editors that do not draw them. */
  problemsBelow(pointer: string): FieldProblem[];
  problemsInside(pointer: string): boolean;
}

export const FormContext = createContext<FormSettings | null>(null);

function useForm(): FormSettings {
  const settings = useContext(FormContext);
  if (settings === null) throw new Error("a SchemaField must be inside a SchemaForm");
  return settings;
}

/** What something that is added begins with. */
const beginning = (form: FormSettings, schema: Schema): Json =>
  form.blank ? blankValue(schema, form.root) : initialValue(schema, form.root);

interface FieldProps {
  schema: Schema;
  value: Json;
  onChange(value: Json): void;
  pointer: string;
  /** Property name, for the label. Empty at the root and for list items. */
  name: string;
  required: boolean;
  /** Without a label: the root, list items, and what is inside a nullable. */
  bare?: boolean;
  /** Said to screen readers where there is no visible label. */
  label?: string;
}

/** What counts while a field is empty, or an example of what to write. */
function placeholderOf(schema: Schema): string | undefined {
  const { default: given, examples } = schema;
  const nothing = given === undefined || given === null || given === "";
  if (!nothing && !(Array.isArray(given) && given.length === 0))
    return t("forms.schema.defaultIs", { value: brief(Array.isArray(given) ? given.join(", ") : given, 60) });
  return examples?.[0] === undefined ? undefined : brief(examples[0], 60);
}

/** What a field that is not there means: its default, when it has one. */
const absentText = (...schemas: Schema[]): string => {
  const known = schemas.find((schema) => schema.default !== undefined && schema.default !== null);
  return (known && placeholderOf({ default: known.default })) ?? t("forms.notSet");
};

function ExpressionEditor({
  schema,
  value,
  onChange,
  stateKeys,
  variables,
  readOnly,
  problems,
  onBlur,
}: FieldEditorProps) {
  return (
    <ExpressionField
      value={typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value)}
      onChange={(text) => onChange(text === "" ? undefined : text)}
      keys={stateKeys}
      variables={variables}
      readOnly={readOnly}
      placeholder={placeholderOf(schema)}
      error={problems[0]?.message}
      onBlur={onBlur}
    />
  );
}

function TemplateEditor({
  schema,
  value,
  onChange,
  stateKeys,
  variables,
  readOnly,
  problems,
  onBlur,
}: FieldEditorProps) {
  return (
    <TemplateField
      value={typeof value === "string" ? value : ""}
      onChange={(text) => onChange(text === "" ? undefined : text)}
      keys={stateKeys}
      variables={variables}
      readOnly={readOnly}
      placeholder={placeholderOf(schema)}
      error={problems[0]?.message}
      onBlur={onBlur}
    />
  );
}

function MessagesFieldEditor({ value, onChange, readOnly }: FieldEditorProps) {
  return <MessagesEditor value={value} onChange={onChange} readOnly={readOnly} />;
}

const BUILT_IN: FormEditors = {
  expression: ExpressionEditor,
  template: TemplateEditor,
  messages: MessagesFieldEditor,
};

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
    options: { aside?: ReactNode; switchLike?: boolean; help?: ReactNode } = {},
  ) => (
    <Field
      {...(label !== undefined && { label })}
      description={options.help ?? (bare && pointer !== "" ? undefined : schema.description)}
      required={required && !bare}
      error={problems}
      pointer={form.pointerPrefix + pointer}
      aside={options.aside}
      {...(options.switchLike === true && { className: "ss-field-switch" })}
    >
      <div
        className="ss-field-inside"
        onBlur={onBlur}
        data-testid={pointer === "" ? undefined : `field-${form.pointerPrefix}${pointer}`}
      >
        {inside}
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
          <span className="ss-none">{t("forms.schema.fixed", { value: brief(control.value) })}</span>
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
        <div className="ss-flags" role="group" {...spokenProp}>
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

function EnumField({ schema, options, value, onChange, optional, readOnly, root, ...rest }: EnumProps) {
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

function NullableField({
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
        <div className="ss-item">
          <span className="ss-none ss-item-body">
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
        <SchemaField
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

function VariantsField({
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
      <div className="ss-items">
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
          <SchemaField
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

function variantTitle(variant: Schema, index: number, root: Schema): string {
  for (const [property, raw] of Object.entries(variant.properties ?? {})) {
    const found = resolve(raw, root);
    if ("const" in found) return `${property}: ${brief(found.const)}`;
  }
  const types = typesOf(variant);
  if ("const" in variant) return brief(variant.const);
  if (types.length === 1 && types[0] !== "object") return types[0]!;
  const names = Object.keys(variant.properties ?? {});
  if (names.length > 0) return names.slice(0, 3).join(", ");
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

function ObjectField({
  schema,
  properties,
  extra,
  value,
  onChange,
  pointer,
  required,
  bare = false,
  shownLabel,
  problems,
}: FieldProps & {
  properties: [string, Schema][];
  extra: Schema | null;
  shownLabel: string | undefined;
  problems: FieldProblem[];
}) {
  const form = useForm();
  const object: Record<string, Json> =
    typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  const known = new Set(properties.map(([name]) => name));
  const others = Object.keys(object).filter((name) => !known.has(name) && object[name] !== undefined);
  const readOnly = form.readOnly || schema.readOnly === true;

  const set = (name: string, next: Json) => {
    const changed = { ...object };
    if (next === undefined) delete changed[name];
    else changed[name] = next;
    onChange(changed);
  };
  const rename = (from: string, to: string) => {
    if (to === from || to in object) return;
    // The order of fields is kept: a rename is not a move.
    onChange(
      Object.fromEntries(Object.entries(object).map(([name, item]) => [name === from ? to : name, item])),
    );
  };
  const addEntry = () => {
    let name = t("forms.schema.newField");
    for (let n = 2; name in object; n += 1) name = `${t("forms.schema.newField")}${n}`;
    onChange({ ...object, [name]: extra === null ? "" : beginning(form, extra) });
  };

  // Of some fields only one may be there: it is chosen, not added beside the others.
  const oneOf = schema["x-one-of"] ?? [];
  const chosen = oneOf.filter((name) => object[name] !== undefined);
  const rivals =
    chosen.length > 1
      ? []
      : properties
          .filter(([name]) => oneOf.includes(name))
          .map(([name, property]): [string, Schema] => {
            const control = controlFor(property, form.root);
            return [
              name,
              control.kind === "nullable" ? { ...control.inner, title: property.title } : property,
            ];
          });
  const choose = (name: string) => {
    const property = rivals.find(([rival]) => rival === name)?.[1];
    const rest = Object.fromEntries(Object.entries(object).filter(([other]) => !oneOf.includes(other)));
    onChange(property === undefined ? rest : { ...rest, [name]: beginning(form, property) });
  };
  const field = ([name, property]: [string, Schema], bareField = false) => (
    <SchemaField
      key={name}
      schema={bareField ? ({ ...property, title: undefined } as unknown as Schema) : property}
      value={object[name]}
      onChange={(next) => set(name, next)}
      pointer={`${pointer}/${escapeToken(name)}`}
      name={name}
      required={bareField || (schema.required?.includes(name) ?? false)}
      bare={bareField}
    />
  );

  const body = (
    <>
      {properties.length === 0 && others.length === 0 && extra === null && (
        <p className="ss-none">{t("forms.schema.noFields")}</p>
      )}
      {shownProperties(properties, object)
        .filter((shown) => !rivals.some(([name]) => name === shown[0]))
        .map((shown) => field(shown))}
      {rivals.length > 0 && (
        <Field label={t("forms.schema.oneOf")}>
          <div className="ss-items">
            <Select
              value={chosen[0] ?? ""}
              disabled={readOnly}
              options={[
                ...(chosen.length === 0 ? [{ value: "", label: t("forms.notSet"), absent: true }] : []),
                ...rivals.map(([name, property]) => ({ value: name, label: labelOf(name, property) })),
              ]}
              onChange={(name) => {
                if (name !== chosen[0]) choose(name);
              }}
            />
            {rivals.filter(([name]) => name === chosen[0]).map((rival) => field(rival, true))}
          </div>
        </Field>
      )}
      {others.map((name, index) => (
        <EntryField
          // The place, not the name: renaming must not take the focus away.
          key={index}
          name={name}
          schema={extra ?? {}}
          value={object[name]}
          onChange={(next) => set(name, next)}
          onRename={(to) => rename(name, to)}
          onRemove={() => set(name, undefined)}
          pointer={`${pointer}/${escapeToken(name)}`}
          readOnly={readOnly}
          taken={(to) => to !== name && to in object}
        />
      ))}
      {extra !== null && !readOnly && (
        <div>
          <Button size="small" icon={<Plus size={13} aria-hidden />} onClick={addEntry}>
            {t("forms.schema.addEntry")}
          </Button>
        </div>
      )}
    </>
  );

  if (bare) {
    return (
      <div className="ss-form" data-pointer={form.pointerPrefix + pointer}>
        {body}
        {problems.length > 0 && <Field error={problems}>{null}</Field>}
      </div>
    );
  }
  // An optional object that is not there is one line; its fields come with the first value.
  if (value === undefined && !required) {
    return (
      <Field
        label={shownLabel}
        description={schema.description}
        error={problems}
        pointer={form.pointerPrefix + pointer}
        aside={
          readOnly ? undefined : (
            <Button
              size="small"
              icon={<Plus size={13} aria-hidden />}
              onClick={() => onChange(beginning(form, schema))}
            >
              {t("forms.schema.add")}
            </Button>
          )
        }
      >
        <span className="ss-none">{absentText(schema)}</span>
      </Field>
    );
  }
  return (
    <Field
      label={shownLabel}
      description={schema.description}
      required={required}
      error={problems}
      pointer={form.pointerPrefix + pointer}
      aside={
        !required && !readOnly ? (
          <IconButton
            size="small"
            label={t("forms.schema.clear", { name: shownLabel ?? "" })}
            onClick={() => onChange(undefined)}
          >
            <X size={13} />
          </IconButton>
        ) : undefined
      }
    >
      <div className="ss-group" role="group" aria-label={shownLabel}>
        {body}
      </div>
    </Field>
  );
}

function EntryField({
  name,
  schema,
  value,
  onChange,
  onRename,
  onRemove,
  pointer,
  readOnly,
  taken,
}: {
  name: string;
  schema: Schema;
  value: Json;
  onChange(value: Json): void;
  onRename(to: string): void;
  onRemove(): void;
  pointer: string;
  readOnly: boolean;
  taken(name: string): boolean;
}) {
  const [draft, setDraft] = useState<string | null>(null);
  const bad = draft !== null && (draft.trim() === "" || taken(draft));
  const finish = () => {
    if (draft !== null && !bad) onRename(draft);
    setDraft(null);
  };
  return (
    <div className="ss-card ss-entry">
      <div className="ss-card-head">
        <TextField
          mono
          aria-label={t("forms.schema.entryName")}
          aria-invalid={bad || undefined}
          value={draft ?? name}
          onChange={setDraft}
          onBlur={finish}
          onCommit={finish}
          readOnly={readOnly}
        />
        {!readOnly && (
          <IconButton size="small" label={t("forms.schema.removeEntry", { name })} onClick={onRemove}>
            <X size={13} />
          </IconButton>
        )}
      </div>
      <div className="ss-card-body">
        <SchemaField
          schema={schema}
          value={value}
          onChange={onChange}
          pointer={pointer}
          name={name}
          required
          bare
          label={name}
        />
      </div>
    </div>
  );
}

function ArrayField({
  schema,
  items,
  value,
  onChange,
  pointer,
  itemLabel,
}: FieldProps & { items: Schema; itemLabel: string | undefined }) {
  const form = useForm();
  const listId = useId();
  const list: Json[] = Array.isArray(value) ? value : [];
  const readOnly = form.readOnly || schema.readOnly === true;
  const kind = controlFor(items, form.root).kind;
  const simple =
    items["x-editor"] === undefined && ["text", "number", "boolean", "enum", "const"].includes(kind);
  // Which cards are open belongs to the item, wherever it is moved to.
  const [keys, setKeys] = useState<number[]>(() => list.map((_, index) => index));
  const [open, setOpen] = useState<ReadonlySet<number>>(
    () => new Set(list.length <= 2 ? list.map((_, index) => index) : []),
  );
  const [nextKey, setNextKey] = useState(list.length);
  const ids = list.map((_, index) => keys[index] ?? nextKey + index);

  const change = (next: Json[], nextKeys: number[]) => {
    setKeys(nextKeys);
    onChange(next);
  };
  const add = (item: Json, at: number) => {
    const key = Math.max(nextKey, ...ids.map((id) => id + 1), 0);
    setNextKey(key + 1);
    setOpen((now) => new Set(now).add(key));
    change([...list.slice(0, at), item, ...list.slice(at)], [...ids.slice(0, at), key, ...ids.slice(at)]);
    requestAnimationFrame(() => {
      const row = document.getElementById(`${listId}${key}`);
      row?.querySelector<HTMLElement>(".ss-item-body :is(input, textarea, .cm-content, button)")?.focus();
    });
  };
  const move = (from: number, to: number) => {
    if (to < 0 || to >= list.length) return;
    change(moved(list, from, to), moved(ids, from, to));
  };
  const remove = (index: number) =>
    change(
      list.filter((_, other) => other !== index),
      ids.filter((_, other) => other !== index),
    );
  const full = schema.maxItems !== undefined && list.length >= schema.maxItems;
  const noun = items.title ?? undefined;

  const tools = (index: number) =>
    readOnly ? null : (
      <>
        <IconButton
          size="small"
          label={t("forms.schema.moveUp", { n: index + 1 })}
          disabled={index === 0}
          onClick={() => move(index, index - 1)}
        >
          <MoveUp size={12} />
        </IconButton>
        <IconButton
          size="small"
          label={t("forms.schema.moveDown", { n: index + 1 })}
          disabled={index === list.length - 1}
          onClick={() => move(index, index + 1)}
        >
          <MoveDown size={12} />
        </IconButton>
        {!simple && (
          <IconButton
            size="small"
            label={t("forms.schema.duplicateItem", { n: index + 1 })}
            disabled={full}
            onClick={() => add(JSON.parse(JSON.stringify(list[index] ?? null)), index + 1)}
          >
            <Copy size={12} />
          </IconButton>
        )}
        <IconButton
          size="small"
          label={t("forms.schema.removeItem", { n: index + 1 })}
          onClick={() => remove(index)}
        >
          <X size={13} />
        </IconButton>
      </>
    );

  return (
    <div className="ss-items">
      {list.length === 0 && (
        <p className="ss-none">
          {(value === undefined ? placeholderOf({ default: schema.default }) : undefined) ??
            t("forms.schema.empty")}
        </p>
      )}
      {list.map((item, index) => {
        const key = ids[index]!;
        const field = (
          <SchemaField
            schema={items}
            value={item}
            onChange={(next) =>
              change(
                list.map((other, at) => (at === index ? (next ?? null) : other)),
                ids,
              )
            }
            pointer={`${pointer}/${index}`}
            name=""
            required
            bare
            label={`${itemLabel ?? ""} ${index + 1}`.trim()}
          />
        );
        if (simple) {
          return (
            <div key={key} id={`${listId}${key}`} className="ss-item">
              <div className="ss-item-body">{field}</div>
              <div className="ss-item-tools">{tools(index)}</div>
            </div>
          );
        }
        const isOpen = open.has(key);
        return (
          <div key={key} id={`${listId}${key}`} className="ss-card">
            <div className="ss-card-head">
              <button
                type="button"
                className="ss-card-toggle"
                aria-expanded={isOpen}
                onClick={() =>
                  setOpen((now) => {
                    const next = new Set(now);
                    if (!next.delete(key)) next.add(key);
                    return next;
                  })
                }
              >
                {isOpen ? <ChevronDown size={13} aria-hidden /> : <ChevronRight size={13} aria-hidden />}
                <span className="ss-card-title">
                  <b>{index + 1}</b>
                  {summaryOf(item, items, form.root)}
                </span>
                {!isOpen && form.problemsInside(`${pointer}/${index}`) && (
                  <Badge tone="failed" icon={<CircleAlert size={11} />} />
                )}
              </button>
              {tools(index)}
            </div>
            {isOpen && <div className="ss-card-body ss-item-body">{field}</div>}
          </div>
        );
      })}
      {!readOnly && !full && (
        <div>
          <AddItem items={items} noun={noun} onAdd={(item) => add(item, list.length)} />
        </div>
      )}
    </div>
  );
}

/** One button, or a menu when an item has several forms. */
function AddItem({
  items,
  noun,
  onAdd,
}: {
  items: Schema;
  noun: string | undefined;
  onAdd(item: Json): void;
}) {
  const form = useForm();
  const { root } = form;
  const control = controlFor(items, root);
  const text =
    noun === undefined ? t("forms.schema.add") : t("forms.schema.addItem", { name: noun.toLowerCase() });
  if (control.kind === "variants") {
    return (
      <Menu
        trigger={
          <Button size="small" icon={<Plus size={13} aria-hidden />}>
            {text}
          </Button>
        }
        entries={control.variants.map((variant, index) => ({
          id: String(index),
          label: variant.title ?? variantTitle(variant, index, root),
          run: () => onAdd(beginning(form, variant)),
        }))}
      />
    );
  }
  return (
    <Button size="small" icon={<Plus size={13} aria-hidden />} onClick={() => onAdd(beginning(form, items))}>
      {text}
    </Button>
  );
}

function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const next = [...list];
  const [item] = next.splice(from, 1);
  next.splice(to, 0, item!);
  return next;
}

/** What a folded item shows: its first texts. */
function summaryOf(item: Json, schema: Schema, root: Schema): string {
  if (typeof item !== "object" || item === null) return brief(item, 60);
  if (Array.isArray(item)) return brief(item, 60);
  const names = Object.keys(resolve(schema, root).properties ?? item);
  const parts = names
    .map((name) => item[name])
    .filter((part) => part !== undefined && part !== "" && part !== null)
    .slice(0, 2)
    .map((part) => brief(part, 40));
  return parts.length > 0 ? parts.join(" · ") : "…";
}
