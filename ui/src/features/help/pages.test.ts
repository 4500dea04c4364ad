import { describe, expect, it } from "vitest";
import { GraphDocument } from "../../document/document";
import { errorEdge } from "../../document/error-ways";
import { END, type JsonObject } from "../../document/types";
import { langGraphWords } from "../../lib/langgraph";
import type { Selection } from "../../state/session";
import { FAKE_KINDS } from "../../test/fakeHost";
import { helpOf } from "./pages";

const doc = new GraphDocument();
doc.reset([
  { id: "doc", value: {} },
  { id: "key:log", value: { type: "array", reducer: "append", description: "What was done." } },
  { id: "key:seen", value: { type: "array", channel: "topic" } },
  { id: "node:a", value: { kind: "assign", config: {}, fallback: { to: "b" } } },
  { id: "node:b", value: { kind: "assign", config: {} } },
  { id: "edge:plain", value: { from: "__start__", to: "a" } },
  { id: "edge:when", value: { from: "a", to: "b", when: "true" } },
  { id: "edge:route", value: { from: "a", route: "state.x", paths: { on: "b" } } },
  { id: "edge:each", value: { from: "a", to: "b", each: "state.log", as: "item" } },
  { id: "edge:join", value: { from: ["a", "b"], to: END } as JsonObject },
]);

const help = (selection: Partial<Selection>) =>
  helpOf(doc, { nodes: [], edges: [], key: null, ...selection }, FAKE_KINDS, "F1");
const rows = (selection: Partial<Selection>) =>
  help(selection).sections.flatMap((section) => section.rows ?? []);
const chosen = (selection: Partial<Selection>) =>
  rows(selection)
    .filter((row) => row.chosen)
    .map((row) => [row.term, ...(row.words ?? [])]);

describe("help on what is selected", () => {
  it("is about the form of an edge, with LangGraph's word", () => {
    const said = (edge: string) => {
      const { title, words } = help({ edges: [edge] });
      return [title, ...(words ?? [])];
    };
    expect(["plain", "when", "route", "each", "join", errorEdge("a")].map(said)).toEqual([
      ["Edge: Always", "add_edge"],
      ["Edge: When", "add_conditional_edges"],
      ["Edge: Route", "add_conditional_edges"],
      ["Edge: For each", "Send"],
      ["Edge: Join", "add_edge([a, b], c)"],
      ["Edge: On error", "error_handler"],
    ]);
    expect(chosen({ edges: ["each"] })).toEqual([["For each", "Send"]]);
    expect(
      rows({ edges: ["each"] }).flatMap((row) => row.code ?? []),
      "and its settings",
    ).toEqual(["each", "as", "with"]);
  });

  it("is about the reducer and the lifetime of a state key, and what else would fit", () => {
    expect(help({ key: "log" }).text).toBe("What was done.");
    expect(chosen({ key: "log" })).toEqual([
      ["Append", "operator.add", "BinaryOperatorAggregate"],
      ["Kept in the thread", "LastValue", "BinaryOperatorAggregate"],
    ]);
    const offered = rows({ key: "log" }).map((row) => row.code);
    expect(offered).toContain("add_messages");
    expect(offered, "no list is multiplied").not.toContain("multiply");
    expect(chosen({ key: "seen" }), "a channel has no reducer").toEqual([
      ["Writes of the last step", "Topic"],
    ]);
  });

  it("is about the kind of a node, the ends, and what can be done with several nodes", () => {
    expect(help({ nodes: ["a"] }).title).toBe("Assign");
    expect(help({ nodes: [END] })).toMatchObject({ title: "End", words: ["END"] });
    const many = help({ nodes: ["a", "b"] });
    expect(many.title).toBe("2 selected");
    expect(help({ nodes: ["a"], edges: ["when"] }).title, "an edge counts").toBe("2 selected");
    expect(many.sections.flatMap((section) => section.commands ?? [])).toEqual(
      expect.arrayContaining(["graph.extract", "edit.frame", "align.left", "edit.duplicate"]),
    );
  });

  it("is about the graph when nothing is selected, and when what was selected is gone", () => {
    for (const selection of [{}, { nodes: ["gone"] }, { edges: ["gone"] }, { key: "gone" }])
      expect(help(selection).title).toBe("Graph");
    expect(rows({}).some((row) => row.words?.includes("UntrackedValue"))).toBe(true);
  });
});

it("LangGraph's words are known for every reducer, lifetime and form that is offered", () => {
  const without = rows({}).filter((row) => (row.words ?? []).length === 0);
  expect(without).toEqual([]);
  expect(langGraphWords("kind", "toString")).toEqual([]);
});
