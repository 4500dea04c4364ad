/**
 * The CodeMirror view behind all our code fields, in a chunk of its own that is loaded with the first field. Knows
 * nothing of React; `CodeEditor.tsx` drives it through the handle.
 */
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  acceptCompletion,
  startCompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { json } from "@codemirror/lang-json";
import { markdown } from "@codemirror/lang-markdown";
import { python } from "@codemirror/lang-python";
import {
  HighlightStyle,
  StreamLanguage,
  bracketMatching,
  indentUnit,
  syntaxHighlighting,
  type StreamParser,
} from "@codemirror/language";
import { linter, type Diagnostic as Mark } from "@codemirror/lint";
import { Annotation, Compartment, EditorState, Transaction, type Extension } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  placeholder as placeholderExtension,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import {
  keyUses,
  openBracket,
  placeOf,
  suggestionsAt,
  type KeyInfo,
  type Suggestion,
  type Variable,
} from "./jinja";
import { keySuggestions, memberBefore, nameSuggestions, type ProgramLanguage } from "./programs";

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

export interface EditorHandle {
  view: EditorView;
  update(options: EditorOptions): void;
  insert(text: string): void;
  destroy(): void;
}

const fromOutside = Annotation.define<boolean>();

const highlight = HighlightStyle.define([
  {
    tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.bool, tags.null],
    color: "var(--paused)",
  },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--done)" },
  { tag: [tags.number], color: "var(--asking)" },
  { tag: [tags.propertyName, tags.attributeName], color: "var(--running)" },
  { tag: [tags.definition(tags.variableName), tags.function(tags.variableName)], color: "var(--running)" },
  { tag: [tags.special(tags.variableName)], color: "var(--accent-text)", fontWeight: "500" },
  { tag: [tags.comment], color: "var(--text-3)", fontStyle: "italic" },
  { tag: [tags.brace, tags.processingInstruction], color: "var(--accent-text)" },
  { tag: [tags.operator, tags.punctuation, tags.separator], color: "var(--text-2)" },
  { tag: [tags.heading], fontWeight: "600" },
  { tag: [tags.strong], fontWeight: "600" },
  { tag: [tags.emphasis], fontStyle: "italic" },
  { tag: [tags.link, tags.url], color: "var(--accent-text)" },
]);

const theme = EditorView.theme({
  "&": { fontSize: "12px", color: "var(--text)", backgroundColor: "transparent" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": {
    fontFamily: "var(--font-mono, monospace)",
    lineHeight: "18px",
    overflow: "auto",
    fontVariantLigatures: "none",
  },
  ".cm-content": { padding: "4px 0", caretColor: "var(--text)" },
  ".cm-line": { padding: "0 8px" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--text-3)", border: "none", fontSize: "11px" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 2px 0 8px", minWidth: "24px" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--accent-soft)",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": {
    backgroundColor: "var(--surface-4)",
    outline: "1px solid var(--line-strong)",
  },
  ".cm-nonmatchingBracket": { color: "var(--failed)", backgroundColor: "transparent" },
  ".cm-placeholder": { color: "var(--text-3)" },
  ".cm-tooltip": {
    backgroundColor: "var(--surface-2)",
    color: "var(--text)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    boxShadow: "var(--shadow-popup)",
    overflow: "hidden",
    zIndex: "90",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": {
    fontFamily: "var(--font-mono, monospace)",
    fontSize: "12px",
    maxHeight: "220px",
    padding: "4px",
  },
  ".cm-tooltip-autocomplete > ul > li": {
    display: "flex",
    alignItems: "baseline",
    gap: "10px",
    padding: "3px 8px !important",
    borderRadius: "4px",
    lineHeight: "18px",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    backgroundColor: "var(--accent-soft)",
    color: "var(--text)",
  },
  ".cm-completionLabel": { flex: "1" },
  ".cm-completionMatchedText": { textDecoration: "none", color: "var(--accent-text)", fontWeight: "600" },
  ".cm-completionDetail": { fontStyle: "normal", color: "var(--text-3)", fontSize: "11px", marginLeft: "0" },
  ".cm-tooltip.cm-completionInfo": {
    padding: "6px 8px",
    maxWidth: "220px",
    fontSize: "12px",
    lineHeight: "16px",
    color: "var(--text-2)",
    fontFamily: "var(--font-sans, inherit)",
  },
  ".cm-tooltip-lint": { padding: "2px 0" },
  ".cm-diagnostic": {
    padding: "4px 8px",
    fontSize: "12px",
    lineHeight: "16px",
    borderLeft: "none",
    fontFamily: "var(--font-sans, inherit)",
  },
  ".cm-lintRange": {
    backgroundImage: "none",
    textDecoration: "underline wavy",
    textUnderlineOffset: "3px",
    textDecorationThickness: "1px",
  },
  ".cm-lintRange-error": { textDecorationColor: "var(--failed)" },
  ".cm-lintRange-warning": { textDecorationColor: "var(--asking)" },
  ".cm-lintRange-active": { backgroundColor: "transparent" },
  ".cm-panel": { backgroundColor: "var(--surface-1)", color: "var(--text)" },
});

