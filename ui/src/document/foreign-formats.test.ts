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
  rivet: {
    version: 4,
    data: {
      graphs: {
        g1: {
          metadata: { id: "g1", name: "Main" },
          nodes: { '[a1]:chat "Chat"': { visualData: "0/0/230/1", outgoingConnections: [] } },
        },
      },
      metadata: { id: "p", title: "P" },
      plugins: [],
    },
  },
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

  it("knows the files and the clipboard of Rivet", () => {
    const project = [
      "version: 4",
      "data:",
      "  graphs:",
      "    qyv:",
      "      metadata:",
      "        name: Main",
      "      nodes:",
      "        '[Xn1-a_]:graphInput \"Graph Input\"':",
      "          outgoingConnections:",
      '            - data->"Chat" t9/prompt',
      "          visualData: 1/2/330/3//",
    ].join("\n");
    const graph = `version: 4\ndata:\n  metadata:\n    id: x\n  nodes:\n    '[x]:chat "Chat"':\n      visualData: 0/0/null/null\n`;
    for (const text of [project, graph]) expect(whatIs(text)).toEqual({ is: "foreign", builder: "rivet" });
    const nodes = [{ id: "a", type: "text", title: "T", visualData: { x: 0, y: 0 }, data: { text: "" } }];
    expect(json({ type: "nodes", nodes, connections: [] })).toMatchObject({ builder: "rivet" });
    expect(whatIs("version: 4\ndata:\n  nodes: none\n")).toEqual({ is: "other" });
  });

  it("knows the programs that OpenAI's builder writes", () => {
    for (const text of [
      `const runner = new Runner({ traceMetadata: { __trace_source__: "agent-builder", workflow_id: "wf_1" } });`,
      `run_config=RunConfig(trace_metadata={\n  "__trace_source__": "agent-builder",\n  "workflow_id": "wf_1"\n})`,
    ])
      expect(whatIs(text)).toEqual({ is: "foreign", builder: "openaiAgents" });
    expect(whatIs(`trace_metadata={"__trace_source__": "my-own"}`)).toEqual({ is: "other" });
  });

  it.each([
    ["langgraphPython", "from langgraph.graph import StateGraph\n\nbuilder = StateGraph(State)\n"],
    ["langgraphPython", "workflow = StateGraph (State, context_schema=Context)\nworkflow.add_node('a', a)"],
    ["langgraphPython", "```python\ngraph = (StateGraph(State).add_node(plan).compile())\n```"],
    ["langgraphTypeScript", "const graph = new StateGraph(State)\n  .addNode('a', a)"],
    [
      "langgraphTypeScript",
      "import { StateGraph } from '@langchain/langgraph';\nconst g = new StateGraph<typeof S.State>({ channels });",
    ],
  ])("knows a program that builds a graph: %s", (builder, text) => {
    expect(whatIs(text)).toEqual({ is: "foreign", builder });
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
    for (const text of [
      "",
      "graph of the year",
      "A StateGraph (see the docs) is nice",
      "hello",
      "12",
      "null",
      "{",
      "---\n".repeat(5),
    ])
      expect(whatIs(text), text).toEqual({ is: "other" });
  });

  // Each took minutes when it was slow: the test would not come to an end in time.
  it("ends on texts that are made to be slow", () => {
    whatIs("[".repeat(200_000));
    whatIs("kind: app\n".repeat(100_000));
    whatIs(`StateGraph${"\t".repeat(300_000)}${"StateGraph<".repeat(30_000)}`);
    whatIs(`version: 4\n${"  '[a]:b ".repeat(60_000)}`);
    whatIs(`__trace_source__${" ".repeat(500_000)}`);
    whatIs(`graph ${" ".repeat(500_000)}x`);
  });
});
