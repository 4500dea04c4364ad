/**
 * A form made from a JSON Schema, and the same value as JSON. What the form cannot render it shows as JSON in place, so
 * that nothing is ever unreachable. The value belongs to the caller; the form never changes it on its own.
 */
import { memo, useMemo, useState, type ReactNode } from "react";
import { t } from "../../lib/texts";
import type { KeyInfo, Variable } from "../code/jinja";
import type { FieldProblem } from "../Field";
import { JsonEditor } from "../JsonEditor";
import { FormContext, type FormEditors, type FormSettings, type Workplace } from "./form";
import { SchemaField } from "./SchemaField";
import { resolve, type Schema } from "./schema";
import { validate, type SchemaError } from "./validate";
import type { Json } from "./json";
import { Tabs } from "../Tabs";
import { useSame, useStable } from "../stable";

export type { FormEditors };
export type { FieldEditor, FieldEditorProps } from "./form";

export interface SchemaFormProps {
  schema: Schema;
  value: Json;
  onChange(value: Json): void;
  /** Complaints from elsewhere (diagnostics, a refused answer), by JSON Pointer into the value. */
  errors?: readonly FormError[] | undefined;
  /** State keys, for fields that hold expressions, templates or key names. */
  stateKeys?: readonly KeyInfo[];
  /** Other names that expressions may use. */
  variables?: readonly Variable[];
  /** Editors for `x-editor` hints, besides the built-in ones. */
  editors?: FormEditors;
  /** Show "Form | JSON". */
  jsonSwitch?: boolean;
  /** Left of the switch. */
  title?: ReactNode;
  /** Complain about missing fields and wrong values while typing, not only about `errors`. */
  check?: "always" | "touched" | "never";
  readOnly?: boolean;
  /** The form asks somebody: what has no default begins undecided (see `blankValue`). */
  blank?: boolean;
  /** Put before every field's `data-pointer`, for `focusField`. */
  pointerPrefix?: string;
  onValidity?: (valid: boolean) => void;
  /** A field that somebody asked for, as a pointer into the value. */
  reveal?: string | null;
  /** What the place around adds to fields of text and code. */
  workplace?: Workplace;
  /** Somebody left a field. */
  onLeave?: (pointer: string) => void;
  "data-testid"?: string;
}

export interface FormError extends SchemaError {
  remedy?: string;
  severity?: FieldProblem["severity"];
  /** What can be done about it from here. */
  action?: FieldProblem["action"];
}

type View = "form" | "json";

const NO_KEYS: readonly KeyInfo[] = [];
const NO_NAMES: readonly Variable[] = [];
const NO_ERRORS: readonly FormError[] = [];
const NO_EDITORS: FormEditors = {};

export function SchemaForm({
  schema,
  value,
  onChange,
  errors = NO_ERRORS,
  stateKeys = NO_KEYS,
  variables = NO_NAMES,
  editors = NO_EDITORS,
  jsonSwitch = true,
  title,
  check = "touched",
  readOnly = false,
  blank = false,
  pointerPrefix = "",
  onValidity,
  reveal = null,
  workplace,
  onLeave,
  ...rest
}: SchemaFormProps) {
  const [view, setView] = useState<View>("form");
  const [jsonValid, setJsonValid] = useState(true);
  const [touched, setTouched] = useState<ReadonlySet<string>>(() => new Set());

  const root = useMemo(() => resolve(schema, schema), [schema]);
  const found = useSame(
    useMemo(() => (check === "never" ? NO_ERRORS : validate(schema, value)), [check, schema, value]),
  );
  const change = useStable(onChange);
  const settings = useMemo<FormSettings>(
    () => ({
      Nested: SchemaField,
      root: schema,
      stateKeys,
      variables,
      editors,
      readOnly,
      blank,
      pointerPrefix,
      reveal,
      workplace,
      touch: (pointer) => {
        setTouched((now) => (now.has(pointer) ? now : new Set(now).add(pointer)));
        onLeave?.(pointer);
      },
      isInvalid: (pointer) =>
        [...found, ...errors].some(
          ({ pointer: at, ...error }: FormError) =>
            (at === pointer || at.startsWith(`${pointer}/`)) && (error.severity ?? "error") === "error",
        ),
      problemsBelow: (pointer) =>
        errors
          .filter((error) => error.pointer.startsWith(`${pointer}/`))
          .map(({ message, remedy, action, severity = "error" }) => ({
            message,
            severity,
            action,
            ...(remedy !== undefined && { remedy }),
          })),
      problemsAt: (pointer) => {
        const own = found.filter(
          (error) => error.pointer === pointer && (check === "always" || touched.has(pointer)),
        );
        const given = errors.filter((error) => error.pointer === pointer);
        const all = [
          ...given,
          ...own.filter((error) => !given.some((other) => other.message === error.message)),
        ];
        return all.map(({ message, ...problem }: FormError) => ({
          message,
          ...(problem.remedy !== undefined && { remedy: problem.remedy }),
          action: problem.action,
          severity: problem.severity ?? ("error" as const),
        }));
      },
      // A problem deeper than any field on the screen must not be silent: collapsed parts ask for this.
      problemsInside: (pointer) =>
        [...found, ...errors].some((error) => error.pointer.startsWith(`${pointer}/`)),
    }),
    [
      schema,
      stateKeys,
      variables,
      editors,
      readOnly,
      blank,
      pointerPrefix,
      found,
      touched,
      errors,
      check,
      reveal,
      workplace,
      onLeave,
    ],
  );

  const json = (
    <JsonEditor
      value={value}
      onChange={onChange}
      schema={schema}
      readOnly={readOnly}
      minLines={6}
      maxLines={24}
      aria-label={t("forms.schema.json")}
      onValidity={(valid) => {
        setJsonValid(valid);
        onValidity?.(valid);
      }}
    />
  );
  return (
    <div className="flex flex-col gap-3 min-w-0" data-testid={rest["data-testid"]}>
      {(jsonSwitch || title !== undefined) && (
        <div className="flex justify-between items-center gap-2 min-h-6">
          <span className="min-w-0 text-xs/inherit font-semibold">{title}</span>
          {jsonSwitch && <ViewSwitch view={view} setView={setView} jsonValid={jsonValid} />}
        </div>
      )}
      {view === "json" ? (
        json
      ) : (
        <FormContext value={settings}>
          <SchemaField
            schema={root}
            value={value}
            onChange={change}
            pointer=""
            name=""
            required={false}
            bare
          />
        </FormContext>
      )}
    </div>
  );
}

interface ViewSwitchProps {
  view: View;
  setView(view: View): void;
  /** What is written as JSON can be shown as a form. */
  jsonValid: boolean;
}

const ViewSwitch = memo(function ViewSwitch({ view, setView, jsonValid }: ViewSwitchProps) {
  return (
    <Tabs
      className="shrink-0"
      look="segmented"
      label={t("forms.schema.switch")}
      value={view}
      onChange={(next) => setView(next === "json" ? "json" : "form")}
      tabs={[
        {
          id: "form",
          label: t("forms.schema.form"),
          disabled: !jsonValid,
          title: jsonValid ? undefined : t("forms.schema.fixJson"),
        },
        { id: "json", label: t("forms.schema.json") },
      ]}
    />
  );
});
