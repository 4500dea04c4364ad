/**
 * Node kinds in the language of the interface. The workbench gives them in English; titles, summaries and the texts of
 * their forms are exchanged once, where they come in, so that everything that shows a kind shows the same.
 */
import type { NodeKind } from "../ipc/bindings/NodeKind";
import { aliasesOf, fromWorkbench } from "../lib/texts";

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Values that stand in files: they are the same in every language. */
const VALUES: ReadonlySet<string> = new Set(["default", "const", "enum", "examples", "pattern", "required"]);

/** A schema with the texts that forms show in the language: `title`, `description` and the labels of choices. */
function spokenSchema(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(spokenSchema);
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema).map(([name, value]) => [name, spokenEntry(name, value)] as const);
  return Object.fromEntries(entries);
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
