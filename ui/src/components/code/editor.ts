/**
 * The CodeMirror view behind all our code fields, in a chunk of its own that is loaded with the first field. Knows
 * nothing of React; `CodeEditor.tsx` drives it through the handle.
 */
import {
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  acceptCompletion,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { Annotation, Compartment, EditorState, Transaction, type Extension } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  placeholder as placeholderExtension,
} from "@codemirror/view";
import type { EditorOptions } from "./options";
import { highlight, theme } from "./theme";
import { language } from "./language";
import { completions } from "./completions";
import { hover } from "./hover";
import { marks } from "./lint";

export interface EditorHandle {
  view: EditorView;
  update(options: EditorOptions): void;
  insert(text: string): void;
  destroy(): void;
}

const fromOutside = Annotation.define<boolean>();

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
        slots.completions.of(completions(first.mode, () => options)),
        slots.marks.of([marks(first), hover(first)]),
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
      if (next.mode !== previous.mode) {
        effects.push(
          slots.language.reconfigure(language(next.mode)),
          slots.completions.reconfigure(completions(next.mode, () => options)),
        );
      }
      if (
        next.mode !== previous.mode ||
        next.keys !== previous.keys ||
        next.variables !== previous.variables ||
        next.valueOf !== previous.valueOf ||
        JSON.stringify(next.expected) !== JSON.stringify(previous.expected)
      ) {
        effects.push(slots.marks.reconfigure([marks(next), hover(next)]));
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

/** Puts text into the editor inside an element: at its cursor, or at the end while nobody was in it. */
export function insertInto(place: HTMLElement, atCursor: boolean, text: (before: string) => string): void {
  const view = EditorView.findFromDOM(place);
  if (view === null) return;
  const { main } = view.state.selection;
  const end = view.state.doc.length;
  const { from, to } = atCursor ? main : { from: end, to: end };
  const insert = text(view.state.sliceDoc(0, from));
  view.dispatch({
    changes: { from, to, insert },
    selection: { anchor: from + insert.length },
    userEvent: "input",
    scrollIntoView: true,
  });
  view.focus();
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
