/** What an editor is given. */
import type { Expected } from "./expression-types";
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
  /** What the place of an expression takes, where that is known. */
  expected: Expected | null;
  /** The value that an expression has in the last run, or with a sample; rejects where there is none. */
  valueOf: ((expression: string) => Promise<unknown>) | null;
  /** Attributes of the element that takes the focus. */
  attributes: Record<string, string>;
  words: { unknownKey(key: string): string; unclosed(what: string): string; badJson(detail: string): string };
  onChange(value: string): void;
  onCommit?: (() => void) | undefined;
  onFocus?: (() => void) | undefined;
  onBlur?: (() => void) | undefined;
  /** Is given what surely has another type than it needs, in words. */
  onNotices?: ((notices: readonly string[]) => void) | undefined;
}
