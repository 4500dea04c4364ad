import { expect, it } from "vitest";
import { GraphDocument } from "../../document/document";
import { parametersOf, toolNames } from "./tool-calls";

const parameters = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
};
const script = [
  {
    say: "",
    calls: [
      { tool: "weather", args: {} },
      { tool: "gone", args: {} },
    ],
  },
];
const doc = new GraphDocument();
doc.reset([
  { id: "key:messages", value: { type: "array" } },
  {
    id: "node:agent",
    value: {
      kind: "agent",
      config: { tools: [{ name: "weather", parameters }], mcp: [{ server: "files", prefix: "fs_" }], script },
    },
  },
  {
    id: "node:tools",
    value: { kind: "tools", config: { tools: [{ name: "weather", parameters }, { name: "pay" }] } },
  },
  { id: "node:model", value: { kind: "model", config: { tools_of: "tools", script } } },
]);

it("lists the tools of the node, of its tools node and of its servers", () => {
  expect(toolNames(doc, "agent", new Map([["files", [{ name: "read" }]]]))).toEqual(["weather", "fs_read"]);
  expect(toolNames(doc, "model", new Map())).toEqual(["weather", "pay"]);
  expect(toolNames(doc, "", new Map())).toEqual([]);
});

it.each(["agent", "model"])(
  "takes the names of arguments from the tool that %s calls, not from the state",
  (node) => {
    const args = (at: number) => parametersOf(doc, node, `/script/0/calls/${at}/args`);
    expect(args(0)?.map(({ name }) => name)).toEqual(["city", "days"]);
    expect(args(1)).toBe(undefined);
  },
);
