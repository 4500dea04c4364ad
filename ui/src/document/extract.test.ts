import { describe, expect, it } from "vitest";
import type { NodeKind } from "../ipc/bindings/NodeKind";
import { fileRecords } from "../test/fakeHost";
import { GraphDocument } from "./document";
import { extract } from "./extract";
import { type Extraction, planExtraction, type Refusal } from "./extraction";
import { inlineGraph } from "./inline";
import { namingKinds } from "./node-references";
import { reversed } from "./patch";
import { edgeOf, type Json, type JsonObject } from "./types";
import { usageOf } from "./usage";

const kinds = [
  {
    kind: "assign",
    configSchema: { properties: { set: { "x-editor": "assignments" } } },
  },
  { kind: "hand", configSchema: { properties: { to: { "x-editor": "node" } } } },
] as unknown as NodeKind[];

const put = (set: JsonObject) => ({ kind: "assign", config: { set } });

function open(file: JsonObject): GraphDocument {
  const doc = new GraphDocument();
  doc.reset(fileRecords({ format: "superstep/1", name: "outer", ...file }));
  return doc;
}

const around = (doc: GraphDocument) => ({
  usage: usageOf(doc, kinds),
  schemas: namingKinds(kinds),
  leads: {},
});

function planned(doc: GraphDocument, ...names: string[]): Extraction {
  const plan = planExtraction(doc, names, around(doc));
  if ("refused" in plan) throw new Error(`refused: ${plan.refused} ${plan.names.join()}`);
  return plan;
}

const refusal = (doc: GraphDocument, ...names: string[]) =>
  planExtraction(doc, names, around(doc)) as Refusal;

/** Extracts as proposed; answers the graph inside, with the patch already applied outside. */
function take(doc: GraphDocument, ...names: string[]) {
  const plan = planned(doc, ...names);
  const of = (role: "given" | "taken") =>
    new Set(plan.keys.filter((key) => key[role]).map(({ name }) => name));
  const choice = { node: "part", name: "Part", file: "part.json", given: of("given"), taken: of("taken") };
  const made = extract(doc, plan, choice, (name) => {
    const [x = 0, y = 0] = (doc.get(`layout:${name}`) ?? []) as number[];
    return { x, y };
  });
  const undo = doc.apply(made.outer);
  const inner = new GraphDocument();
  inner.reset(made.inner);
  return { plan, inner, undo };
}

const edges = (doc: GraphDocument) =>
  doc.names("edge").map((edge) => {
    const { form, paths } = edgeOf(doc.get(`edge:${edge}`));
    return paths
      .map(({ from, to, label }) => `${from}>${to}${form === "plain" ? "" : `:${label ?? form}`}`)
      .join(" ");
  });

const line = {
  state: {
    request: { type: "string" },
    draft: { type: "string" },
    answer: { type: "string" },
    log: { type: "array", reducer: "append" },
  },
  input: ["request"],
  output: ["answer"],
  nodes: {
    read: put({ request: "state.request|trim" }),
    write: put({ draft: "'Dear ' ~ state.request", log: "'wrote'" }),
    polish: put({ draft: "state.draft ~ '!'" }),
    send: put({ answer: "state.draft" }),
    report: put({ answer: "state.log|length" }),
  },
  edges: [
    { from: "__start__", to: "read" },
    { from: "read", to: "write" },
    { from: "write", to: "polish" },
    { from: "polish", to: "send" },
    { from: "send", to: "report" },
    { from: "report", to: "__end__" },
  ],
  layout: { read: [0, 0], write: [300, 40], polish: [600, 80], send: [900, 0], report: [1200, 0] },
};

