import { describe, expect, it } from "vitest";
import { GraphDocument } from "./document";
import type { Json } from "./types";
import { routeByWays } from "./routes";

function graph(edges: Record<string, Json>, config: Json = {}): GraphDocument {
  const doc = new GraphDocument();
  const ways = [{ label: "refund" }, { label: "question" }];
  doc.reset([
    { id: "doc", value: {} },
    { id: "node:choose", value: { kind: "router", config: { ways, into: "way", ...(config as object) } } },
    ...["pay", "answer", "question", "note"].map((name) => ({
      id: `node:${name}`,
      value: { kind: "assign", config: {} },
    })),
    ...Object.entries(edges).map(([id, value]) => ({ id: `edge:${id}`, value })),
  ]);
  doc.apply(routeByWays(doc, "choose"));
  return doc;
}

const plain = (to: string) => ({ from: "choose", to });
const edges = (doc: GraphDocument) => doc.names("edge").map((name) => doc.get(`edge:${name}`));

describe("routeByWays", () => {
  it("makes one route of the plain edges, labels by name and then in order", () => {
    const doc = graph({ "choose->question": plain("question"), "choose->pay": plain("pay") });
    expect(edges(doc)).toEqual([
      { from: "choose", route: "state.way", paths: { question: "question", refund: "pay" } },
    ]);
  });

  it("gives what is beside a route a label that is free, or what is left over", () => {
    const route = { from: "choose", route: "state.way", paths: { refund: "pay" } };
    const doc = graph({
      "choose->?": route,
      "choose->answer": plain("answer"),
      "choose->note": plain("note"),
    });
    expect(edges(doc)).toEqual([{ ...route, paths: { refund: "pay", question: "answer" }, default: "note" }]);
  });

  it("keeps an edge for which there is no label", () => {
    const route = {
      from: "choose",
      route: "state.way",
      paths: { refund: "pay", question: "answer" },
      default: "__end__",
    };
    const before = { "choose->?": route, "choose->note": plain("note") };
    expect(edges(graph(before))).toEqual(Object.values(before));
  });

  it("makes the key that the label is written to, when there is none", () => {
    const doc = graph({ a: plain("pay"), b: plain("answer") }, { into: "" });
    expect(doc.get("key:way")).toEqual({ type: "string" });
    expect(doc.get("node:choose")).toMatchObject({ config: { into: "way" } });
    expect(edges(doc)).toMatchObject([{ route: "state.way" }]);
  });
});
