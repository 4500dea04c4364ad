import { describe, expect, it } from "vitest";
import { GraphDocument } from "../document/document";
import { reached } from "./along";

function graph(): GraphDocument {
  const doc = new GraphDocument();
  const edge = (from: string, to: string) => ({ id: `edge:${from}->${to}`, value: { from, to } });
  doc.reset([
    { id: "doc", value: {} },
    ...["a", "b", "c", "d", "lone", "x"].map((name) => ({ id: `node:${name}`, value: { kind: "code" } })),
    edge("__start__", "a"),
    edge("a", "b"),
    edge("b", "c"),
    edge("c", "b"),
    edge("x", "c"),
    edge("c", "d"),
  ]);
  return doc;
}

describe("reached", () => {
  const sorted = (along: "upstream" | "downstream" | "connected", leads = {}) =>
    reached(graph(), ["b"], along, new Map(), leads).toSorted();

  it("follows edges one way, through loops once", () => {
    expect(sorted("upstream")).toEqual(["__start__", "a", "b", "c", "x"]);
    expect(sorted("downstream")).toEqual(["b", "c", "d"]);
    expect(sorted("connected")).toEqual(["__start__", "a", "b", "c", "d", "x"]);
  });

  it("follows ways without an edge", () => {
    expect(sorted("downstream", { d: ["lone"] })).toEqual(["b", "c", "d", "lone"]);
  });
});
