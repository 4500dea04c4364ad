import { describe, expect, it } from "vitest";
import { FAKE_KINDS } from "../test/fakeHost";
import { GraphDocument } from "./document";
import { copyNodes, parseClip, pasteClip } from "./clip";
import { renamePath, setEdgeForm } from "./edge-edits";
import * as edits from "./edits";
import { renameKey } from "./key-edits";
import { reversed, type Patch } from "./patch";
import type { Json } from "./types";

function documentOf(nodes: string[], edges: Json[], more: { id: string; value: Json }[] = []): GraphDocument {
  const doc = new GraphDocument();
  doc.reset([
    { id: "doc", value: { format: "superstep/1", name: "Desk" } },
    ...more.filter((record) => record.id.startsWith("key:")),
    ...nodes.map((name) => ({ id: `node:${name}`, value: { kind: "assign", config: {} } as Json })),
    ...edges.map((value, index) => ({ id: `edge:e${index}`, value })),
    ...nodes.map((name, index) => ({ id: `layout:${name}`, value: [index * 300, 0] as Json })),
    ...more.filter((record) => !record.id.startsWith("key:")),
  ]);
  return doc;
}

/** Applies, checks that the reverse brings everything back, and leaves the change applied. */
function apply(doc: GraphDocument, patch: Patch): void {
  const before = doc.records();
  const done = doc.apply(patch);
  doc.apply(reversed(done));
  expect(doc.records(), "undo brings back every record in its place").toEqual(before);
  doc.apply(done);
}

const edge = (doc: GraphDocument, id: string) => doc.get(`edge:${id}`);
const edgeValues = (doc: GraphDocument) => doc.names("edge").map((name) => doc.get(`edge:${name}`));

describe("a join", () => {
  it("takes the place of the plain edges into its target, and gives it back", () => {
    const doc = documentOf(
      ["a", "b", "c", "d"],
      [
        { from: "a", to: "c" },
        { from: "b", to: "c" },
        { from: "d", to: "c", when: "true" },
        { from: "__start__", to: "c" },
      ],
    );
    apply(doc, setEdgeForm(doc, "e0", "join"));
    expect(edge(doc, "e0")).toEqual({ from: ["a", "b"], to: "c" });
    expect(doc.names("edge"), "conditions and the start are not waited for").toEqual(["e0", "e2", "e3"]);
    apply(doc, setEdgeForm(doc, "e0", "plain"));
    expect(edgeValues(doc)).toContainEqual({ from: "a", to: "c" });
    expect(edgeValues(doc)).toContainEqual({ from: "b", to: "c" });
  });
});

describe("renaming a node", () => {
  it("follows it through every form of edge, in place", () => {
    const doc = documentOf(
      ["a", "b", "c"],
      [
        { from: "a", to: "b" },
        { from: ["a", "b"], to: "c" },
        { from: "c", route: "state.x", paths: { again: "a", on: "b" }, default: "a" },
        { from: "b", each: "state.items", as: "item", to: "a" },
      ],
    );
    apply(doc, edits.renameNode(doc, "a", "start", FAKE_KINDS));
    expect(doc.names("node")).toEqual(["start", "b", "c"]);
    expect(doc.get("layout:start")).toEqual([0, 0]);
    expect(doc.has("layout:a")).toBe(false);
    expect(edgeValues(doc)).toEqual([
      { from: "start", to: "b" },
      { from: ["start", "b"], to: "c" },
      { from: "c", route: "state.x", paths: { again: "start", on: "b" }, default: "start" },
      { from: "b", each: "state.items", as: "item", to: "start" },
    ]);
  });

  it("follows it in what other nodes do after a failure", () => {
    const doc = documentOf(["a", "b", "c"], []);
    const failing = (fallback: Json) => ({ kind: "code", config: {}, fallback });
    doc.apply(edits.setRecord(doc, "node:a", failing({ value: { x: "a" } })));
    doc.apply(edits.setRecord(doc, "node:b", failing({ node: "a" })));
    doc.apply(edits.setRecord(doc, "node:c", failing({ to: "a", into: "why" })));
    apply(doc, edits.renameNode(doc, "a", "start", FAKE_KINDS));
    expect(doc.get("node:start")).toMatchObject({ fallback: { value: { x: "a" } } });
    expect(doc.get("node:b")).toMatchObject({ fallback: { node: "start" } });
    expect(doc.get("node:c")).toMatchObject({ fallback: { to: "start", into: "why" } });
  });

  it("refuses names that are taken, reserved or unreadable", () => {
    const doc = documentOf(["a", "b"], []);
    for (const name of ["b", "__x", "a:b", "a|b", " ", ""]) {
      expect(edits.renameNode(doc, "a", name, FAKE_KINDS).ops, name).toEqual([]);
    }
  });
});

