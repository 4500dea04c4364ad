import { describe, expect, it } from "vitest";
import type { NodeKind } from "../ipc/bindings/NodeKind";
import { FAKE_KINDS, fileRecords } from "../test/fakeHost";
import { blockOf, planBlock } from "./block";
import { GraphDocument } from "./document";
import { mergeGraph } from "./merge";
import { reversed } from "./patch";
import { edgeOf, type JsonObject } from "./types";
import { usageOf } from "./usage";

const kinds = [
  { kind: "assign", configSchema: { properties: { set: { "x-editor": "assignments" } } } },
] as unknown as NodeKind[];
const put = (set: JsonObject, more: JsonObject = {}) => ({ kind: "assign", config: { set }, ...more });

function open(file: JsonObject): GraphDocument {
  const doc = new GraphDocument();
  doc.reset(fileRecords(file));
  return doc;
}

const desk = open({
  format: "superstep/1",
  name: "Desk",
  description: "Of the whole desk.",
  examples: [{ name: "one", input: {} }],
  context: { type: "object" },
  state: {
    text: { type: "string" },
    draft: { type: "string" },
    tries: { type: "integer", reducer: "add" },
    other: { type: "string" },
  },
  nodes: {
    read: put({ other: "state.text" }),
    write: put({ draft: "state.text" }, { fallback: { to: "log" } }),
    check: put({ tries: "1" }, { fallback: { to: "fix" } }),
    fix: put({ draft: "state.draft ~ '!'" }),
    send: put({ other: "state.draft" }),
    log: put({ other: "'x'" }),
    remark: { kind: "note", config: { text: "Twice at most" } },
  },
  edges: [
    { from: "__start__", to: "read" },
    { from: "read", to: "write" },
    { id: "mine", from: "write", to: "check" },
    {
      from: "check",
      route: "state.tries",
      paths: { again: "fix", good: "send", stop: "__end__" },
      default: "log",
    },
    { from: "fix", to: "check" },
    { from: "fix", to: "__end__" },
    { from: "send", to: "__end__" },
  ],
  layout: { write: [400, 300], check: [700, 320], fix: [700, 480], remark: [400, 180] },
});

const plan = (...names: string[]) => planBlock(desk, names, usageOf(desk, kinds));
const place = (name: string) => {
  const [x = 0, y = 0] = (desk.get(`layout:${name}`) ?? []) as number[];
  return { x, y };
};
const text = { name: "Write and check", description: "Writes until it is good." };

function block(...names: string[]): GraphDocument {
  const made = new GraphDocument();
  made.reset(blockOf(desk, plan(...names), text, place));
  return made;
}

const edges = (doc: GraphDocument) =>
  doc
    .names("edge")
    .flatMap((edge) =>
      edgeOf(doc.get(`edge:${edge}`)).paths.map(
        ({ from, to, label }) => `${from}>${to}${label === undefined ? "" : `:${label}`}`,
      ),
    );

describe("a block", () => {
  it("has the nodes, the edges between them and the state keys that they use", () => {
    const made = block("fix", "check", "write", "remark");
    expect(made.head).toEqual({
      format: "superstep/1",
      name: "Write and check",
      description: "Writes until it is good.",
      context: { type: "object" },
    });
    expect(made.names("node")).toEqual(["write", "check", "fix", "remark"]);
    expect(made.names("key")).toEqual(["text", "draft", "tries"]);
    expect(made.get("key:tries")).toEqual({ type: "integer", reducer: "add" });
    // It begins where nothing leads in, and a route keeps what leads to its nodes and to the end.
    expect(edges(made)).toEqual([
      "__start__>write",
      "write>check",
      "check>fix:again",
      "check>__end__:stop",
      "fix>check",
    ]);
    expect(made.names("edge").map((edge) => made.get(`edge:${edge}`))).not.toContainEqual(
      expect.objectContaining({ id: "mine" }),
    );
  });

  it("leaves ways to other nodes out, and says where they lead", () => {
    const names = ["write", "check", "fix"];
    expect(plan(...names).outside.toSorted()).toEqual(["log", "send"]);
    const made = block(...names);
    expect(made.get("node:write")).not.toHaveProperty("fallback");
    expect(made.get("node:check")).toMatchObject({ fallback: { to: "fix" } });
    expect(plan("fix").outside).toEqual(["check"]);
    expect(plan("send").outside).toEqual([]);
  });

  it("stands from its own corner, behind the start", () => {
    const made = block("write", "check", "fix", "remark");
    expect(made.get("layout:remark")).toEqual([136, 0]);
    expect(made.get("layout:write")).toEqual([136, 120]);
    expect(made.get("layout:check")).toEqual([436, 140]);
    expect(made.get("layout:__start__")).toEqual([0, 128]);
    expect(made.get("layout:__end__")).toEqual([436 + 216 + 136, 128]);
  });

  it("begins in a circle where its graph enters it", () => {
    const circle = block("check", "fix");
    expect(edges(circle)[0]).toBe("__start__>check");
  });

  it("comes into another graph with names of its own where they are taken, as one patch", () => {
    const records = blockOf(desk, plan("write", "check", "fix"), text, place);
    const other = open({
      format: "superstep/1",
      name: "Other",
      state: { text: { type: "string" }, draft: { type: "number" } },
      nodes: { write: put({ draft: "1" }), last: put({}) },
      edges: [{ from: "write", to: "last" }],
      layout: { write: [0, 0], last: [300, 0] },
    });
    const before = other.records();
    const { patch, names } = mergeGraph(other, records, "beside", { x: 0, y: 400 }, FAKE_KINDS);
    const applied = other.apply(patch);
    expect(names).toEqual(["write_2", "check", "fix"]);
    expect(edges(other)).toEqual([
      "write>last",
      "write_2>check",
      "check>fix:again",
      "check>__end__:stop",
      "fix>check",
    ]);
    expect(other.names("key")).toEqual(["text", "draft", "draft_2", "tries"]);
    expect(other.get("node:fix")).toMatchObject({ config: { set: { draft_2: "state.draft_2 ~ '!'" } } });
    other.apply(reversed(applied));
    expect(other.records()).toEqual(before);
  });

  it("makes an empty graph one that runs", () => {
    const empty = open({ format: "superstep/1", name: "New", state: {}, nodes: {}, edges: [] });
    const records = blockOf(desk, plan("write", "check", "fix"), text, place);
    empty.apply(mergeGraph(empty, records, "beside", { x: 0, y: 0 }, FAKE_KINDS).patch);
    expect(edges(empty)).toContain("__start__>write");
    expect(empty.names("key")).toEqual(["text", "draft", "tries"]);
  });
});