describe("extract", () => {
  it("puts one node in the place of a line of nodes, and takes it back in one step", () => {
    const doc = open(line);
    const before = doc.records();
    const { inner, undo } = take(doc, "write", "polish");
    expect(doc.names("node")).toEqual(["read", "part", "send", "report"]);
    expect(edges(doc).toSorted()).toEqual(
      ["__start__>read", "part>send", "read>part", "report>__end__", "send>report"].toSorted(),
    );
    expect(doc.get("layout:part")).toEqual([300, 40]);
    expect(edges(inner)).toEqual(["__start__>write", "write>polish", "polish>__end__"]);
    expect(inner.head["name"]).toBe("Part");
    doc.apply(reversed(undo));
    expect(doc.records()).toEqual(before);
  });

  it("gives what is read inside and written outside, and takes what is written inside and read outside", () => {
    const { inner } = take(open(line), "write", "polish");
    expect(inner.head["input"]).toEqual(["request"]);
    expect(inner.head["output"]).toEqual(["draft", "log"]);
    expect(inner.names("key")).toEqual(["request", "draft", "log"]);
  });

  it("takes of a list that is given and added to only what was added", () => {
    const doc = open({
      ...line,
      nodes: { ...line.nodes, polish: put({ draft: "state.log|length", log: "'polished'" }) },
    });
    take(doc, "polish");
    expect(doc.get("node:part")).toEqual({
      kind: "graph",
      config: {
        graph: "part.json",
        output: { draft: "result.draft", log: "result.log[state.log|length:]" },
      },
    });
    const added = open({ ...line, state: { ...line.state, log: { ...line.state.log, default: ["x"] } } });
    const { inner } = take(added, "write");
    expect(added.get("node:part")).toEqual({ kind: "graph", config: { graph: "part.json" } });
    expect(inner.get("key:log")).toEqual({ type: "array", reducer: "append" });
  });

  it("moves the edges of the last node, with their conditions", () => {
    const doc = open({
      ...line,
      edges: [
        ...line.edges.slice(0, 3),
        { from: "polish", route: "state.draft", paths: { a: "send", b: "report" }, default: "__end__" },
      ],
    });
    const { plan, inner } = take(doc, "write", "polish");
    expect(plan.exit.by).toBe("edges");
    expect(edges(doc)).toContain("part>send:a part>report:b part>__end__:route");
    expect(edges(inner)).toContain("polish>__end__");
    expect(inner.head["output"]).toContain("draft");
  });

  it("keeps a loop inside, with one way out", () => {
    const doc = open({
      ...line,
      edges: [
        ...line.edges.slice(0, 3),
        { from: "polish", route: "state.draft", paths: { again: "write", ok: "send" } },
        { from: "send", to: "__end__" },
      ],
    });
    const { inner } = take(doc, "write", "polish");
    expect(edges(inner)).toEqual(["__start__>write", "write>polish", "polish>write:again polish>__end__:ok"]);
    expect(edges(doc)).toContain("part>send");
  });

  it("counts as one entry what the same nodes always lead to, and waits for all of it", () => {
    const doc = open({
      ...line,
      edges: [
        { from: "__start__", to: "read" },
        { from: "read", to: "write" },
        { from: "read", to: "polish" },
        { from: ["write", "polish"], to: "send" },
        { from: "send", to: "__end__" },
      ],
    });
    const before = doc.records();
    const { inner, undo } = take(doc, "write", "polish");
    expect(edges(doc).toSorted()).toEqual(["__start__>read", "part>send", "read>part", "send>__end__"]);
    expect(edges(inner)).toEqual(["__start__>write", "__start__>polish", "write>__end__", "polish>__end__"]);
    doc.apply(reversed(undo));
    expect(doc.records()).toEqual(before);
  });

  it("refuses what one node cannot do, with the names", () => {
    const doc = open({
      ...line,
      nodes: {
        ...line.nodes,
        jump: { kind: "hand", config: { to: "send" } },
        remark: { kind: "note", config: {} },
      },
      edges: [
        { from: "__start__", to: "read" },
        { from: "read", route: "state.draft", paths: { a: "write", b: "polish" } },
        { from: "write", when: "state.draft == ''", to: "send" },
        { from: "write", to: "polish" },
        { from: "polish", when: "state.draft != ''", to: "report" },
        { from: "report", each: "state.log", as: "item", to: "jump" },
        { from: ["send", "report"], to: "__end__" },
      ],
    });
    expect(refusal(doc, "__start__", "remark")).toEqual({ refused: "nothing", names: [] });
    expect(refusal(doc, "write", "polish")).toEqual({ refused: "entries", names: ["write", "polish"] });
    expect(refusal(doc, "read", "write", "polish")).toEqual({ refused: "ways", names: ["send", "report"] });
    expect(refusal(doc, "send")).toEqual({ refused: "named", names: ["jump", "send"] });
    expect(refusal(doc, "jump", "send")).toEqual({ refused: "items", names: ["jump"] });
  });
});

