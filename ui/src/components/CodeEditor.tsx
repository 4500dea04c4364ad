/**
 * A code field. CodeMirror is loaded with the first one; until it is there the text is in its place, at the same
 * size, so that nothing jumps.
 */
import { useEffect, useLayoutEffect, useRef, useState, type Ref } from "react";
import { t } from "../lib/texts";
import type { createEditor, EditorHandle } from "./code/editor";
import type { EditorOptions, Mode } from "./code/options";
import type { KeyInfo, Variable } from "./code/jinja";
import { cx } from "./cx";
import { useFieldAria } from "./Field";

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
  invalid?: boolean;
  autoFocus?: boolean;
  className?: string;
  ref?: Ref<CodeEditorHandle>;
  "aria-label"?: string;
  "data-testid"?: string;
}

const NO_KEYS: readonly KeyInfo[] = [];
const NO_NAMES: readonly Variable[] = [];

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
    invalid = false,
    autoFocus = false,
    className,
    ref,
  } = props;
  const aria = useFieldAria();
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

  const latest = useRef({ onChange, onCommit, onFocus, onBlur });
  latest.current = { onChange, onCommit, onFocus, onBlur };

  const label = props["aria-label"];
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

  return (
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
}
