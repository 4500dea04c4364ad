/** Expressions and templates, cut into tokens for their colours. */
import type { StreamParser } from "@codemirror/language";

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

export function jinja(template: boolean): StreamParser<JinjaState> {
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
