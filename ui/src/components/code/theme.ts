/** How the editors look: the colours of code, and what CodeMirror draws around it. */
import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export const highlight = HighlightStyle.define([
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

export const theme = EditorView.theme({
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
