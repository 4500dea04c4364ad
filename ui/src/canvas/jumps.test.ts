import { describe, expect, it } from "vitest";
import type { Schema } from "../components/schema-form/schema";
import { GraphDocument } from "../document/document";
import { nodeOf } from "../document/types";
import { edgeToGoal, goalToEdge, removeGoal } from "./jumps";
import { Scene } from "./window";

const LEADING = new Map<string, Schema>([
  [
    "code",
    {
      type: "object",
      properties: { destinations: { type: "array", "x-leads-to": {} }, source: { type: "string" } },
    },
  ],
]);

function graph(source: string, destinations: string[] = []): GraphDocument {
  const doc = new GraphDocument();
  doc.reset([
    { id: "doc", value: {} },
    {
      id: "node:decide",
      value: { kind: "code", config: { source, ...(destinations.length > 0 && { destinations }) } },
    },
    { id: "node:a", value: { kind: "assign", config: {} } },
    { id: "edge:decide->a", value: { from: "decide", to: "a" } },
  ]);
  return doc;
}

describe("ways without an edge", () => {
  it("an edge and a goal of the program become each other", () => {
    const doc = graph("return {}");
    doc.apply(edgeToGoal(doc, "decide->a", LEADING));
    expect(doc.has("edge:decide->a")).toBe(false);
    expect(nodeOf(doc.get("node:decide")).config["destinations"]).toEqual(["a"]);
    const jump = { id: "j", from: "decide", to: "a", how: "said" } as const;
    doc.apply(goalToEdge(doc, jump, LEADING));
    expect(nodeOf(doc.get("node:decide")).config).toEqual({ source: "return {}" });
    expect(doc.get("edge:decide->a")).toEqual({ from: "decide", to: "a" });
    expect(removeGoal(doc, jump, LEADING).ops, "there is none left").toEqual([]);
    expect(edgeToGoal(doc, "decide->a", new Map()).ops, "its kind has no goals").toEqual([]);
  });

  it("tells what is said from what is not known", () => {
    const how = (doc: GraphDocument) => {
      const scene = new Scene(doc);
      scene.setLeading(LEADING);
      return scene.jumps().map((jump) => [jump.to, jump.how]);
    };
    const goes = "return new Command({ goto: state.next })";
    expect(how(graph(goes))).toEqual([["decide", "unknown"]]);
    expect(how(graph(goes, ["__end__"])), "its goals are listed").toEqual([["__end__", "said"]]);
    expect(how(graph("return { a: 1 }"))).toEqual([]);
  });
});
