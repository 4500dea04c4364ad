/** What an editor underlines: text that is not JSON, brackets that nothing closes, state keys that are not there. */
import { linter, type Diagnostic as Mark } from "@codemirror/lint";
import type { Extension } from "@codemirror/state";
import { expressionNotices, namesOf, templateNotices } from "./expression-types";
import { keyUses, openBracket } from "./jinja";
import type { EditorOptions } from "./options";
import { isProgram } from "./language";
import { noticeWords } from "./type-words";

export function marks(options: EditorOptions): Extension {
  const { mode, words } = options;
  if (mode === "text" || mode === "markdown" || isProgram(mode)) return [];
  const names = namesOf(options.keys, options.variables);
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
      // With something open it is not written yet, and the rest would be read as part of it.
      const notices = open
        ? []
        : mode === "template"
          ? templateNotices(text, names)
          : expressionNotices(text, names, options.expected);
      const said = notices.map((notice) => ({ ...notice, message: noticeWords(notice) }));
      // The tooltip knows no marks for code.
      for (const { from, to, message } of said)
        found.push({ from, to, severity: "info", message: message.replaceAll("`", "") });
      options.onNotices?.(said.map(({ message }) => message));
      return found;
    },
    { delay: 300 },
  );
}

/** Where JSON stops being JSON. */
function jsonProblem(text: string): { from: number; to: number; message: string } | null {
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
