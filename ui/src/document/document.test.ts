import { describe, expect, it, vi } from "vitest";
import { GraphDocument } from "./document";
import { op } from "./patch";

function sample(): GraphDocument {
  const doc = new GraphDocument();
  doc.reset([
    { id: "doc", value: { name: "Desk" } },
    { id: "node:a", value: { kind: "assign", config: {} } },
    { id: "node:b", value: { kind: "assign", config: {} } },
    { id: "edge:a->?", value: { from: "a", route: "state.x", paths: { yes: "b", no: "__end__" } } },
  ]);
  return doc;
}

describe("GraphDocument", () => {
  it("knows which edges touch a node, and follows changes", () => {
    const doc = sample();
    expect(doc.edgesFrom("a")).toEqual(["a->?"]);
    expect(doc.edgesTo("b")).toEqual(["a->?"]);
    const before = doc.get("edge:a->?");
    doc.apply({ ops: [op("edge:a->?", before, { from: "a", to: "__end__" })] });
    expect(doc.edgesTo("b")).toEqual([]);
    expect(doc.edgesTo("__end__")).toEqual(["a->?"]);
  });

  it("tells a listener of its record only, once per patch", () => {
    const doc = sample();
    const a = vi.fn();
    const b = vi.fn();
    const ids = vi.fn();
    doc.subscribe("node:a", a);
    doc.subscribe("node:b", b);
    doc.subscribe("ids:node", ids);
    const value = doc.get("node:a");
    doc.apply({ ops: [op("node:a", value, { kind: "x" }), op("node:a", { kind: "x" }, { kind: "y" })] });
    expect(a).toHaveBeenCalledTimes(1);
    expect(b).not.toHaveBeenCalled();
    expect(ids).not.toHaveBeenCalled();
  });

  it("keeps the list of names as it is while no name changes", () => {
    const doc = sample();
    const names = doc.names("node");
    doc.apply({ ops: [op("node:a", doc.get("node:a"), { kind: "x" })] });
    expect(doc.names("node")).toBe(names);
    doc.apply({ ops: [op("node:a", { kind: "x" }, undefined)] });
    expect(doc.names("node")).toEqual(["b"]);
  });

  it("leaves everything as it was when an op is refused", () => {
    const doc = sample();
    const before = doc.records();
    expect(() =>
      doc.apply({
        ops: [op("node:c", undefined, { kind: "x" }), op("node:a", { kind: "other" }, undefined)],
      }),
    ).toThrow(/has changed/);
    expect(doc.records()).toEqual(before);
  });
});
