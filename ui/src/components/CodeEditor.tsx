/**
 * A code field. CodeMirror is loaded with the first one; until it is there the text is in its place, at the same
 * size, so that nothing jumps.
 */
import { useContext, useEffect, useLayoutEffect, useRef, useState, type Ref } from "react";
import { Info } from "lucide-react";
import { formsIds } from "../lib/testIds";
import { t } from "../lib/texts";
import type { createEditor, EditorHandle } from "./code/editor";
import type { Expected } from "./code/expression-types";
import { KnownValues } from "./code/known-values";
import type { EditorOptions, Mode } from "./code/options";
import type { KeyInfo, Variable } from "./code/jinja";
import { cx } from "./cx";
import { useFieldAria } from "./Field";
import { InlineCode } from "./InlineCode";

export interface CodeEditorHandle {
  /** Puts text at the cursor. */
  insert(text: string): void;
  focus(): void;
}

export interface CodeEditorProps {
  value: string;
  onChange(value: string): void;
  mode: Mode;
  /** Enter in a single line, Ctrl+Enter in several. */
  onCommit?: () => void;
  onFocus?: () => void;
  onBlur?: () => void;
  singleLine?: boolean;
  readOnly?: boolean;
  lineNumbers?: boolean;
  placeholder?: string;
  minLines?: number;
  maxLines?: number;
  /** State keys, for completion and for marking unknown ones. */
  keys?: readonly KeyInfo[];
  /** Other names that can be used. */
  variables?: readonly Variable[];
  /** What the place of an expression takes, where that is known. */
  expected?: Expected | undefined;
  invalid?: boolean;
  autoFocus?: boolean;
  className?: string;
  ref?: Ref<CodeEditorHandle>;
  "aria-label"?: string;
  "data-testid"?: string;
}

/** For `maxLines` of an editor that what is around it scrolls. */
export const ALL_LINES = 1_000_000;

const NO_KEYS: readonly KeyInfo[] = [];
const NO_NAMES: readonly Variable[] = [];
const NO_NOTICES: readonly string[] = [];

type EditorModule = { createEditor: typeof createEditor };
let loaded: EditorModule | null = null;
let loading: Promise<EditorModule> | null = null;

/** Fetches the editor's code ahead of the first field. */
function loadEditor(): Promise<EditorModule> {
  loading ??= import("./code/editor").then((module) => {
    loaded = module;
    return module;
  });
  return loading;
}

export function CodeEditor(props: CodeEditorProps) {
  const {
    value,
    onChange,
    mode,
    onCommit,
    onFocus,
    onBlur,
    singleLine = false,
    readOnly = false,
    lineNumbers = false,
    placeholder = "",
    minLines = singleLine ? 1 : 3,
    maxLines = singleLine ? 6 : 16,
    keys = NO_KEYS,
    variables = NO_NAMES,
    expected = null,
    invalid = false,
    autoFocus = false,
    className,
    ref,
  } = props;
  const aria = useFieldAria();
  const valueOf = useContext(KnownValues);
  const [notices, setNotices] = useState(NO_NOTICES);
  const parent = useRef<HTMLDivElement>(null);
  const handle = useRef<EditorHandle | null>(null);
  const [module, setModule] = useState<EditorModule | null>(loaded);

  useEffect(() => {
    if (module !== null) return;
    let alive = true;
    void loadEditor().then((found) => {
      if (alive) setModule(found);
    });
    return () => {
      alive = false;
    };
  }, [module]);

  useEffect(() => setNotices(NO_NOTICES), [mode]);

  const latest = useRef({ onChange, onCommit, onFocus, onBlur });
  latest.current = { onChange, onCommit, onFocus, onBlur };

  const label = props["aria-label"] ?? aria["aria-label"];
  const attributes: Record<string, string> = {
    "aria-multiline": String(!singleLine),
    ...(label !== undefined && { "aria-label": label }),
    ...(aria.id !== undefined && { id: aria.id }),
    ...(aria["aria-labelledby"] !== undefined &&
      label === undefined && { "aria-labelledby": aria["aria-labelledby"] }),
    ...(aria["aria-describedby"] !== undefined && { "aria-describedby": aria["aria-describedby"] }),
    ...((invalid || aria["aria-invalid"]) && { "aria-invalid": "true" }),
    ...(readOnly && { "aria-readonly": "true" }),
  };
  const options: EditorOptions = {
    mode,
    value,
    singleLine,
    readOnly,
    lineNumbers,
    placeholder,
    minLines,
    maxLines,
    keys,
    variables,
    expected,
    valueOf,
    attributes,
    words: {
      unknownKey: (key) => t("forms.code.unknownKey", { key }),
      unclosed: (what) => t("forms.code.unclosed", { what }),
      badJson: (detail) => t("forms.code.badJson", { detail }),
    },
    onChange: (text) => latest.current.onChange(text),
    onCommit: onCommit === undefined ? undefined : () => latest.current.onCommit?.(),
    onFocus: () => latest.current.onFocus?.(),
    onBlur: () => latest.current.onBlur?.(),
    onNotices: (found) => setNotices((before) => (before.join("\n") === found.join("\n") ? before : found)),
  };

  const first = useRef(options);
  first.current = options;
  useLayoutEffect(() => {
    if (module === null || parent.current === null) return;
    const made = module.createEditor(parent.current, first.current);
    handle.current = made;
    if (autoFocus) made.view.focus();
    return () => {
      handle.current = null;
      made.destroy();
    };
    // The options of later renders go through `update`; only a new module or another shape makes a new view.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [module, singleLine]);
  useLayoutEffect(() => {
    handle.current?.update(options);
  });

  useEffect(() => {
    const own: CodeEditorHandle = {
      insert: (text) => handle.current?.insert(text),
      focus: () => handle.current?.view.focus(),
    };
    if (typeof ref === "function") {
      ref(own);
      return () => {
        ref(null);
      };
    }
    if (ref) {
      ref.current = own;
      return () => {
        ref.current = null;
      };
    }
    return undefined;
  }, [ref]);

  const editor = (
    <div
      className={cx(
        "min-w-0 overflow-hidden rounded-md border border-line-field bg-surface-2 not-focus-within:hover:border-text-3 focus-within:border-focus focus-within:outline-1 focus-within:outline-focus data-invalid:border-failed data-readonly:border-line data-readonly:bg-surface-1",
        className,
      )}
      data-invalid={invalid || aria["aria-invalid"] || undefined}
      data-readonly={readOnly || undefined}
      data-testid={props["data-testid"]}
      data-mode={mode}
    >
      {module === null && (
        <div
          className="overflow-hidden px-2 py-1.25 font-mono text-xs/4.5 wrap-anywhere whitespace-pre-wrap text-text"
          data-waiting
          style={{ minHeight: minLines * 18 + 8, maxHeight: maxLines * 18 + 8 }}
        >
          {value === "" ? placeholder : value}
        </div>
      )}
      <div ref={parent} />
    </div>
  );
  // Always in one wrapper: the editor stays when something is said of it.
  return (
    <div className="min-w-0 flex-1">
      {editor}
      {notices.length > 0 && (
        <ul className="pt-1 px-0.5 text-2xs/[15px] text-text-2" data-testid={formsIds.typeNotice}>
          {notices.map((notice) => (
            <li key={notice} className="flex items-baseline gap-1">
              <Info size={11} className="flex-none translate-y-0.5 text-text-3" aria-hidden />
              <span className="min-w-0 wrap-anywhere">
                <InlineCode text={notice} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
