import { describe, expect, it } from "vitest";
import type { NodeKind } from "../ipc/bindings/NodeKind";
import { fileRecords } from "../test/fakeHost";
import { GraphDocument } from "./document";
import { filledByNodes } from "./inputs";
import type { Json } from "./types";

const properties = { set: { "x-editor": "assignments" }, into: { "x-editor": "state-key" } };
const kinds = ["assign", "model", "router"].map((kind) => ({
  kind,
  configSchema: { properties },
})) as unknown as NodeKind[];

function filled(nodes: Record<string, Json>, edges: Json[]): string[] {
  const doc = new GraphDocument();
  const state = Object.fromEntries(
    ["question", "category", "reply", "tries", "unused"].map((key) => [key, {}]),
  );
  doc.reset(fileRecords({ state, nodes, edges }));
  return [...filledByNodes(doc, kinds)].toSorted();
}
const sets = (set: Record<string, string>): Json => ({ kind: "assign", config: { set } });
const classify = { kind: "model", config: { prompt: "{{ state.question }}", into: "category" } };
const answer = { kind: "model", config: { prompt: "{{ state.category }}", into: "reply" } };

describe("keys that nodes fill in", () => {
  it("are those that are written before they are read, and not what nobody writes", () => {
    expect(
      filled({ classify, answer }, [
        { from: "__start__", to: "classify" },
        { from: "classify", to: "answer" },
        { from: "answer", to: "__end__" },
      ]),
    ).toEqual(["category", "reply"]);
  });

  it("are none that are read on a way around the node that writes them", () => {
    expect(
      filled({ classify, answer }, [
        { from: "__start__", route: "state.question", paths: { a: "classify", b: "answer" } },
        { from: "classify", to: "answer" },
      ]),
    ).toEqual(["reply"]);
  });

  it("are none that a loop reads before its end writes them", () => {
    const nodes = { draft: sets({ reply: "state.tries" }), count: sets({ tries: "1" }) };
    const edges: Json[] = [
      { from: "__start__", to: "draft" },
      { from: "draft", to: "count" },
      { from: "count", to: "draft", when: "state.reply" },
    ];
    expect(filled(nodes, edges)).toEqual(["reply"]);
    expect(filled(nodes, [{ from: "__start__", to: "count" }, ...edges.slice(1)])).toEqual(["tries"]);
  });

  it("of a join are those of all that it waits for; of a node without an edge none are known", () => {
    const nodes = {
      one: sets({ reply: "1" }),
      two: sets({ tries: "1" }),
      last: sets({ category: "state.reply + state.tries" }),
    };
    const edges: Json[] = [
      { from: "__start__", to: "one" },
      { from: "__start__", to: "two" },
    ];
    expect(filled(nodes, [...edges, { from: ["one", "two"], to: "last" }])).toEqual([
      "category",
      "reply",
      "tries",
    ]);
    expect(filled(nodes, [...edges, { from: "one", to: "last" }, { from: "two", to: "last" }])).toEqual([
      "category",
    ]);
    expect(filled(nodes, edges)).toEqual(["category"]);
  });

  it("are found by an edge that reads them after the node that writes them", () => {
    const edges: Json[] = [
      { from: "__start__", to: "classify" },
      { from: "classify", route: "state.category", paths: { a: "__end__" } },
    ];
    expect(filled({ classify }, edges)).toEqual(["category"]);
  });

  it("are those of packets, which are all that their tasks read, and what is written when a node fails", () => {
    const worker = {
      kind: "model",
      config: { prompt: "{{ state.tries }} {{ state.category }}", into: "reply" },
    };
    const failing = { ...classify, fallback: { to: "report", into: "unused" } };
    expect(
      filled({ classify: failing, worker, report: sets({ reply: "state.unused" }) }, [
        { from: "__start__", to: "classify" },
        { from: "classify", each: "state.category", as: "tries", to: "worker", with: { question: "1" } },
      ]),
    ).toEqual(["category", "reply", "tries", "unused"]);
  });
});
