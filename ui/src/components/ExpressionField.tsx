/** One Jinja expression, on one line, completing `state.` and filters. */
import { t } from "../lib/texts";
import { CodeEditor, type CodeEditorProps } from "./CodeEditor";
import type { KeyInfo } from "./code/jinja";
import { UnknownKeys } from "./UnknownKeys";

export interface ExpressionFieldProps extends Pick<
  CodeEditorProps,
  | "onCommit"
  | "onFocus"
  | "onBlur"
  | "placeholder"
  | "readOnly"
  | "variables"
  | "expected"
  | "autoFocus"
  | "ref"
  | "aria-label"
  | "data-testid"
> {
  value: string;
  onChange(value: string): void;
  keys: readonly KeyInfo[];
  /** A problem to mark the field with; its text belongs to the Field around. */
  error?: string | undefined;
  /** Nothing else says which keys are unknown: it is no part of the document, whose problems are shown around it. */
  tellsUnknownKeys?: boolean;
}

export function ExpressionField({
  value,
  onChange,
  keys,
  error,
  placeholder,
  tellsUnknownKeys = false,
  ...rest
}: ExpressionFieldProps) {
  const editor = (
    <CodeEditor
      {...rest}
      mode="expression"
      singleLine
      value={value}
      onChange={onChange}
      keys={keys}
      invalid={error !== undefined && error !== ""}
      placeholder={placeholder ?? t("forms.code.expressionPlaceholder")}
    />
  );
  if (!tellsUnknownKeys) return editor;
  return (
    <div className="min-w-0 flex-1">
      {editor}
      <UnknownKeys text={value} keys={keys.map(({ name }) => name)} onChange={onChange} />
    </div>
  );
}
