import { describe, expect, it } from "vitest";
import { whatIs } from "./foreign-formats";

const json = (value: unknown) => whatIs(JSON.stringify(value));

/** As each builder writes its files: the members that tell them apart, among some that do not. */
const FOREIGN: Record<string, unknown> = {
  n8n: {
    name: "W",
    nodes: [{ parameters: {}, type: "n8n-nodes-base.set", typeVersion: 3.4, position: [0, 0], name: "Set" }],
    connections: { Set: { main: [[{ node: "End", type: "main", index: 0 }]] } },
  },
  comfy: {
    last_node_id: 9,
    last_link_id: 9,
    nodes: [{ id: 7, type: "CLIPTextEncode", widgets_values: [""] }],
    links: [[1, 4, 0, 7, 0, "CLIP"]],
    version: 0.4,
  },
  dify: { app: { name: "A" }, kind: "app", workflow: { graph: { nodes: [], edges: [] } } },
  flowise: {
    nodes: [{ id: "a", type: "customNode", data: { inputAnchors: [], inputParams: [] } }],
    edges: [],
  },
  langflow: { name: "F", data: { nodes: [{ id: "a", type: "genericNode", data: {} }], edges: [] } },
  langgraph: { dependencies: ["."], graphs: { agent: "./src/agent.py:graph" }, env: ".env" },
  nodeRed: [
    { id: "1", type: "tab", label: "Flow" },
    { id: "2", type: "inject", wires: [["3"]] },
  ],
};

describe("whatIs", () => {
  it.each(Object.entries(FOREIGN))("knows %s", (builder, value) => {
    expect(json(value)).toEqual({ is: "foreign", builder });
  });

  it("knows other forms of the same", () => {
    expect(json({ "3": { class_type: "KSampler", inputs: {} } })).toMatchObject({ builder: "comfy" });
    expect(json({ graphs: { a: { path: "app.agent:make" } } })).toMatchObject({ builder: "langgraph" });
    expect(whatIs("app:\n  name: A\nkind: app\nversion: 0.1.5\nworkflow:\n  graph: {}\n")).toMatchObject({
      builder: "dify",
    });
  });

  it.each([
    "graph TD\n  a --> b",
    "flowchart LR",
    "```mermaid\ngraph TD;\na-->b\n```",
    "---\nconfig:\n  x: 1\n---\n%% drawn\nflowchart TD;",
    "stateDiagram-v2\n  [*] --> a",
  ])("knows Mermaid: %j", (text) => {
    expect(whatIs(text)).toEqual({ is: "foreign", builder: "mermaid" });
  });

  it("knows what is ours", () => {
    expect(json({ format: "superstep/1", nodes: {} })).toEqual({ is: "graph" });
    expect(json({ format: "superstep/clip/1", nodes: {} })).toEqual({ is: "clip" });
    expect(whatIs('{"format":"superstep-thread/1"}\n{"checkpoint":1}\n')).toEqual({ is: "thread" });
    expect(json({ format: "superstep-thread/1" })).toEqual({ is: "thread" });
  });

  it("says no builder of what only looks a little like one", () => {
    for (const value of [{}, { nodes: [], edges: [] }, { graphs: {} }, { workflow: "x", app: "y" }, [], [1]])
      expect(json(value), JSON.stringify(value)).toEqual({ is: "json" });
    for (const text of ["", "graph of the year", "hello", "12", "null", "{", "---\n".repeat(5)])
      expect(whatIs(text), text).toEqual({ is: "other" });
  });

  it("ends on texts that are made to be slow", () => {
    const began = performance.now();
    whatIs("[".repeat(200_000));
    whatIs("kind: app\n".repeat(100_000));
    whatIs(`graph ${" ".repeat(500_000)}x`);
    expect(performance.now() - began).toBeLessThan(1500);
  });
});