describe("deleting", () => {
  it("takes edges and positions along, and shrinks joins and routes", () => {
    const doc = documentOf(
      ["a", "b", "c"],
      [
        { from: "a", to: "b" },
        { from: ["a", "b"], to: "c" },
        { from: "c", route: "state.x", paths: { yes: "b", no: "a" }, default: "b" },
        { from: "c", route: "state.y", paths: { yes: "b" } },
      ],
    );
    apply(doc, edits.deleteThings(doc, { nodes: ["b"] }));
    expect(edgeValues(doc)).toEqual([
      { from: "a", to: "c" },
      { from: "c", route: "state.x", paths: { no: "a" } },
    ]);
    expect(doc.has("layout:b")).toBe(false);
  });

  it("deletes one label of a route, or one source of a join", () => {
    const doc = documentOf(
      ["a", "b", "c"],
      [
        { from: "a", route: "state.x", paths: { yes: "b", no: "c" }, default: "b" },
        { from: ["a", "b"], to: "c" },
      ],
    );
    apply(
      doc,
      edits.deleteThings(doc, {
        paths: [
          { edge: "e0", part: "=yes" },
          { edge: "e0", part: "default" },
          { edge: "e1", part: "a" },
        ],
      }),
    );
    expect(edge(doc, "e0")).toEqual({ from: "a", route: "state.x", paths: { no: "c" } });
    expect(edge(doc, "e1")).toEqual({ from: "b", to: "c" });
  });

  it("never deletes the start or the end", () => {
    const doc = documentOf(["a"], [{ from: "__start__", to: "a" }]);
    expect(edits.deleteThings(doc, { nodes: ["__start__", "__end__"] }).ops).toEqual([]);
  });
});

describe("deleting and joining", () => {
  it("connects what was before with what was after, conditions kept", () => {
    const doc = documentOf(
      ["a", "b", "c", "d"],
      [
        { from: "a", to: "b" },
        { from: "d", when: "state.ok", to: "b" },
        { from: "b", to: "c" },
      ],
    );
    apply(doc, edits.deleteAndJoin(doc, ["b"]));
    expect(edgeValues(doc)).toEqual([
      { from: "a", to: "c" },
      { from: "d", when: "state.ok", to: "c" },
    ]);
    expect(doc.names("node")).toEqual(["a", "c", "d"]);
  });

  it("works through a chain and over a fan-out", () => {
    const doc = documentOf(
      ["a", "b", "c", "x", "y"],
      [
        { from: "a", to: "b" },
        { from: "b", to: "c" },
        { from: "c", to: "x" },
        { from: "c", to: "y" },
      ],
    );
    apply(doc, edits.deleteAndJoin(doc, ["b", "c"]));
    expect(edgeValues(doc)).toEqual([
      { from: "a", to: "x" },
      { from: "a", to: "y" },
    ]);
  });
});

