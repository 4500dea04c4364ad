import { describe, expect, it } from "vitest";
import { GraphDocument } from "./document";
import { ERROR_PORT } from "./error-ways";
import { leavingBy } from "./ports";
import { END, START, type Json } from "./types";
import { fittingNodes, refusalOf } from "./wire-fit";

function desk(): GraphDocument {
  const doc = new GraphDocument();
  const node = (name: string, kind = "assign", more: Record<string, Json> = {}) => ({
    id: `node:${name}`,
    value: { kind, config: {}, ...more } as Json,
  });
  doc.reset([
    { id: "doc", value: { format: "superstep/1" } },
    node("choose", "router", { config: { ways: [{ label: "a" }, { label: "b" }], into: "way" } }),
    node("one", "assign", { fallback: { to: "two" } }),
    node("two"),
    node("words", "note"),
    node("loose"),
    { id: "edge:s", value: { from: START, to: "choose" } },
    { id: "edge:r", value: { from: "choose", route: "state.way", paths: { a: "one" } } },
    { id: "edge:p", value: { from: "one", to: "two" } },
  ]);
  return doc;
}
const doc = desk();

describe("what a wire may be joined to", () => {
  it("refuses what a run can never go, and says which of the reasons it is", () => {
    const start = { node: START, side: "out" } as const;
    expect(refusalOf(doc, start, END)).toBe("start-end");
    expect(refusalOf(doc, start, "one")).toBeNull();
    expect(refusalOf(doc, { node: "one", side: "out" }, START)).toBe("into-start");
    expect(refusalOf(doc, { node: "one", side: "in" }, END)).toBe("from-end");
    expect(refusalOf(doc, { node: END, side: "in" }, START)).toBe("start-end");
    expect(refusalOf(doc, { node: "one", side: "out" }, "words")).toBe("note");
  });

  it("refuses a wire that is there already, by each way for itself", () => {
    expect(refusalOf(doc, { node: "one", side: "out" }, "two")).toBe("exists");
    expect(refusalOf(doc, { node: "two", side: "in" }, "one")).toBe("exists");
    const from = (port: string) => ({ node: "choose", side: "out" as const, leaving: leavingBy(port) });
    expect(refusalOf(doc, from("=a"), "one")).toBe("exists");
    expect(refusalOf(doc, from("=b"), "one")).toBeNull();
    // Which way is meant is asked.
    expect(refusalOf(doc, { node: "choose", side: "out" }, "one")).toBeNull();
  });

  it("lets a failure go on anywhere but to the node itself", () => {
    const error = { node: "one", side: "out" as const, leaving: leavingBy(ERROR_PORT) };
    expect(refusalOf(doc, error, "one")).toBe("own-error");
    expect(refusalOf(doc, error, "two")).toBe("exists");
    expect(refusalOf(doc, error, "loose")).toBeNull();
    expect(refusalOf(doc, { node: "one", side: "out" }, "one")).toBeNull();
  });

  it("offers first what waits for a wire, and last the node itself", () => {
    expect(fittingNodes(doc, { node: "one", side: "out" })).toEqual(["loose", "choose", "one"]);
    expect(fittingNodes(doc, { node: "loose", side: "in" })).toEqual(["two", "choose", "one", "loose"]);
  });
});
