import { describe, expect, it } from "vitest";
import { FAKE_KINDS } from "../test/fakeHost";
import { GraphDocument } from "./document";
import { clashesOf, mergeGraph, readGraph, type Merging } from "./merge";
import { edgeOf, type Json, type JsonObject } from "./types";

const open = (file: JsonObject): GraphDocument => {
  const doc = new GraphDocument();
  doc.reset(readGraph(JSON.stringify(file))!);
  return doc;
};

const HERE: JsonObject = {
  format: "superstep/1",
  name: "Desk",
  state: { text: { type: "string" }, total: { type: "number" } },
  nodes: {
    read: { kind: "assign", config: { set: { text: "'a'" } } },
    own: { kind: "assign", config: { set: {} } },
  },
  edges: [
    { from: "__start__", to: "read" },
    { from: "read", to: "own" },
    { from: "own", to: "__end__" },
  ],
  layout: { read: [100, 100], own: [400, 100] },
};

const COMING: JsonObject = {
  format: "superstep/1",
  name: "Part",
  state: {
    text: { type: "string", description: "said" },
    total: { type: "array", reducer: "append" },
    more: { type: "string" },
  },
  nodes: {
    read: { kind: "assign", config: { set: { text: "state.total|length", total: "1" } } },
    check: { kind: "code", config: { source: "return { more: state.total.length };" } },
  },
  edges: [
    { id: "mine", from: "__start__", to: "read" },
    { from: "read", route: "state.text", paths: { again: "check", stop: "__end__" } },
    { from: "check", to: "read" },
  ],
  layout: { __start__: [0, 0], read: [1000, 0], check: [1300, 0], __end__: [1600, 0] },
};

function merged(how: Merging, into = HERE): { doc: GraphDocument; names: string[] } {
  const doc = open(into);
  const { patch, names } = mergeGraph(
    doc,
    readGraph(JSON.stringify(COMING))!,
    how,
    { x: 100, y: 400 },
    FAKE_KINDS,
  );
  doc.apply(patch);
  return { doc, names };
}

const edges = (doc: GraphDocument) =>
  doc
    .names("edge")
    .flatMap((id) => edgeOf(doc.get(`edge:${id}`)).paths.map(({ from, to }) => `${from}>${to}`));

const configOf = (doc: GraphDocument, node: string) => (doc.get(`node:${node}`) as { config: Json }).config;

describe("a graph that comes beside another one", () => {
  it("has new names for nodes, and for keys that mean something else here", () => {
    const { doc, names } = merged("beside");
    expect(clashesOf(open(HERE), readGraph(JSON.stringify(COMING))!)).toEqual({
      nodes: ["read"],
      keys: ["total"],
    });
    expect(names).toHaveLength(2);
    const [read = "", check = ""] = names;
    expect(read).not.toBe("read");
    expect(check).toBe("check");
    const total = doc.names("key").find((name) => name !== "total" && name.startsWith("total"))!;
    expect(doc.get(`key:${total}`)).toMatchObject({ type: "array" });
    expect(doc.get("key:text")).toEqual({ type: "string" });
    expect(doc.get("key:total")).toEqual({ type: "number" });
    expect(configOf(doc, read)).toEqual({ set: { text: `state.${total}|length`, [total]: "1" } });
    expect(configOf(doc, check)).toEqual({ source: `return { more: state.${total}.length };` });
    expect(configOf(doc, "read")).toEqual({ set: { text: "'a'" } });
  });

  it("keeps its edges, those to the end too, and waits for what leads in", () => {
    const { doc, names } = merged("beside");
    const [read = ""] = names;
    expect(edges(doc)).toEqual([
      "__start__>read",
      "read>own",
      "own>__end__",
      `${read}>check`,
      `${read}>__end__`,
      `check>${read}`,
    ]);
    expect(doc.get(`layout:${read}`)).toEqual([100, 400]);
    expect(doc.get("layout:check")).toEqual([400, 400]);
  });

  it("is the graph where nothing was", () => {
    const { doc } = merged("beside", { format: "superstep/1", nodes: {} });
    expect(edges(doc)).toContain("__start__>read");
    expect(doc.names("key")).toEqual(["text", "total", "more"]);
  });
});

describe("a graph that comes again", () => {
  it("takes the place of the nodes and keys of its names, where they stand", () => {
    const { doc } = merged("update");
    expect(configOf(doc, "read")).toEqual({ set: { text: "state.total|length", total: "1" } });
    expect(doc.get("key:total")).toMatchObject({ type: "array" });
    expect(doc.get("layout:read")).toEqual([100, 100]);
    expect(doc.get("layout:check")).toEqual([400, 100]);
    expect(edges(doc)).toEqual([
      "__start__>read",
      "read>own",
      "own>__end__",
      "read>check",
      "read>__end__",
      "check>read",
    ]);
  });

  it("changes nothing the second time", () => {
    const { doc } = merged("update");
    const again = mergeGraph(doc, readGraph(JSON.stringify(COMING))!, "update", { x: 0, y: 0 }, FAKE_KINDS);
    expect(again.patch.ops).toEqual([]);
  });
});

it("is read from texts that are a graph only", () => {
  for (const text of ["", "[]", "{}", '{"nodes":[]}', "null"]) expect(readGraph(text)).toBeNull();
});
