import { describe, expect, it } from "vitest";
import { copyNodes, parseClip, type Clip } from "./clip";
import { GraphDocument } from "./document";
import { clashingKeys, pasteWithKeys } from "./merge";
import { FAKE_KINDS } from "../test/fakeHost";
import type { NodeKind } from "../ipc/bindings/NodeKind";
import type { Json } from "./types";

const kinds: NodeKind[] = [
  {
    ...(FAKE_KINDS[0] as NodeKind),
    kind: "assign",
    configSchema: { type: "object", properties: { set: { type: "object", "x-editor": "assignments" } } },
  },
  {
    ...(FAKE_KINDS[0] as NodeKind),
    kind: "agent",
    configSchema: {
      type: "object",
      properties: {
        tools: {
          type: "array",
          items: { type: "object", properties: { active: { type: "string", "x-editor": "state-key" } } },
        },
        code: { type: "string", "x-editor": "code", "x-language": "python" },
      },
    },
  },
];

function graph(state: Record<string, Json>, nodes: Record<string, Json>, edges: Json[] = []): GraphDocument {
  const doc = new GraphDocument();
  doc.reset([
    { id: "doc", value: { name: "G" } },
    ...Object.entries(state).map(([name, value]) => ({ id: `key:${name}`, value })),
    ...Object.entries(nodes).map(([name, value]) => ({ id: `node:${name}`, value })),
    ...edges.map((value, index) => ({ id: `edge:${index}`, value })),
  ]);
  return doc;
}

const assign = (set: Record<string, Json>): Json => ({ kind: "assign", config: { set } });
const from = () =>
  graph(
    {
      log: { type: "array", reducer: "append" },
      limit: { type: "integer", default: 3 },
      other: { type: "string" },
    },
    { a: assign({ log: "['a']" }), b: assign({ log: "['b']" }), c: assign({ other: "'c'" }) },
    [{ from: "a", to: "b", when: "state.limit > 2" }],
  );
const copied = (names: string[]): Clip => {
  const doc = from();
  const clip = copyNodes(doc, names, () => ({ x: 0, y: 0 }), kinds);
  const read = parseClip(JSON.stringify(clip));
  if (read === null) throw new Error("no clip");
  return read;
};
const pasted = (doc: GraphDocument, clip: Clip, shared = false) => {
  const { patch, names } = pasteWithKeys(doc, clip, { x: 0, y: 0 }, kinds, { shared });
  doc.apply(patch);
  return names;
};

describe("copied nodes", () => {
  it("carry the keys that they and their edges use, and no others", () => {
    expect(Object.keys(copied(["a", "b"]).state ?? {})).toEqual(["log", "limit"]);
    expect(Object.keys(copied(["c"]).state ?? {})).toEqual(["other"]);
  });

  it("carry the keys that they name deep in their settings, beside them, in programs and for packets", () => {
    const key = { type: "string" };
    const doc = graph(
      {
        deep: key,
        taken: key,
        said: key,
        kept: key,
        held: key,
        failed: key,
        item: key,
        given: key,
        other: key,
      },
      {
        a: {
          kind: "agent",
          config: { tools: [{ active: "deep" }], code: "return {'x': state.get('taken')}" },
          summary: "{{ update.said }}",
          cache: { key: "state.kept" },
          invariants: [{ must: "state.held" }],
          fallback: { to: "b", into: "failed" },
        },
        b: assign({}),
      },
      [{ from: "a", each: "[]", as: "item", to: "b", with: { given: "1" } }],
    );
    const carried = (names: string[]) =>
      Object.keys(copyNodes(doc, names, () => ({ x: 0, y: 0 }), kinds).state ?? {});
    expect(carried(["a", "b"])).toEqual(["deep", "taken", "said", "kept", "held", "failed", "item", "given"]);
    expect(carried(["b"])).toEqual([]);
  });

  it("bring the keys that are not there, and share those that mean the same", () => {
    const doc = graph(
      { log: { type: "array", reducer: "append", description: "Mine" } },
      { x: assign({ log: "[]" }) },
    );
    const clip = copied(["a", "b"]);
    expect(clashingKeys(doc, clip)).toEqual([]);
    expect(pasted(doc, clip)).toEqual(["a", "b"]);
    expect(doc.names("key")).toEqual(["log", "limit"]);
    expect(doc.get("key:log")).toMatchObject({ description: "Mine" });
    expect(doc.get("key:limit")).toEqual({ type: "integer", default: 3 });
  });

  it("use new names for keys that mean something else, or those that are there when that is said", () => {
    const there = () => graph({ log: { type: "string" } }, { x: assign({ log: "''" }) });
    const clip = copied(["a", "b"]);
    const doc = there();
    expect(clashingKeys(doc, clip)).toEqual(["log"]);
    pasted(doc, clip);
    const [, renamed = ""] = doc.names("key");
    expect([doc.get("key:log"), doc.get(`key:${renamed}`)]).toEqual([
      { type: "string" },
      { type: "array", reducer: "append" },
    ]);
    expect(doc.get("node:a")).toEqual(assign({ [renamed]: "['a']" }));

    const shared = there();
    pasted(shared, clip, true);
    expect(shared.names("key")).toEqual(["log", "limit"]);
    expect(shared.get("node:a")).toEqual(assign({ log: "['a']" }));
  });

  it("come without keys from a text that has none", () => {
    const doc = graph({}, { x: assign({}) });
    const clip = parseClip(
      '{"format":"superstep/clip/1","nodes":{"a":{"kind":"assign"}},"edges":[{"from":"a","to":"a"}]}',
    );
    expect(clip && pasted(doc, clip)).toEqual(["a"]);
    expect(doc.names("key")).toEqual([]);
  });
});