describe("edges", () => {
  it("connects once, never into the start or out of the end", () => {
    const doc = documentOf(["a", "b"], []);
    apply(doc, edits.connect(doc, "a", "b"));
    expect(doc.names("edge")).toEqual(["a->b"]);
    expect(edits.connect(doc, "a", "b").ops).toEqual([]);
    expect(edits.connect(doc, "__end__", "b").ops).toEqual([]);
    expect(edits.connect(doc, "a", "__start__").ops).toEqual([]);
    expect(edits.connect(doc, "a", "a").ops).toHaveLength(1);
  });

  it("moves one end of one line", () => {
    const doc = documentOf(
      ["a", "b", "c"],
      [
        { from: "a", route: "state.x", paths: { yes: "b", no: "c" } },
        { from: ["a", "b"], to: "c" },
      ],
    );
    apply(doc, edits.reconnect(doc, "e0", "=yes", { to: "c" }));
    expect(edge(doc, "e0")).toEqual({ from: "a", route: "state.x", paths: { yes: "c", no: "c" } });
    apply(doc, edits.reconnect(doc, "e1", "b", { from: "c" }));
    expect(edge(doc, "e1")).toEqual({ from: ["a", "c"], to: "c" });
  });

  it("puts a node into a line", () => {
    const doc = documentOf(["a", "b", "n"], [{ from: "a", when: "state.ok", to: "b" }]);
    apply(doc, edits.spliceIntoEdge(doc, "e0", "", "n"));
    expect(edgeValues(doc)).toEqual([
      { from: "a", when: "state.ok", to: "n" },
      { from: "n", to: "b" },
    ]);
  });

  it("puts a node before a join without losing what it waits for", () => {
    const doc = documentOf(["a", "b", "c", "n"], [{ from: ["a", "b"], to: "c" }]);
    apply(doc, edits.spliceIntoEdge(doc, "e0", "a", "n"));
    expect(edgeValues(doc)).toEqual([
      { from: ["n", "b"], to: "c" },
      { from: "a", to: "n" },
    ]);
  });

  it("renames a label in its place and refuses a taken one", () => {
    const doc = documentOf(["a", "b"], [{ from: "a", route: "state.x", paths: { x: "a", y: "b", z: "b" } }]);
    apply(doc, renamePath(doc, "e0", "y", "why"));
    expect(Object.keys((edge(doc, "e0") as { paths: object }).paths)).toEqual(["x", "why", "z"]);
    expect(renamePath(doc, "e0", "x", "z").ops).toEqual([]);
  });

  it("changes the form and keeps what both have", () => {
    const doc = documentOf(["a", "b"], [{ from: "a", to: "b", note: "kept" }]);
    apply(doc, setEdgeForm(doc, "e0", "route"));
    expect(edge(doc, "e0")).toEqual({ note: "kept", from: "a", route: "", paths: { b: "b" } });
    apply(doc, setEdgeForm(doc, "e0", "each"));
    expect(edge(doc, "e0")).toEqual({ note: "kept", from: "a", each: "", as: "item", to: "b" });
  });
});

describe("renaming a state key", () => {
  it("follows it through fields, expressions, templates and examples", () => {
    const doc = new GraphDocument();
    doc.reset([
      {
        id: "doc",
        value: { name: "D", input: ["q"], examples: [{ name: "one", input: { q: "hi", other: 1 } }] },
      },
      { id: "key:q", value: { type: "string" } },
      { id: "key:quick", value: { type: "string" } },
      {
        id: "node:m",
        value: { kind: "model", config: { prompt: "Say {{ state.q }} not {{ state.quick }}", into: "q" } },
      },
      { id: "node:s", value: { kind: "assign", config: { set: { q: "state.q + 'x'", quick: "1" } } } },
      { id: "edge:e", value: { from: "m", route: "state['q']", paths: { q: "s" } } },
    ]);
    apply(doc, renameKey(doc, "q", "question", FAKE_KINDS));
    expect(doc.names("key")).toEqual(["question", "quick"]);
    expect(doc.get("node:m")).toEqual({
      kind: "model",
      config: { prompt: "Say {{ state.question }} not {{ state.quick }}", into: "question" },
    });
    expect(doc.get("node:s")).toEqual({
      kind: "assign",
      config: { set: { question: "state.question + 'x'", quick: "1" } },
    });
    expect(doc.get("edge:e")).toEqual({ from: "m", route: "state['question']", paths: { q: "s" } });
    expect(doc.head).toEqual({
      name: "D",
      input: ["question"],
      examples: [{ name: "one", input: { question: "hi", other: 1 } }],
    });
  });
});

