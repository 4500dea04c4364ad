/**
 * What programs of code nodes can say, as data: the names around them in JavaScript and in Python, and how a state key
 * is written in either. No editor in here.
 */
import type { KeyInfo, Suggestion } from "./jinja";

export type ProgramLanguage = "javascript" | "python";

type Word = readonly [name: string, signature: string, info: string];

const JAVASCRIPT: readonly Word[] = [
  ["state", "", "The state, as this node sees it."],
  ["ctx", "", "Where the node runs, and all of these functions."],
  ["context", "", "Thread, run, node, step, attempt and the run's own metadata."],
  ["config", "", "The same as LangGraph names it."],
  ["interrupt", "(question)", "Asks a person; gives the answer when there is one."],
  ["emit", "(value)", "Sends something to readers of the custom stream."],
  ["message", "(value)", "Sends a message or a chunk of one."],
  ["progress", "(done, total, text)", "Says how far the node is."],
  ["task", "(name, args, function)", "Does work once: its result is recorded."],
  ["sleep", "(ms)", "Waits."],
  ["store", "", "Long-term memory: get, put, delete, search, listNamespaces."],
  ["Command", "({update, goto})", "An update together with where to go."],
  ["Send", "(node, input)", "A target with an input of its own."],
  ["console", "", "console.log writes to the node's log."],
];

const PYTHON: readonly Word[] = [
  ["state", "", "The state, as this node sees it."],
  ["ctx", "", "Where the node runs: thread, run, node, step, attempt, user, store."],
  ["config", "", "What LangGraph hands to a node as its config."],
  ["runtime", "", "What LangGraph hands to a node as its runtime."],
  ["interrupt", "(question)", "Asks a person; gives the answer when there is one."],
  ["emit", "(value)", "Sends something to readers of the custom stream."],
  ["message", "(value)", "Sends a message or a chunk of one."],
  ["progress", "(done, total, text)", "Says how far the node is."],
  ["task", "", "@task makes a function whose result is recorded."],
  ["get_store", "()", "Long-term memory: get, put, delete, search, list_namespaces."],
  ["get_config", "()", "The config of this call."],
  ["get_stream_writer", "()", "The function that emits."],
  ["Command", "(update=, goto=)", "An update together with where to go."],
  ["Send", "(node, input)", "A target with an input of its own."],
  ["print", "(…)", "Writes to the node's log."],
];

const KEYWORDS: Record<ProgramLanguage, readonly string[]> = {
  javascript:
    "await async return const let if else for of function import export default null true false".split(" "),
  python: "await async return def if elif else for in import from yield None True False not and or".split(
    " ",
  ),
};

/** The text before the cursor that a state key would complete, and how it is written there. */
export function memberBefore(
  text: string,
  language: ProgramLanguage,
): { typed: string; close: string } | null {
  const dotted = /\bstate\.(\w*)$/.exec(text);
  if (dotted && (language === "javascript" || dotted[1] !== "get")) {
    return { typed: dotted[1]!, close: "" };
  }
  const indexed = /\bstate(?:\[|\.get\()(["'])([^"'\]]*)$/.exec(text);
  if (indexed) return { typed: indexed[2]!, close: indexed[1]! };
  return null;
}

/** State keys, for a place that `memberBefore` has found. */
export function keySuggestions(keys: readonly KeyInfo[]): Suggestion[] {
  return keys.map((key) => ({ label: key.name, detail: key.type, info: key.description, kind: "key" }));
}

/** Names that stand alone. */
export function nameSuggestions(language: ProgramLanguage): Suggestion[] {
  const words = language === "python" ? PYTHON : JAVASCRIPT;
  return [
    ...words.map(([label, detail, info]): Suggestion => ({
      label,
      detail: detail === "" ? undefined : detail,
      info,
      kind: detail.startsWith("(") ? "function" : "variable",
      boost: label === "state" ? 2 : 1,
    })),
    ...KEYWORDS[language].map((label): Suggestion => ({ label, kind: "keyword" })),
  ];
}
