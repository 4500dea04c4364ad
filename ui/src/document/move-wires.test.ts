import { describe, expect, it } from "vitest";
import { GraphDocument } from "./document";
import { ERROR_PORT } from "./error-ways";
import { moveWires, type MovedLine } from "./move-wires";
import { op, reversed } from "./patch";
import { END, START, type Json } from "./types";

const node = (name: string, kind = "assign", more: Record<string, Json> = {}) => ({
  id: `node:${name}`,
  value: { kind, config: {}, ...more } as Json,
});
function desk(): GraphDocument {
  const doc = new GraphDocument();
  doc.reset([
    { id: "doc", value: { format: "superstep/1" } },
    { id: "key:way", value: { type: "string" } },
    node("choose", "router", { config: { ways: [{ label: "a" }, { label: "b" }], into: "way" } }),
    node("one", "assign", { fallback: { to: "two" } }),
    node("two"),
    node("three"),
    { id: "edge:s", value: { from: START, to: "two" } },
    { id: "edge:r", value: { from: "choose", route: "state.way", paths: { a: "two", b: "three" } } },
    { id: "edge:w", value: { from: "one", to: "two", when: "state.way" } },
    { id: "edge:e", value: { from: "two", to: END } },
    { id: "edge:x", value: { from: "two", to: "three" } },
  ]);
  return doc;
}
const line = (edge: string, from: string, to: string, port: string | null = null, part = ""): MovedLine => ({
  edge,
  part,
  from,
  port,
  to,
});

describe("moving all wires of a port", () => {
  it("leads what led to a node to another one, by the same ways, in one step that is taken back", () => {
    const doc = desk();
    const before = doc.records();
    const into = [
      line("s", START, "two"),
      line("r", "choose", "two", "=a", "=a"),
      line("w", "one", "two"),
      line("on-error:one", "one", "two", ERROR_PORT),
    ];
    const done = doc.apply(moveWires(doc, into, { to: "three" }));
    expect(doc.get("edge:s")).toEqual({ from: START, to: "three" });
    expect(doc.get("edge:r")).toMatchObject({ paths: { a: "three", b: "three" } });
    expect(doc.get("edge:w")).toEqual({ from: "one", to: "three", when: "state.way" });
    expect(doc.get("node:one")).toMatchObject({ fallback: { to: "three" } });
    expect(doc.get("edge:x")).toEqual({ from: "two", to: "three" });
    doc.apply(reversed(done));
    expect(doc.records()).toEqual(before);
  });

  it("leads what left a node from another one; a second wire of the same kind goes", () => {
    const doc = desk();
    doc.apply({ ops: [op("edge:y", null, { from: "one", to: "three" })] });
    doc.apply(
      moveWires(doc, [line("e", "two", END), line("x", "two", "three")], { from: "one", port: null }),
    );
    expect(doc.get("edge:e")).toEqual({ from: "one", to: END });
    expect(doc.has("edge:x")).toBe(false);
    expect(doc.get("edge:y")).toEqual({ from: "one", to: "three" });
  });
});
