/** One Jinja expression, on one line, completing `state.` and filters. */
import { t } from "../lib/texts";
import { CodeEditor, type CodeEditorProps } from "./CodeEditor";
import type { KeyInfo } from "./code/jinja";

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
}

export function ExpressionField({
  value,
  onChange,
  keys,
  error,
  placeholder,
  ...rest
}: ExpressionFieldProps) {
  return (
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
}