describe("inlineGraph", () => {
  const back = (doc: GraphDocument, inner: GraphDocument, elsewhere = false) =>
    inlineGraph(doc, "part", inner, { ...around(doc), elsewhere });

  it.each([
    ["a line", line.edges],
    [
      "a route at its end",
      [
        ...line.edges.slice(0, 3),
        { from: "polish", route: "state.draft", paths: { a: "send", b: "report" }, default: "__end__" },
      ],
    ],
    [
      "a loop",
      [
        ...line.edges.slice(0, 3),
        { from: "polish", route: "state.draft", paths: { again: "write", ok: "send" } },
        { from: "send", to: "__end__" },
      ],
    ],
    [
      "parallel nodes",
      [
        { from: "__start__", to: "read" },
        { from: "read", to: "write" },
        { from: "read", to: "polish" },
        { from: ["write", "polish"], to: "send" },
        { from: "send", to: "__end__" },
      ],
    ],
  ])("gives back what was extracted: %s", (_, wires) => {
    const doc = open({ ...line, edges: wires as Json[] });
    const before = {
      nodes: doc.names("node").map((name) => [name, doc.get(`node:${name}`)]),
      edges: edges(doc),
    };
    const { inner } = take(doc, "write", "polish");
    const result = back(doc, inner);
    if ("refused" in result) throw new Error(result.refused);
    doc.apply(result.patch);
    expect(result.names.toSorted()).toEqual(["polish", "write"]);
    const sorted = (list: unknown[]) => list.map((each) => JSON.stringify(each)).toSorted();
    expect(sorted(doc.names("node").map((name) => [name, doc.get(`node:${name}`)]))).toEqual(
      sorted(before.nodes),
    );
    expect(edges(doc).toSorted()).toEqual(before.edges.toSorted());
    expect(doc.get("layout:write")).toEqual([300, 40]);
  });

  it("gives free names to nodes, keeps names in settings, and adds keys", () => {
    const doc = open({
      state: { a: { type: "string" } },
      nodes: { first: put({}), part: { kind: "graph", config: { graph: "x.json" } } },
      edges: [
        { from: "__start__", to: "first" },
        { from: "first", to: "part" },
        { from: "part", to: "__end__" },
      ],
    });
    const inner = open({
      state: { b: { type: "integer" } },
      nodes: { first: { kind: "hand", config: { to: "last" } }, last: put({}) },
      edges: [
        { from: "__start__", to: "first" },
        { from: "first", to: "last", when: "state.b > 1" },
      ],
    });
    const result = back(doc, inner);
    if ("refused" in result) throw new Error(result.refused);
    doc.apply(result.patch);
    expect(doc.names("node")).toEqual(["first", "first_2", "last"]);
    expect(doc.get("node:first_2")).toEqual({ kind: "hand", config: { to: "last" } });
    expect(doc.get("key:b")).toEqual({ type: "integer" });
    expect(edges(doc)).toContain("first>first_2");
    expect(edges(doc)).toContain("first_2>last:when");
    expect(edges(doc)).toContain("last>__end__");
  });

  it("refuses what would mean something else, with the names", () => {
    const outer = (part: JsonObject, more: JsonObject = {}) =>
      open({
        state: { a: { type: "string" }, own: { type: "string" } },
        nodes: { part: { kind: "graph", config: { graph: "x.json" }, ...part }, ...more },
        edges: [{ from: "__start__", to: "part" }],
      });
    const inner = (state: JsonObject, head: JsonObject = {}) =>
      open({ ...head, state, nodes: { x: put({}) }, edges: [{ from: "__start__", to: "x" }] });
    const mapped = { config: { graph: "x.json", input: { a: "state.a", q: "state.own" } } };
    expect(back(outer(mapped), inner({}))).toEqual({ refused: "mapped", names: ["q"] });
    expect(back(outer({ retry: 3 }), inner({}))).toEqual({ refused: "policy", names: ["retry"] });
    expect(back(outer({}), inner({ a: { type: "integer" } }))).toEqual({ refused: "keys", names: ["a"] });
    const uses = { y: put({ own: "1" }) };
    expect(back(outer({}, uses), inner({ own: { type: "string" } }, { input: [], output: [] }))).toEqual({
      refused: "private",
      names: ["own"],
    });
    const hand = { y: { kind: "hand", config: { to: "part" } } };
    expect(back(outer({}, hand), inner({}))).toEqual({ refused: "named", names: ["y"] });
    expect(back(outer({}), open({}))).toEqual({ refused: "empty", names: [] });
  });
});
