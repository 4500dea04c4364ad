/** What a scripted model may call: tools by name, and the parameters that they take. */
import type { KeyInfo } from "../../components/code/jinja";
import { typeWords } from "../../components/schema-form/types";
import type { GraphDocument } from "../../document/document";
import { pointerGet } from "../../document/pointer";
import { isObject, nodeOf, type JsonObject } from "../../document/types";

interface OfferedTool {
  readonly name: string;
}

const listOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Settings of the tools that a node has itself, or by its tools node. */
function toolsOf(doc: GraphDocument, node: string): JsonObject[] {
  const { config } = nodeOf(doc.get(`node:${node}`));
  const from = config["tools_of"];
  const others = typeof from === "string" && from !== node ? nodeOf(doc.get(`node:${from}`)).config : {};
  return [...listOf(config["tools"]), ...listOf(others["tools"])];
}

/** Servers whose tools the node may call, with the prefix that their names have here. */
function serversOf(doc: GraphDocument, node: string): JsonObject[] {
  const { config } = nodeOf(doc.get(`node:${node}`));
  const from = config["tools_of"];
  const others = typeof from === "string" && from !== node ? nodeOf(doc.get(`node:${from}`)).config : {};
  return [...listOf(config["mcp"]), ...listOf(others["mcp"])];
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** The names of all of them, each once; `offered` are the tools that servers were seen to have. */
export function toolNames(
  doc: GraphDocument,
  node: string,
  offered: ReadonlyMap<string, readonly OfferedTool[]>,
): string[] {
  const own = toolsOf(doc, node).map(({ name }) => text(name));
  const served = serversOf(doc, node).flatMap(({ server, prefix }) =>
    (offered.get(text(server)) ?? []).map(({ name }) => text(prefix) + name),
  );
  return [...new Set([...own, ...served])].filter((name) => name !== "");
}

/** The parameters of the tool whose arguments are at a place of the settings; undefined when the tool is not known. */
export function parametersOf(doc: GraphDocument, node: string, pointer: string): KeyInfo[] | undefined {
  const { config } = nodeOf(doc.get(`node:${node}`));
  const called = pointerGet(config, pointer.replace(/\/[^/]*$/, "/tool"));
  const tool = toolsOf(doc, node).find(({ name }) => name === called);
  const parameters = tool?.["parameters"];
  if (!isObject(parameters) || !isObject(parameters["properties"])) return undefined;
  return Object.entries(parameters["properties"]).map(([name, schema]) => ({
    name,
    type: isObject(schema) ? typeWords(schema) : "",
  }));
}
