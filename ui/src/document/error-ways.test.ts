import { describe, expect, it } from "vitest";
import { GraphDocument } from "./document";
import { copyNodes, pasteClip } from "./clip";
import { addNodeIntoEdge, deleteAndJoin, deleteThings, renameNode } from "./edits";
import { ERROR_PORT, errorEdge, errorNode, errorTarget } from "./error-ways";
import { reversed, type Patch } from "./patch";
import { connectWay, moveLine, portsOf } from "./ports";
import { END, isObject, type Json } from "./types";

function desk(fallback?: Json): GraphDocument {
  const doc = new GraphDocument();
  const node = (name: string, more: Record<string, Json> = {}) => ({
    id: `node:${name}`,
    value: { kind: "assign", config: {}, ...more } as Json,
  });
  doc.reset([
    { id: "doc", value: { format: "superstep/1" } },
    node("pay", fallback === undefined ? {} : { fallback }),
    node("mend"),
    node("after"),
    { id: "edge:pay->after", value: { from: "pay", to: "after" } },
    { id: "edge:mend->after", value: { from: "mend", to: "after" } },
  ]);
  return doc;
}

function apply(doc: GraphDocument, patch: Patch): void {
  const before = doc.records();
  const done = doc.apply(patch);
  doc.apply(reversed(done));
  expect(doc.records(), "undo brings everything back").toEqual(before);
  doc.apply(done);
}

const fallbackOf = (doc: GraphDocument, node = "pay") => {
  const record = doc.get(`node:${node}`);
  return isObject(record) ? record["fallback"] : undefined;
};

describe("the way of a failure", () => {
  it("is drawn, drawn elsewhere and taken away", () => {
    const doc = desk();
    expect(portsOf(doc, "pay").error).toBeNull();
    apply(doc, connectWay(doc, "pay", { way: "error" }, "mend"));
    expect(fallbackOf(doc)).toEqual({ to: "mend" });
    expect(portsOf(doc, "pay").error).toMatchObject({ id: ERROR_PORT, to: "mend", edge: errorEdge("pay") });
    apply(
      doc,
      moveLine(doc, errorEdge("pay"), "", {
        from: "pay",
        port: ERROR_PORT,
        to: END,
      }),
    );
    expect(fallbackOf(doc)).toEqual({ to: END });
    apply(doc, deleteThings(doc, { edges: [errorEdge("pay")] }));
    expect(fallbackOf(doc)).toBeUndefined();
    expect(errorTarget(doc, errorEdge("pay"))).toBeNull();
  });

  it("keeps what it does there: the key of the error, and doing the work", () => {
    const branch = desk({ to: "mend", into: "problem" });
    apply(branch, connectWay(branch, "pay", { way: "error" }, "after"));
    expect(fallbackOf(branch)).toEqual({ to: "after", into: "problem" });
    const work = desk({ node: "mend" });
    apply(work, connectWay(work, "pay", { way: "error" }, "after"));
    expect(fallbackOf(work)).toEqual({ node: "after" });
    apply(work, connectWay(work, "pay", { way: "error" }, END));
    expect(fallbackOf(work), "the end does no work").toEqual({ to: END });
    const value = desk({ value: { x: 1 } });
    expect(portsOf(value, "pay").error).toMatchObject({ to: null, edge: null });
    apply(value, connectWay(value, "pay", { way: "error" }, "mend"));
    expect(fallbackOf(value)).toEqual({ to: "mend" });
  });

  it("leads to no start, no note and not to the node itself", () => {
    const doc = desk();
    expect(connectWay(doc, "pay", { way: "error" }, "pay").ops).toEqual([]);
    expect(connectWay(doc, "pay", { way: "error" }, "__start__").ops).toEqual([]);
  });

  it("becomes an edge at the plain port, and an edge becomes it at its own", () => {
    const doc = desk({ to: "mend" });
    apply(doc, moveLine(doc, errorEdge("pay"), "", { from: "pay", port: null, to: "mend" }));
    expect(fallbackOf(doc)).toBeUndefined();
    expect(doc.get("edge:pay->mend")).toEqual({ from: "pay", to: "mend" });
    apply(doc, moveLine(doc, "pay->mend", "", { from: "pay", port: ERROR_PORT, to: "mend" }));
    expect(fallbackOf(doc)).toEqual({ to: "mend" });
    expect(doc.has("edge:pay->mend")).toBe(false);
  });

  it("goes with the node that it leads to, or on to what follows it", () => {
    const gone = desk({ to: "mend" });
    apply(gone, deleteThings(gone, { nodes: ["mend"] }));
    expect(fallbackOf(gone)).toBeUndefined();
    const joined = desk({ to: "mend" });
    apply(joined, deleteAndJoin(joined, ["mend"]));
    expect(fallbackOf(joined)).toEqual({ to: "after" });
  });

  it("takes a node in", () => {
    const doc = desk({ to: "mend" });
    const node = { name: "note_it", kind: "assign", config: {}, position: { x: 0, y: 0 } };
    apply(doc, addNodeIntoEdge(doc, node, errorEdge("pay"), ""));
    expect(fallbackOf(doc)).toEqual({ to: "note_it" });
    expect(doc.get("edge:note_it->mend")).toEqual({ from: "note_it", to: "mend" });
  });

  it("follows names, and copies lead to copies", () => {
    const doc = desk({ to: "mend", into: "problem" });
    apply(doc, renameNode(doc, "mend", "repair", []));
    expect(fallbackOf(doc)).toEqual({ to: "repair", into: "problem" });
    const clip = copyNodes(doc, ["pay", "repair"], () => ({ x: 0, y: 0 }));
    apply(doc, pasteClip(doc, clip, { x: 0, y: 0 }, []).patch);
    expect(fallbackOf(doc, "pay_2")).toEqual({ to: "repair_2", into: "problem" });
  });

  it("leaves an edge of that name alone", () => {
    const doc = desk({ to: "mend" });
    const id = errorEdge("pay");
    doc.apply({ ops: [{ id: `edge:${id}`, from: null, to: { id, from: "mend", to: "__end__" } }] });
    expect(errorNode(doc, id)).toBeNull();
    apply(doc, deleteThings(doc, { edges: [id] }));
    expect(fallbackOf(doc)).toEqual({ to: "mend" });
  });
});
