/** What LangGraph calls the parts of a graph: names of its programs, which no language translates. Facts of `docs/langgraph-differences.md`. */
import { listed } from "./intl";
import { t } from "./texts";

const WORDS = {
  kind: {
    agent: ["create_agent", "create_react_agent"],
    ask: ["interrupt"],
    code: ["add_node", "Command"],
    graph: ["StateGraph"],
    map: ["Send"],
    memory: ["trim_messages", "RemoveMessage"],
    router: ["add_conditional_edges"],
    store: ["BaseStore"],
    tools: ["ToolNode"],
  },
  edge: {
    plain: ["add_edge"],
    when: ["add_conditional_edges"],
    route: ["add_conditional_edges"],
    each: ["Send"],
    join: ["add_edge([a, b], c)"],
    limit: ["RemainingSteps"],
    error: ["error_handler"],
  },
  reducer: {
    overwrite: ["LastValue"],
    add: ["operator.add", "BinaryOperatorAggregate"],
    multiply: ["operator.mul", "BinaryOperatorAggregate"],
    min: ["min", "BinaryOperatorAggregate"],
    max: ["max", "BinaryOperatorAggregate"],
    and: ["operator.and_", "BinaryOperatorAggregate"],
    or: ["operator.or_", "BinaryOperatorAggregate"],
    append: ["operator.add", "BinaryOperatorAggregate"],
    union: ["BinaryOperatorAggregate"],
    add_messages: ["add_messages"],
    merge: ["operator.or_", "BinaryOperatorAggregate"],
  },
  channel: {
    kept: ["LastValue", "BinaryOperatorAggregate"],
    ephemeral: ["EphemeralValue"],
    any: ["AnyValue"],
    topic: ["Topic"],
    untracked: ["UntrackedValue"],
  },
  end: { __start__: ["START"], __end__: ["END"] },
} as const satisfies Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

type Part = keyof typeof WORDS;

/** LangGraph's words for a part of a graph; none where it has no word of its own. */
export function langGraphWords(part: Part, name: string): readonly string[] {
  const words: Readonly<Record<string, readonly string[]>> = WORDS[part];
  return Object.hasOwn(words, name) ? (words[name] ?? []) : [];
}

/** A help text with LangGraph's words behind it. */
export function withLangGraph(help: string, part: Part, name: string): string {
  const words = langGraphWords(part, name);
  return words.length === 0 ? help : `${help} ${t("help.langgraph", { words: listed(words) })}`;
}
