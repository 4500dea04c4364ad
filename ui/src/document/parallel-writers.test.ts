import { describe, expect, it } from "vitest";
import { clashOf } from "./parallel-writers";
import { GraphDocument } from "./document";
import type { Json } from "./types";
import { usageOf } from "./usage";
import type { NodeKind } from "../ipc/bindings/NodeKind";

const KINDS = [
  { kind: "assign", configSchema: { properties: { set: { "x-editor": "assignments" } } } },
] as unknown as NodeKind[];

function graph(reply: Json): GraphDocument {
  const doc = new GraphDocument();
  const writes = (key: string): Json => ({ kind: "assign", config: { set: { [key]: "1" } } });
  doc.reset([
    { id: "doc", value: {} },
    { id: "key:reply", value: reply },
    { id: "key:other", value: { type: "string" } },
    { id: "node:split", value: { kind: "assign", config: {} } },
    { id: "node:a", value: writes("reply") },
    { id: "node:b", value: writes("reply") },
    { id: "node:c", value: writes("other") },
    { id: "node:late", value: writes("reply") },
    { id: "edge:split->a", value: { from: "split", to: "a" } },
    { id: "edge:c->late", value: { from: "c", to: "late" } },
    { id: "edge:a->b", value: { from: "a", to: "b" } },
  ]);
  return doc;
}

const clash = (doc: GraphDocument, from: string, to: string) => clashOf(doc, usageOf(doc, KINDS), from, to);

describe("clashes of a wire that is drawn", () => {
  it("are found beside the wires that are there, in the same step and later ones", () => {
    const doc = graph({ type: "string" });
    expect(clash(doc, "split", "b")).toEqual({ one: "b", other: "a", key: "reply" });
    expect(clash(doc, "split", "c"), "one step on both write it").toEqual({
      one: "late",
      other: "b",
      key: "reply",
    });
    expect(clash(doc, "b", "c"), "nothing runs beside it").toBeNull();
  });

  it("are none for a key whose updates are joined", () => {
    expect(clash(graph({ type: "array", reducer: "append" }), "split", "b")).toBeNull();
    expect(clash(graph({ type: "string", channel: "any" }), "split", "b")).toBeNull();
    expect(clash(graph({ type: "string", reducer: "overwrite" }), "split", "b")).not.toBeNull();
  });

  it("are not sought behind conditions and joins", () => {
    const doc = graph({ type: "string" });
    doc.apply({
      ops: [
        { id: "edge:split->a", from: { from: "split", to: "a" }, to: { from: "split", to: "a", when: "x" } },
      ],
    });
    expect(clash(doc, "split", "b")).toBeNull();
  });
});
