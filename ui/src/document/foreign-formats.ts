/**
 * What a text from elsewhere is: a graph of ours, nodes from the clipboard, or the work of another builder, so that a person
 * is told what it is and not only that it does not fit. Known by what its builder writes and others do not. Pure.
 */
import { isObject, type Json } from "./types";

const BUILDERS = {
  n8n: "n8n",
  comfy: "ComfyUI",
  dify: "Dify",
  flowise: "Flowise",
  langflow: "Langflow",
  langgraph: "LangGraph",
  mermaid: "Mermaid",
  nodeRed: "Node-RED",
} as const;

export type Builder = keyof typeof BUILDERS;

export type Known =
  | { readonly is: "graph" | "clip" | "thread" | "json" | "other" }
  | { readonly is: "foreign"; readonly builder: Builder };

/** Names of products, which no language translates. */
export const builderName = (builder: Builder): string => BUILDERS[builder];

const foreign = (builder: Builder): Known => ({ is: "foreign", builder });

export function whatIs(text: string): Known {
  const trimmed = text.trim();
  let value: Json;
  try {
    value = JSON.parse(trimmed) as Json;
  } catch {
    return ofText(trimmed);
  }
  if (Array.isArray(value)) return isNodeRed(value) ? foreign("nodeRed") : { is: "json" };
  if (!isObject(value)) return { is: "other" };
  const { format } = value;
  if (typeof format === "string" && format.startsWith("superstep-")) return { is: "thread" };
  if (typeof format === "string" && format.startsWith("superstep/"))
    return { is: format.startsWith("superstep/clip/") ? "clip" : "graph" };
  const builder = builderOf(value);
  return builder === null ? { is: "json" } : foreign(builder);
}

type Members = Readonly<Record<string, Json | undefined>>;
type Test = (members: Members) => boolean;

const some = (list: Json | undefined, test: Test): boolean =>
  Array.isArray(list) && list.some((each) => isObject(each) && test(each));

const TESTS: readonly (readonly [Builder, Test])[] = [
  ["n8n", ({ nodes, connections }) => isObject(connections) && some(nodes, (node) => "typeVersion" in node)],
  ["comfy", (all) => "last_node_id" in all && "last_link_id" in all && Array.isArray(all["nodes"])],
  ["comfy", isComfyPrompt],
  ["dify", ({ app, workflow, kind }) => isObject(workflow) && (isObject(app) || kind === "app")],
  ["langflow", ({ data }) => isObject(data) && some(data["nodes"], (node) => node["type"] === "genericNode")],
  [
    "flowise",
    ({ nodes, edges }) =>
      Array.isArray(edges) &&
      some(nodes, ({ data }) => isObject(data) && ("inputAnchors" in data || "inputParams" in data)),
  ],
  ["langgraph", isLangGraph],
];

const builderOf = (members: Members): Builder | null => TESTS.find(([, test]) => test(members))?.[0] ?? null;

/** What ComfyUI sends to its server: nodes by number, each with the class that runs it. */
function isComfyPrompt(members: Members): boolean {
  const nodes = Object.values(members);
  return (
    nodes.length > 0 &&
    nodes.every((node) => isObject(node) && "class_type" in node && isObject(node["inputs"]))
  );
}

/** `langgraph.json`: graphs by name, each as a file and a name in it. */
function isLangGraph({ graphs }: Members): boolean {
  if (!isObject(graphs)) return false;
  const found = Object.values(graphs).map((graph) => (isObject(graph) ? graph["path"] : graph));
  return found.length > 0 && found.every((path) => typeof path === "string" && /^[^\s:]+:[\w.]+$/.test(path));
}

function isNodeRed(list: readonly Json[]): boolean {
  return (
    list.length > 0 &&
    list.every((each) => isObject(each) && "id" in each && "type" in each) &&
    list.some((each) => isObject(each) && ("wires" in each || each["type"] === "tab"))
  );
}

const MERMAID =
  /^(?:graph|flowchart)\s+(?:TB|TD|BT|RL|LR)\b|^(?:flowchart|graph)\s*$|^stateDiagram(?:-v2)?\b|^sequenceDiagram\b/;

function ofText(text: string): Known {
  const first = firstOf(text);
  if (MERMAID.test(first)) return foreign("mermaid");
  if (/^kind:\s*app\s*$/m.test(text) && /^workflow:\s*$/m.test(text)) return foreign("dify");
  // One record of a thread in each line.
  if (first.startsWith("{") && isThreadLine(first)) return { is: "thread" };
  return { is: "other" };
}

function isThreadLine(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) && typeof value["format"] === "string" && value["format"].startsWith("superstep-");
  } catch {
    return false;
  }
}

/** The first line that says something: without the fence of Markdown, the head and the comments of Mermaid. */
function firstOf(text: string): string {
  const lines = text.split("\n", 200).map((line) => line.trim());
  let head = false;
  for (const line of lines) {
    if (line === "---") head = !head;
    else if (!head && line !== "" && !line.startsWith("%%") && !line.startsWith("```")) return line;
  }
  return "";
}
