import { describe, expect, it } from "vitest";
import { FAKE_KINDS } from "../test/fakeHost";
import { GraphDocument } from "./document";
import { addPattern } from "./patterns";
import type { Json } from "./types";

const PATTERN: { id: string; value: Json }[] = [
  { id: "doc", value: { name: "Desk", examples: [{ name: "One", input: { text: "x" } }] } },
  { id: "key:text", value: { type: "string" } },
  { id: "key:log", value: { type: "array", reducer: "append" } },
  { id: "node:a", value: { kind: "assign", config: { set: { text: "1" } } } },
  { id: "node:b", value: { kind: "assign", config: { set: { log: "2" } } } },
  { id: "edge:__start__->a", value: { from: "__start__", to: "a" } },
  { id: "edge:a->?", value: { from: "a", route: "state.text", paths: { x: "b", y: "__end__" } } },
  { id: "layout:__start__", value: [40, 184] },
  { id: "layout:a", value: [300, 96] },
  { id: "layout:b", value: [600, 256] },
  { id: "layout:__end__", value: [900, 184] },
];

function added(records: { id: string; value: Json }[]): { doc: GraphDocument; names: string[] } {
  const doc = new GraphDocument();
  doc.reset(records);
  const { patch, names } = addPattern(doc, PATTERN, { x: 1000, y: 1000 }, { x: 0, y: 0 }, FAKE_KINDS);
  doc.apply(patch);
  return { doc, names };
}

describe("a pattern", () => {
  it("makes an empty document its like, with ends, places and samples", () => {
    const { doc, names } = added([{ id: "doc", value: { name: "Mine" } }]);
    expect(names).toEqual(["a", "b"]);
    expect(doc.get("doc")).toEqual({ name: "Mine", examples: [{ name: "One", input: { text: "x" } }] });
    expect(doc.names("key")).toEqual(["text", "log"]);
    expect(doc.names("edge")).toHaveLength(2);
    expect(doc.get("layout:a")).toEqual([260, -88]);
    expect(doc.get("layout:__end__")).toEqual([860, 0]);
  });

  it("brings its context with the values under names, where there is none", () => {
    const head = { context: { user: {} }, context_sets: [{ name: "Ada", values: { user: "ada" } }] };
    const records = [{ id: "doc", value: { name: "Desk", ...head } }, ...PATTERN.slice(1)];
    const into = (value: Record<string, Json>) => {
      const doc = new GraphDocument();
      doc.reset([{ id: "doc", value }]);
      doc.apply(addPattern(doc, records, { x: 0, y: 0 }, { x: 0, y: 0 }, FAKE_KINDS).patch);
      return doc.get("doc");
    };
    expect(into({ name: "Mine" })).toEqual({ name: "Mine", ...head });
    expect(into({ name: "Mine", context: { own: {} } })).toEqual({ name: "Mine", context: { own: {} } });
  });

  it("joins a document without taking a name, a key or an end from it", () => {
    const { doc, names } = added([
      { id: "doc", value: { name: "Mine" } },
      { id: "key:text", value: { type: "integer" } },
      { id: "node:a", value: { kind: "assign", config: {} } },
      { id: "edge:__start__->a", value: { from: "__start__", to: "a" } },
    ]);
    expect(names).toHaveLength(2);
    expect(names).not.toContain("a");
    expect(doc.get("key:text")).toEqual({ type: "integer" });
    expect(doc.has("key:log")).toBe(true);
    expect(doc.names("edge")).toEqual(["__start__->a"]);
    expect(doc.get("doc")).toEqual({ name: "Mine" });
    expect(doc.get(`layout:${names[0]}`)).toEqual([1000, 1000]);
  });
});