describe("copy and paste", () => {
  it("brings the edges between the nodes, new names and the same arrangement", () => {
    const doc = documentOf(
      ["a", "b", "c"],
      [
        { from: "a", to: "b" },
        { from: "b", route: "state.x", paths: { back: "a" }, default: "a" },
        { from: "b", to: "c" },
      ],
    );
    const at = (name: string) => {
      const [x, y] = doc.get(`layout:${name}`) as [number, number];
      return { x, y };
    };
    const text = JSON.stringify(copyNodes(doc, ["a", "b", "__start__"], at));
    const clip = parseClip(text);
    expect(clip).not.toBeNull();
    if (!clip) return;
    const { patch, names } = pasteClip(doc, clip, { x: 1000, y: 500 }, FAKE_KINDS);
    apply(doc, patch);
    expect(names).toEqual(["a_2", "b_2"]);
    expect(doc.get("layout:b_2")).toEqual([1300, 500]);
    expect(doc.get("edge:a_2->b_2")).toEqual({ from: "a_2", to: "b_2" });
    expect(doc.get("edge:b_2->?")).toEqual({
      from: "b_2",
      route: "state.x",
      paths: { back: "a_2" },
      default: "a_2",
    });
    expect(doc.names("edge")).toHaveLength(5);
  });

  it("keeps the edges that led in, when that is wished and their nodes are here", () => {
    const doc = documentOf(
      ["a", "b", "c"],
      [
        { from: "__start__", to: "b", when: "state.x" },
        { from: "a", to: "b" },
        { from: ["a", "c"], to: "b" },
        { from: "a", route: "state.x", paths: { on: "b" } },
      ],
    );
    const at = () => ({ x: 0, y: 0 });
    const clip = parseClip(JSON.stringify(copyNodes(doc, ["b"], at)));
    if (!clip) throw new Error("it is a clip");
    const plain = pasteClip(doc, clip, at(), FAKE_KINDS);
    expect(plain.patch.ops.some(({ id }) => id.startsWith("edge:"))).toBe(false);
    apply(doc, edits.deleteThings(doc, { nodes: ["c"] }));
    apply(doc, pasteClip(doc, clip, at(), FAKE_KINDS, { connected: true }).patch);
    const pasted = doc.edgesTo("b_2").map((edge) => doc.get(`edge:${edge}`));
    expect(pasted, "the join lost a node; a label of a route leads to one node").toEqual([
      { from: "__start__", to: "b_2", when: "state.x" },
      { from: "a", to: "b_2" },
    ]);
  });

  it("takes nothing that is not ours", () => {
    expect(parseClip("hello")).toBeNull();
    expect(parseClip("[1,2]")).toBeNull();
    expect(parseClip('{"nodes":{}}')).toBeNull();
  });
});

describe("fields", () => {
  it("sets, makes and removes by pointer", () => {
    const doc = documentOf(["a"], []);
    apply(doc, edits.setField(doc, "node:a", "/config/choices/0/label", "Yes"));
    expect(edits.getField(doc, "node:a", "/config/choices/0/label")).toBe("Yes");
    apply(doc, edits.setField(doc, "node:a", "/config/choices", undefined));
    expect(doc.get("node:a")).toEqual({ kind: "assign", config: {} });
    expect(edits.setField(doc, "node:a", "/config", {}).ops).toEqual([]);
  });
});
