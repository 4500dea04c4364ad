/** What a program that runs a graph has to say: its file, an input that fits its keys, and the questions it may ask. */
import { initialValue } from "../../../components/schema-form/initial";
import type { Schema } from "../../../components/schema-form/schema";
import { inputKeysOf, inputSchema, missingKeys, spoken, isEmptyInput } from "../../../debugger/run/run-input";
import { contextSchema } from "../../../debugger/run/run-context";
import type { GraphDocument } from "../../../document/document";
import { isObject, nodeOf, type Json, type JsonObject } from "../../../document/types";

/** A node that asks, with an answer that fits. */
export interface Asking {
  readonly node: string;
  readonly answer: Json;
  /** The labels of its choices, the one of the answer first. */
  readonly labels: readonly string[];
}

export interface CodeFacts {
  /** Absolute, or `graph.json` of a graph that is not saved yet. */
  readonly path: string;
  readonly input: JsonObject;
  /** Values of the run context, when the graph declares one. */
  readonly context: JsonObject | null;
  readonly asking: readonly Asking[];
  /** Somebody may have to answer: nodes that ask, and those whose programs, tools or graphs may. */
  readonly mayAsk: boolean;
}

/** Reads a graph; `given` is what its run form holds, the context last given among it. */
export function codeFacts(
  doc: GraphDocument,
  path: string | undefined,
  given: { readonly input: JsonObject; readonly context?: JsonObject | undefined },
): CodeFacts {
  const nodes = doc.names("node").map((name) => [name, nodeOf(doc.get(`node:${name}`))] as const);
  const asking = nodes.flatMap(([name, { kind, config }]) =>
    kind === "ask" ? [askingOf(doc, name, config)] : [],
  );
  return {
    path: path ?? "graph.json",
    input: isEmptyInput(given.input) ? madeUp(doc) : (spoken(given.input) as JsonObject),
    context: contextOf(doc, given.context),
    asking,
    mayAsk: asking.length > 0 || nodes.some(([, { config }]) => leadsToQuestions(config)),
  };
}

const ASKS = /\binterrupt\b/;

/** Programs that call `interrupt`, tools that want approval, and files beside the graph, in which either may be. */
function leadsToQuestions(config: JsonObject): boolean {
  return Object.entries(config).some(([field, value]) => {
    if (field === "approval" || field === "mcp") return true;
    if ((field === "graph" || field === "module") && typeof value === "string") return true;
    if (field === "source" && typeof value === "string") return ASKS.test(value);
    if (Array.isArray(value)) return value.some((item) => isObject(item) && leadsToQuestions(item));
    return isObject(value) && leadsToQuestions(value);
  });
}

function askingOf(doc: GraphDocument, node: string, config: JsonObject): Asking {
  const choices = (Array.isArray(config["choices"]) ? config["choices"] : []).filter(isObject);
  const [first] = choices;
  if (first)
    return { node, answer: first["value"] ?? null, labels: choices.map(({ label }) => String(label ?? "")) };
  const key = (name: Json | undefined) => (typeof name === "string" ? doc.get(`key:${name}`) : undefined);
  const schema = config["answer"] ?? key(config["edit"]) ?? key(config["into"]);
  return { node, answer: sampleOf(isObject(schema) ? schema : { type: "string" }), labels: [] };
}

/** The keys that an input has to set, each with a value of its type. */
function madeUp(doc: GraphDocument): JsonObject {
  const keys = doc.names("key").map((name) => {
    const key = doc.get(`key:${name}`);
    return [name, isObject(key) ? key : {}] as const;
  });
  const wanted = inputKeysOf(doc.head);
  const names = keys.map(([name]) => name).filter((name) => wanted === undefined || wanted.includes(name));
  const { properties } = inputSchema(keys, wanted) as { properties: Record<string, JsonObject> };
  return Object.fromEntries(
    missingKeys(keys, names).map((name) => {
      const schema = properties[name] ?? {};
      const value =
        schema["x-editor"] === "messages" ? [{ type: "human", content: "Hello" }] : sampleOf(schema);
      return [name, value];
    }),
  );
}

function contextOf(doc: GraphDocument, given: JsonObject | undefined): JsonObject | null {
  if (given !== undefined && Object.keys(given).length > 0) return given;
  const schema = contextSchema(doc.head) as { required: string[]; properties: Record<string, Json> } | null;
  if (schema === null || schema.required.length === 0) return null;
  return Object.fromEntries(schema.required.map((name) => [name, sampleOf(schema.properties[name])]));
}

/** A value that a schema takes, and that shows what is meant. */
function sampleOf(schema: Json | undefined): Json {
  if (!isObject(schema)) return "";
  const [example] = Array.isArray(schema["examples"]) ? schema["examples"] : [];
  if (example !== undefined) return example;
  const value = initialValue(schema as Schema) as Json | undefined;
  if (value === "" || value === undefined) return schema["type"] === undefined ? "…" : words(schema);
  return value;
}

function words(schema: JsonObject): string {
  const least = typeof schema["minLength"] === "number" ? schema["minLength"] : 0;
  return "text".padEnd(least, ".");
}
