/** What an editor is given. */
import type { KeyInfo, Variable } from "./jinja";

export type Mode = "json" | "javascript" | "python" | "expression" | "template" | "markdown" | "text";

export interface EditorOptions {
  mode: Mode;
  value: string;
  singleLine: boolean;
  readOnly: boolean;
  lineNumbers: boolean;
  placeholder: string;
  minLines: number;
  maxLines: number;
  keys: readonly KeyInfo[];
  variables: readonly Variable[];
  /** Attributes of the element that takes the focus. */
  attributes: Record<string, string>;
  words: { unknownKey(key: string): string; unclosed(what: string): string; badJson(detail: string): string };
  onChange(value: string): void;
  onCommit?: (() => void) | undefined;
  onFocus?: (() => void) | undefined;
  onBlur?: (() => void) | undefined;
}
