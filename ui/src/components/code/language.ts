/** The language that an editor colours and indents. */
import { javascript } from "@codemirror/lang-javascript";
import { json } from "@codemirror/lang-json";
import { markdown } from "@codemirror/lang-markdown";
import { python } from "@codemirror/lang-python";
import { StreamLanguage, indentUnit } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import type { ProgramLanguage } from "./programs";
import type { Mode } from "./options";
import { jinja } from "./jinja-mode";

export function language(mode: Mode): Extension {
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

export function isProgram(mode: Mode): mode is ProgramLanguage {
  return mode === "javascript" || mode === "python";
}
