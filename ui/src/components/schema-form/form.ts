/** What the fields of a form share: the form's settings, and what each field is given. */
import { createContext, useContext, type ComponentType } from "react";
import type { FieldProblem } from "../Field";
import type { Mode } from "../code/options";
import type { KeyInfo, Variable } from "../code/jinja";
import { blankValue, initialValue } from "./initial";
import type { Json } from "./json";
import type { Schema } from "./schema";

/** What an editor for an `x-editor` hint is given. It draws the control only; label and problems are drawn around it. */
export interface FieldEditorProps {
  schema: Schema;
  value: Json;
  onChange(value: Json): void;
  pointer: string;
  stateKeys: readonly KeyInfo[];
  variables: readonly Variable[];
  readOnly: boolean;
  problems: readonly FieldProblem[];
  /** Problems at a place inside the value. */
  problemsAt(pointer: string): FieldProblem[];
  onBlur(): void;
}

/** An editor with `nested` shows the problems inside its value itself. */
export type FieldEditor = ComponentType<FieldEditorProps> & { nested?: boolean };
export type FormEditors = Readonly<Record<string, FieldEditor>>;

export interface LiveValueProps {
  text: string;
  template: boolean;
  /** Nothing is known to be wrong with the text. */
  valid: boolean;
}

export interface LargeEditorProps extends Pick<
  FieldEditorProps,
  "onChange" | "stateKeys" | "variables" | "readOnly" | "problems"
> {
  node: string;
  /** Label of the field. */
  title: string;
  mode: Mode;
  text: string;
  onClose(): void;
}

export interface SecretsOfTextProps {
  text: string;
  readOnly: boolean;
  /** Names of secrets are offered; otherwise those in the text are only looked at. */
  offers: boolean;
  /** Puts a reference into the text. */
  onInsert?(reference: string): void;
}

/** What the place around a form adds to its fields of text and code. */
export interface Workplace {
  readonly node: string;
  /** Something was added at this place, to be filled in. */
  readonly began?: (pointer: string) => void;
  readonly LiveValue: ComponentType<LiveValueProps>;
  readonly Large: ComponentType<LargeEditorProps>;
  /** Drawn below texts that may name secrets. */
  readonly Secrets: ComponentType<SecretsOfTextProps>;
}

export interface FormSettings {
  workplace?: Workplace | undefined;
  /** Draws one value, with everything inside of it: a field of several values draws these with it. */
  Nested: ComponentType<FieldProps>;
  root: Schema;
  stateKeys: readonly KeyInfo[];
  variables: readonly Variable[];
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
  /** Is there an error at a place or below it? */
  isInvalid(pointer: string): boolean;
  /** The field that was asked for: what folds it away opens. */
  reveal: string | null;
}

export const FormContext = createContext<FormSettings | null>(null);

export function useForm(): FormSettings {
  const settings = useContext(FormContext);
  if (settings === null) throw new Error("a SchemaField must be inside a SchemaForm");
  return settings;
}

/** Where somebody writes or chooses, within a field. */
export const INPUTS = ":is(input:not([aria-hidden=true]), textarea, .cm-content, button)";

/** What something that is added begins with. */
export const beginning = (form: FormSettings, schema: Schema): Json =>
  form.blank ? blankValue(schema, form.root) : initialValue(schema, form.root);

export interface FieldProps {
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
