/**
 * Node kinds in the language of the interface. The workbench gives them in English; titles, summaries and the texts of
 * their forms are exchanged once, where they come in, so that everything that shows a kind shows the same.
 */
import type { NodeKind } from "../ipc/bindings/NodeKind";
import { aliasesOf, fromWorkbench, t, type TextKey } from "../lib/texts";

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Values that stand in files: they are the same in every language. */
const VALUES: ReadonlySet<string> = new Set(["default", "const", "enum", "examples", "pattern", "required"]);

/** Values that settings choose from, in words; those that are no words, as methods of HTTP, stand for themselves. */
const WORDS: Readonly<Record<string, TextKey>> = {
  all: "forms.value.all",
  answer: "forms.value.answer",
  auto: "forms.value.auto",
  blue: "forms.value.blue",
  both: "forms.value.both",
  changes: "forms.value.changes",
  collect: "forms.value.collect",
  data: "forms.value.data",
  delete: "forms.value.delete",
  error: "forms.value.error",
  extract: "forms.value.extract",
  fail: "forms.value.fail",
  get: "forms.value.get",
  gray: "forms.value.gray",
  green: "forms.value.green",
  high: "forms.value.high",
  javascript: "forms.value.javascript",
  low: "forms.value.low",
  medium: "forms.value.medium",
  minimal: "forms.value.minimal",
  namespaces: "forms.value.namespaces",
  none: "forms.value.none",
  nothing: "forms.value.nothing",
  off: "forms.value.off",
  purple: "forms.value.purple",
  put: "forms.value.put",
  python: "forms.value.python",
  record: "forms.value.record",
  red: "forms.value.red",
  replay: "forms.value.replay",
  required: "forms.value.required",
  run: "forms.value.run",
  search: "forms.value.search",
  skip: "forms.value.skip",
  summarise: "forms.value.summarise",
  thread: "forms.value.thread",
  trim: "forms.value.trim",
  vectors: "forms.value.vectors",
  words: "forms.value.words",
  yellow: "forms.value.yellow",
};

/** A value to choose as forms show it. */
function valueText(value: Json): string {
  if (value === null) return t("forms.type.null");
  const key = typeof value === "string" && Object.hasOwn(WORDS, value) ? WORDS[value] : undefined;
  return key === undefined ? String(value) : t(key);
}

/** Choices with labels, where they have none of their own. */
function withLabels(schema: { readonly [name: string]: Json }): { readonly [name: string]: Json } {
  const { enum: values, oneOf, "x-enum-labels": labels } = schema;
  if (Array.isArray(values) && labels === undefined)
    return { ...schema, "x-enum-labels": values.map(valueText) };
  const isConst = (each: Json) =>
    typeof each === "object" && each !== null && "const" in each && typeof each.const === "string";
  if (!Array.isArray(oneOf) || !oneOf.every(isConst)) return schema;
  const titled = oneOf.map((each) => {
    const choice = each as { readonly [name: string]: Json };
    return "title" in choice ? choice : { ...choice, title: valueText(choice["const"] ?? null) };
  });
  return { ...schema, oneOf: titled };
}

/** The words of the values that a setting chooses from, or a list of such. */
function wordsOf(schema: { readonly [name: string]: Json }): ReadonlyMap<string, string> {
  const { enum: values, oneOf, items, "x-enum-labels": labels } = schema;
  const words = new Map<string, string>();
  if (Array.isArray(values))
    values.forEach((value, index) => {
      const label = Array.isArray(labels) ? labels[index] : undefined;
      if (typeof value === "string") words.set(value, typeof label === "string" ? label : valueText(value));
    });
  for (const each of Array.isArray(oneOf) ? oneOf : []) {
    if (!isSchema(each) || typeof each["const"] !== "string") continue;
    words.set(each["const"], typeof each["title"] === "string" ? each["title"] : valueText(each["const"]));
  }
  const { anyOf } = schema;
  for (const part of [items, ...(Array.isArray(anyOf) ? anyOf : [])])
    if (isSchema(part)) for (const [value, word] of wordsOf(part)) words.set(value, word);
  return words;
}

const isSchema = (json: Json | undefined): json is { readonly [name: string]: Json } =>
  typeof json === "object" && json !== null && !Array.isArray(json);

/** A help text that names values as the list shows them, where it names those of its own setting. */
function withWords(schema: { readonly [name: string]: Json }): { readonly [name: string]: Json } {
  const { description } = schema;
  if (typeof description !== "string" || !description.includes("`")) return schema;
  const words = wordsOf(schema);
  const named = description.replace(/`([^`]+)`/g, (code, value: string) => {
    const word = words.get(value);
    return word === undefined || word === value ? code : t("forms.value.named", { value: word });
  });
  return { ...schema, description: named };
}

/** A schema with the texts that forms show in the language: `title`, `description` and the labels of choices. */
function spokenSchema(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(spokenSchema);
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema).map(([name, value]) => [name, spokenEntry(name, value)] as const);
  return withWords(withLabels(Object.fromEntries(entries)));
}

function spokenEntry(name: string, value: Json): Json {
  if (typeof value === "string")
    return name === "title" || name === "description" ? fromWorkbench(value) : value;
  if (name === "x-enum-labels" && Array.isArray(value))
    return value.map((label) => (typeof label === "string" ? fromWorkbench(label) : label));
  return VALUES.has(name) ? value : spokenSchema(value);
}

const spoken = (kind: NodeKind): NodeKind => ({
  ...kind,
  title: fromWorkbench(kind.title),
  summary: fromWorkbench(kind.summary),
  aliases: [...aliasesOf(kind)],
  configSchema: spokenSchema(kind.configSchema as Json),
});

let given: readonly NodeKind[] = [];

/** The kinds that the workbench gave, in the language of the interface. */
export function spokenKinds(kinds: readonly NodeKind[]): NodeKind[] {
  given = kinds;
  return kinds.map(spoken);
}

/** The same kinds after the language has changed. */
export const kindsAgain = (): NodeKind[] => given.map(spoken);
