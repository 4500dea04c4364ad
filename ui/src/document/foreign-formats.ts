/**
 * What a text from elsewhere is: a graph of ours, nodes from the clipboard, or the work of another builder, so that a person
 * is named as what it is and not only that it does not fit. Known by what its builder writes and others do not. Pure.
 */
import { isObject, type Json } from "./types";

const BUILDERS = {
  n8n: "n8n",
  comfy: "ComfyUI",
  dify: "Dify",
  flowise: "Flowise",
  langflow: "Langflow",
  langgraph: "LangGraph",
  langgraphPython: "LangGraph (Python)",
  langgraphTypeScript: "LangGraph (TypeScript)",
  mermaid: "Mermaid",
  nodeRed: "Node-RED",
  openaiAgents: "OpenAI Agent Builder",
  rivet: "Rivet",
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
  // Nodes of its clipboard, and files of its first releases, which were JSON.
  ["rivet", ({ nodes }) => some(nodes, (node) => "visualData" in node && "type" in node)],
  ["rivet", ({ version, data }) => typeof version === "number" && isObject(data) && isRivet(data)],
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

/** A project with its graphs, or one graph; a node's key holds its id, its kind and its title. */
function isRivet(data: Members): boolean {
  const graphs = isObject(data["graphs"]) ? Object.values(data["graphs"]) : [data];
  return graphs.some(
    (graph) =>
      isObject(graph) &&
      (some(graph["nodes"], (node) => "visualData" in node) ||
        (isObject(graph["nodes"]) && Object.keys(graph["nodes"]).some((key) => /^\[[^\]]+\]:/.test(key)))),
  );
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

/** A node's key in the YAML of Rivet: `'[ID]:kind "Title"':`. */
const RIVET_NODE = /^ {1,12}'?\[[\w-]{1,64}\]:\w{1,64} "/m;

/** What the programs that OpenAI's builder writes say of themselves in their traces. */
const AGENT_BUILDER = /__trace_source__"?'?: {0,4}["']agent-builder["']/;

/** A program that builds a graph with LangGraph, by its language. */
function languageOfGraph(text: string): Builder | null {
  if (!/\bStateGraph[ \t]{0,4}(?:<[^\n]{0,200}>)?\(/.test(text)) return null;
  if (/@langchain\/langgraph\b|\bnew StateGraph\b|\.addNode\(/.test(text)) return "langgraphTypeScript";
  return /\blanggraph\b|\.add_node\(/.test(text) ? "langgraphPython" : null;
}

function ofText(text: string): Known {
  const first = firstOf(text);
  if (MERMAID.test(first)) return foreign("mermaid");
  if (/^kind:\s*app\s*$/m.test(text) && /^workflow:\s*$/m.test(text)) return foreign("dify");
  if (/^version: *\d+ *$/m.test(text) && RIVET_NODE.test(text)) return foreign("rivet");
  if (AGENT_BUILDER.test(text)) return foreign("openaiAgents");
  const program = languageOfGraph(text);
  if (program !== null) return foreign(program);
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
