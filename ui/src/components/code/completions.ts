/** What an editor offers while somebody types. */
import {
  autocompletion,
  startCompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from "@codemirror/autocomplete";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { placeOf, suggestionsAt, type KeyInfo, type Suggestion } from "./jinja";
import { keySuggestions, memberBefore, nameSuggestions, type ProgramLanguage } from "./programs";
import { t } from "../../lib/texts";
import { namesAt, namesOf, type Names } from "./expression-types";
import { fieldsOfValue, keyInfoOf } from "./key-infos";
import type { EditorOptions, Mode } from "./options";
import { isProgram } from "./language";

const KINDS: Record<string, string> = {
  key: "property",
  field: "property",
  filter: "function",
  test: "function",
  function: "function",
  keyword: "keyword",
  variable: "variable",
};

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

/** The names that loops and `set` of a template make before a position, with what is in them. */
function loopItems(text: string, position: number, around: Names): KeyInfo[] {
  const seen = namesAt(text, position, around);
  return [...seen].flatMap(([name, schema]) => (around.get(name) === schema ? [] : keyInfoOf(name, schema)));
}

async function knownFields({ valueOf }: EditorOptions, path: readonly string[]): Promise<Suggestion[]> {
  if (valueOf === null || path[0] !== "state") return [];
  const value = await valueOf(path.join(".").replaceAll(".[]", "[0]")).catch(() => null);
  return fieldsOfValue(value).map(({ name, type }) => ({
    label: name,
    detail: type,
    info: t("forms.code.seen"),
    kind: "field",
  }));
}

/** Reads the options of the moment: another source would close the list that is open. */
export function completions(mode: Mode, current: () => EditorOptions): Extension {
  const source = async (context: CompletionContext): Promise<CompletionResult | null> => {
    const options = current();
    if (isProgram(mode)) return programCompletions(context, options.keys, mode);
    const place = placeOf(context.state.doc.toString(), context.pos, mode === "template");
    if (place.at === "nowhere") return null;
    if (place.at === "text" && !context.explicit) return null;
    if (place.at === "name" && place.word === "" && !context.explicit) return null;
    const variables =
      mode === "template"
        ? [
            ...options.variables,
            ...loopItems(context.state.doc.toString(), context.pos, namesOf(options.keys, options.variables)),
          ]
        : options.variables;
    let suggestions = suggestionsAt(place, options.keys, variables);
    // A key whose schema says nothing of its fields has those that the last run left in it.
    if (place.at === "member" && suggestions.length === 0)
      suggestions = await knownFields(options, place.path);
    const found = suggestions.map(completion);
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
    // "state." and the names in it are what people type; the list should be there without asking.
    EditorView.updateListener.of((update) => {
      if (!update.docChanged || !update.transactions.some((tr) => tr.isUserEvent("input.type"))) return;
      const head = update.state.selection.main.head;
      const tail = update.state.doc.sliceString(Math.max(0, head - 6), head);
      const member = mode === "expression" || mode === "template" ? /[\w\]]\.$/ : /state\.$/;
      if (mode !== "json" && mode !== "text" && mode !== "markdown" && member.test(tail))
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