interface JinjaState {
  /** Open delimiter in a template, or "code" for expressions; null in text. */
  inside: string | null;
  quote: string;
  afterPipe: boolean;
  afterDot: boolean;
}

const KEYWORDS = new Set(
  "and or not in is if else elif for endif endfor set with endwith true false none True False None raw endraw".split(
    " ",
  ),
);

function jinja(template: boolean): StreamParser<JinjaState> {
  return {
    name: template ? "template" : "expression",
    startState: () => ({ inside: template ? null : "code", quote: "", afterPipe: false, afterDot: false }),
    copyState: (state) => ({ ...state }),
    token(stream, state) {
      if (state.inside === null) {
        if (stream.match(/\{[{%#][-+]?/)) {
          state.inside = stream.current()[1]!;
          return state.inside === "#" ? "comment" : "brace";
        }
        if (!stream.skipTo("{")) stream.skipToEnd();
        else if (stream.current() === "") stream.next();
        return null;
      }
      if (state.inside === "#") {
        if (stream.match(/.*?#\}/)) state.inside = null;
        else stream.skipToEnd();
        return "comment";
      }
      if (state.quote !== "") {
        for (let char = stream.next(); char !== undefined; char = stream.next()) {
          if (char === "\\") stream.next();
          else if (char === state.quote) {
            state.quote = "";
            break;
          }
        }
        return "string";
      }
      if (stream.eatSpace()) return null;
      if (state.inside !== "code" && stream.match(state.inside === "{" ? /-?\}\}/ : /-?%\}/)) {
        state.inside = null;
        return "brace";
      }
      const { afterPipe, afterDot } = state;
      state.afterPipe = false;
      state.afterDot = false;
      if (stream.match(/^\d+(\.\d+)?/)) return "number";
      if (stream.match(/^[A-Za-z_]\w*/)) {
        const name = stream.current();
        if (afterPipe) return "variableName.function";
        if (afterDot) return "propertyName";
        if (KEYWORDS.has(name)) return "keyword";
        if (name === "state") return "variableName.special";
        return "variableName";
      }
      const char = stream.next();
      if (char === '"' || char === "'") {
        state.quote = char;
        return "string";
      }
      if (char === "|") state.afterPipe = true;
      if (char === ".") state.afterDot = true;
      return char !== undefined && "()[]{},:.".includes(char) ? "punctuation" : "operator";
    },
    languageData: { closeBrackets: { brackets: ["(", "[", "{", '"', "'"] } },
  };
}

function language(mode: Mode): Extension {
  switch (mode) {
    case "json":
      return json();
    case "javascript":
      return javascript();
    case "python":
      return [python(), indentUnit.of("    ")];
    case "markdown":
      return markdown();
    case "expression":
      return StreamLanguage.define(jinja(false));
    case "template":
      return StreamLanguage.define(jinja(true));
    case "text":
      return [];
  }
}

const KINDS: Record<string, string> = {
  key: "property",
  field: "property",
  filter: "function",
  test: "function",
  function: "function",
  keyword: "keyword",
  variable: "variable",
};

function isProgram(mode: Mode): mode is ProgramLanguage {
  return mode === "javascript" || mode === "python";
}

function completion(suggestion: Suggestion): Completion {
  return {
    label: suggestion.label,
    ...(suggestion.insert !== undefined && { apply: suggestion.insert }),
    ...(suggestion.detail !== undefined && { detail: suggestion.detail }),
    ...(suggestion.info !== undefined && { info: suggestion.info }),
    ...(suggestion.boost !== undefined && { boost: suggestion.boost }),
    type: KINDS[suggestion.kind] ?? "text",
  };
}

function completions(options: EditorOptions): Extension {
  const { mode } = options;
  const source = (context: CompletionContext): CompletionResult | null => {
    if (isProgram(mode)) return programCompletions(context, options.keys, mode);
    const place = placeOf(context.state.doc.toString(), context.pos, mode === "template");
    if (place.at === "nowhere") return null;
    if (place.at === "text" && !context.explicit) return null;
    if (place.at === "name" && place.word === "" && !context.explicit) return null;
    const found = suggestionsAt(place, options.keys, options.variables).map(completion);
    if (found.length === 0) return null;
    return { from: place.from, options: found, validFor: /^[\w.{} ]*$/ };
  };
  return [
    autocompletion({
      ...(isProgram(mode) || mode === "expression" || mode === "template"
        ? { override: [source] }
        : { override: [] }),
      icons: false,
      activateOnTyping: true,
      closeOnBlur: true,
      maxRenderedOptions: 60,
    }),
    // "state." is what people type; the list should be there without asking.
    EditorView.updateListener.of((update) => {
      if (!update.docChanged || !update.transactions.some((tr) => tr.isUserEvent("input.type"))) return;
      const head = update.state.selection.main.head;
      const tail = update.state.doc.sliceString(Math.max(0, head - 6), head);
      if (mode !== "json" && mode !== "text" && mode !== "markdown" && tail.endsWith("state."))
        startCompletion(update.view);
    }),
  ];
}

function programCompletions(
  context: CompletionContext,
  keys: readonly KeyInfo[],
  language: ProgramLanguage,
): CompletionResult | null {
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  const member = memberBefore(before, language);
  if (member) {
    // A closing quote that is there already is not written twice.
    const follows = line.text[context.pos - line.from] ?? "";
    const close = member.close !== "" && follows !== member.close ? member.close : "";
    return {
      from: context.pos - member.typed.length,
      options: keySuggestions(keys).map((key) => completion({ ...key, insert: key.label + close })),
      validFor: /^\w*$/,
    };
  }
  const word = context.matchBefore(/[A-Za-z_]\w*/);
  if (!word && !context.explicit) return null;
  if (word && before[word.from - line.from - 1] === ".") return null;
  return {
    from: word?.from ?? context.pos,
    options: nameSuggestions(language).map(completion),
    validFor: /^\w*$/,
  };
}

function marks(options: EditorOptions): Extension {
  const { mode, words } = options;
  if (mode === "text" || mode === "markdown" || isProgram(mode)) return [];
  return linter(
    (view) => {
      const text = view.state.doc.toString();
      const found: Mark[] = [];
      if (mode === "json") {
        const problem = jsonProblem(text);
        if (problem) {
          found.push({
            from: problem.from,
            to: problem.to,
            severity: "error",
            message: words.badJson(problem.message),
          });
        }
        return found;
      }
      const open = openBracket(text, mode === "template");
      if (open)
        found.push({ from: open.from, to: open.to, severity: "error", message: words.unclosed(open.what) });
      const known = new Set(options.keys.map((key) => key.name));
      if (known.size > 0) {
        for (const use of keyUses(text, mode === "template")) {
          if (!known.has(use.key)) {
            found.push({
              from: use.from,
              to: use.to,
              severity: "warning",
              message: words.unknownKey(use.key),
            });
          }
        }
      }
      return found;
    },
    { delay: 300 },
  );
}

/** Where JSON stops being JSON. */
export function jsonProblem(text: string): { from: number; to: number; message: string } | null {
  if (text.trim() === "") return null;
  try {
    JSON.parse(text);
    return null;
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const position = /position (\d+)/.exec(message)?.[1];
    const at = position === undefined ? text.length : Math.min(Number(position), text.length);
    const from = Math.max(0, Math.min(at, text.length - 1));
    return {
      from,
      to: Math.min(text.length, from + 1),
      message: message.replace(/ in JSON at position.*$/, "").replace(/^JSON\.parse: /, ""),
    };
  }
}

function shape(options: EditorOptions): Extension {
  const line = 18;
  const padding = 8;
  return [
    EditorView.theme({
      ".cm-scroller": {
        minHeight: `${options.minLines * line + padding}px`,
        maxHeight: `${options.maxLines * line + padding}px`,
      },
      ".cm-content, .cm-gutter": { minHeight: `${options.minLines * line + padding}px` },
    }),
    options.lineNumbers ? lineNumbers() : [],
    EditorView.lineWrapping,
  ];
}

function oneLine(options: EditorOptions): Extension {
  if (!options.singleLine) return [];
  return [
    EditorState.transactionFilter.of((transaction) => {
      if (!transaction.docChanged || transaction.newDoc.lines <= 1) return transaction;
      if (transaction.annotation(fromOutside)) return transaction;
      const flat = transaction.newDoc.toString().replace(/\s*\n\s*/g, " ");
      return [
        {
          changes: { from: 0, to: transaction.startState.doc.length, insert: flat },
          selection: { anchor: Math.min(transaction.newSelection.main.head, flat.length) },
        },
      ];
    }),
  ];
}

/** Makes an editor in an element. */
export function createEditor(parent: HTMLElement, first: EditorOptions): EditorHandle {
  let options = first;
  const slots = {
    language: new Compartment(),
    completions: new Compartment(),
    marks: new Compartment(),
    shape: new Compartment(),
    access: new Compartment(),
    attributes: new Compartment(),
    placeholder: new Compartment(),
  };
  const access = (to: EditorOptions): Extension => [
    EditorState.readOnly.of(to.readOnly),
    EditorView.editable.of(true),
  ];
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: first.value,
      extensions: [
        history(),
        drawSelection(),
        highlightSpecialChars(),
        bracketMatching(),
        closeBrackets(),
        indentUnit.of("  "),
        EditorState.tabSize.of(2),
        syntaxHighlighting(highlight),
        theme,
        oneLine(first),
        keymap.of([
          { key: "Tab", run: acceptCompletion },
          {
            key: first.singleLine ? "Enter" : "Mod-Enter",
            run: (target) => {
              if (first.singleLine && acceptCompletion(target)) return true;
              options.onCommit?.();
              return first.singleLine || options.onCommit !== undefined;
            },
          },
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...historyKeymap,
          ...defaultKeymap,
        ]),
        slots.language.of(language(first.mode)),
        slots.completions.of(completions(first)),
        slots.marks.of(marks(first)),
        slots.shape.of(shape(first)),
        slots.access.of(access(first)),
        slots.attributes.of(EditorView.contentAttributes.of(first.attributes)),
        slots.placeholder.of(first.placeholder === "" ? [] : placeholderExtension(first.placeholder)),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !update.transactions.some((tr) => tr.annotation(fromOutside))) {
            options.onChange(update.state.doc.toString());
          }
          if (update.focusChanged) (update.view.hasFocus ? options.onFocus : options.onBlur)?.();
        }),
        EditorView.domEventHandlers({
          // Keys typed here are the editor's: the canvas and the window have their own meaning for some of them. What
          // types nothing is the window's: Escape, and function keys as the one that goes to what the cursor is on.
          keydown: (event) => {
            const types = event.key !== "Escape" && !/^F\d+$/.test(event.key);
            if (types && !event.ctrlKey && !event.metaKey) event.stopPropagation();
            if ((event.ctrlKey || event.metaKey) && /^[zyaxcv]$/i.test(event.key)) event.stopPropagation();
            return false;
          },
        }),
      ],
    }),
  });

  return {
    view,
    update(next) {
      const previous = options;
      options = next;
      const effects = [];
      if (next.mode !== previous.mode) effects.push(slots.language.reconfigure(language(next.mode)));
      if (
        next.mode !== previous.mode ||
        next.keys !== previous.keys ||
        next.variables !== previous.variables
      ) {
        effects.push(slots.completions.reconfigure(completions(next)), slots.marks.reconfigure(marks(next)));
      }
      if (
        next.minLines !== previous.minLines ||
        next.maxLines !== previous.maxLines ||
        next.lineNumbers !== previous.lineNumbers
      ) {
        effects.push(slots.shape.reconfigure(shape(next)));
      }
      if (next.readOnly !== previous.readOnly) effects.push(slots.access.reconfigure(access(next)));
      if (JSON.stringify(next.attributes) !== JSON.stringify(previous.attributes)) {
        effects.push(slots.attributes.reconfigure(EditorView.contentAttributes.of(next.attributes)));
      }
      if (next.placeholder !== previous.placeholder) {
        effects.push(
          slots.placeholder.reconfigure(
            next.placeholder === "" ? [] : placeholderExtension(next.placeholder),
          ),
        );
      }
      if (effects.length > 0) view.dispatch({ effects });
      const current = view.state.doc.toString();
      if (next.value !== current) {
        view.dispatch({
          changes: smallestChange(current, next.value),
          annotations: [fromOutside.of(true), Transaction.addToHistory.of(false)],
        });
      }
    },
    insert(text) {
      const range = view.state.selection.main;
      view.dispatch({
        changes: { from: range.from, to: range.to, insert: text },
        selection: { anchor: range.from + text.length },
        userEvent: "input",
        scrollIntoView: true,
      });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}

/** Only the part that differs is replaced, so that the cursor stays where it is. */
function smallestChange(from: string, to: string): { from: number; to: number; insert: string } {
  let start = 0;
  const shortest = Math.min(from.length, to.length);
  while (start < shortest && from[start] === to[start]) start += 1;
  let end = 0;
  while (end < shortest - start && from[from.length - 1 - end] === to[to.length - 1 - end]) end += 1;
  return { from: start, to: from.length - end, insert: to.slice(start, to.length - end) };
}
