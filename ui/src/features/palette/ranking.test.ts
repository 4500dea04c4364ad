import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { GraphDocument } from "../../document/document";
import type { Json } from "../../document/types";
import { describedKinds } from "../../test/kinds";
import { fileRecords } from "../../test/fakeHost";
import { t, type TextKey } from "../../lib/texts";
import { kindEntries, rankEntries } from "../command-palette/ranking";
import { hintEntries } from "./hints";
import { neighbours, ranked, shapeWords, type Findable } from "./ranking";

const graphs = resolve(import.meta.dirname, "../../../../graphs");
const examples = readdirSync(graphs).map((id) => {
  const file = JSON.parse(readFileSync(resolve(graphs, id, "graph.json"), "utf8")) as { [key: string]: Json };
  return { id, name: String(file["name"]), text: String(file["description"]), records: fileRecords(file) };
});
const kinds = describedKinds();
const items: (Findable & { id: string })[] = [
  ...kinds.map(({ kind, title, summary, aliases, group }) => ({
    id: kind,
    category: [t(`forms.palette.group.${group}` as TextKey), group],
    title,
    text: summary,
    words: [kind, ...aliases],
  })),
  ...hintEntries(),
  ...examples.map(({ id, name, text, records }) => ({
    id: `pattern:${id}`,
    title: name,
    text,
    words: [id, ...shapeWords(records)],
    many: true,
  })),
];
const first = (query: string) => ranked(items, query)[0]?.id;

/** What people call a thing who come from elsewhere, and what they mean by it here. */
const WORDS: readonly (readonly [word: string, kind: string])[] = [
  ["llm", "model"],
  ["LLM", "model"],
  ["gpt", "model"],
  ["chat", "model"],
  ["prompt", "model"],
  ["openai", "model"],
  ["classify", "router"],
  ["if", "router"],
  ["if else", "router"],
  ["switch", "router"],
  ["condition", "router"],
  ["branch", "router"],
  ["add_conditional_edges", "router"],
  ["loop", "map"],
  ["foreach", "map"],
  ["for each", "map"],
  ["parallel", "map"],
  ["send", "map"],
  ["human", "ask"],
  ["human in the loop", "ask"],
  ["human-in-the-loop", "ask"],
  ["approval", "ask"],
  ["input", "ask"],
  ["interrupt", "ask"],
  ["js", "code"],
  ["javascript", "code"],
  ["python", "code"],
  ["function", "code"],
  ["transform", "assign"],
  ["set", "assign"],
  ["merge", "assign"],
  ["api", "http"],
  ["webhook", "hint:start"],
  ["schedule", "hint:start"],
  ["retry", "hint:retry"],
  ["cache", "hint:cache"],
  ["guardrail", "hint:guardrail"],
  ["email", "http"],
  ["sql", "code"],
  ["json", "code"],
  ["parse", "code"],
  ["csv", "code"],
  ["aggregate", "assign"],
  ["request", "http"],
  ["http", "http"],
  ["mcp", "agent"],
  ["tool", "tools"],
  ["ToolNode", "tools"],
  ["sub", "graph"],
  ["subgraph", "graph"],
  ["sub-graph", "graph"],
  ["StateGraph", "graph"],
  ["workflow", "graph"],
  ["rag", "retrieve"],
  ["vector", "retrieve"],
  ["embedding", "retrieve"],
  ["documents", "retrieve"],
  ["react agent", "agent"],
  ["create_react_agent", "agent"],
  ["Command", "code"],
  ["goto", "router"],
  ["wait", "delay"],
  ["sleep", "delay"],
  ["comment", "note"],
  ["memory", "memory"],
  ["database", "store"],
  ["code", "code"],
  ["map", "map"],
  ["agent", "agent"],
];

describe("the search for nodes", () => {
  it("knows every kind", () => {
    expect(kinds).toHaveLength(15);
  });

  it.each(WORDS)("finds by “%s” the kind %s first", (word, kind) => {
    expect(first(word)).toBe(kind);
  });

  it.each(WORDS.filter(([, kind]) => !kind.startsWith("hint:")))(
    "offers by “%s” the kind %s in the command palette",
    (word, kind) => {
      const found = rankEntries(kindEntries(kinds), word, []).map((entry) => entry.kind);
      expect(found).toContain(kind);
    },
  );

  it("shows patterns below: by their names, and by what their edges do", () => {
    const found = (query: string) => ranked(items, query).map((item) => item.id);
    expect(found("parallel")).toContain("pattern:research-fan-out");
    expect(found("merge")).toContain("pattern:research-fan-out");
    expect(found("loop")).toContain("pattern:counter");
    expect(found("counter")[0]).toBe("pattern:counter");
    expect(found("fan-out")).toContain("pattern:research-fan-out");
  });

  it("finds all kinds of a category by its name, and first what is called so", () => {
    for (const group of new Set(kinds.map((kind) => kind.group))) {
      const found = ranked(items, group).map(({ id }) => id);
      for (const { kind } of kinds.filter((each) => each.group === group)) expect(found).toContain(kind);
    }
    expect(first("Knowledge")).toBe("retrieve");
    expect(first("code")).toBe("code");
    expect(ranked(items, "peo").map(({ id }) => id)).toContain("ask");
  });

  it("finds nothing for what is nothing", () => {
    expect(ranked(items, "zzzq")).toEqual([]);
  });

  it("puts a node of the graph before a kind when its name is typed whole", () => {
    const kind = { title: "Router", text: "", words: ["router"], fit: 9, used: 9 };
    const node = { title: "router", text: "", words: [], isThere: true };
    expect(ranked([kind, node], "Router")[0]).toBe(node);
    expect(ranked([kind, node], "rout")[0]).toBe(kind);
  });

  it("puts what fits and what is used first among what matches as well", () => {
    const equal = (fit: number, used: number): Findable => ({
      title: "Thing",
      text: "",
      words: [],
      fit,
      used,
    });
    const [plain, used, fits] = [equal(0, 0), equal(0, 9), equal(1, 0)];
    expect(ranked([plain, used], "thing")).toEqual([used, plain]);
    expect(ranked([plain, used, fits], "")[0]).toBe(used);
    expect(ranked([plain, used, equal(2, 0)], "thing")[0]?.fit).toBe(2);
    // A better match is better, whatever is used.
    const named: Findable = { title: "Other", text: "", words: ["thing"] };
    expect(ranked([{ ...used, title: "Things to do" }, named], "thing")[0]).toBe(named);
  });
});

describe("neighbours", () => {
  it("counts what takes over on a failure", () => {
    const document = new GraphDocument();
    document.reset(
      fileRecords({
        nodes: { a: { kind: "http", fallback: { to: "b" } }, b: { kind: "assign" }, c: { kind: "http" } },
        edges: [{ from: "a", to: "c" }],
      }),
    );
    expect([...neighbours([document.records()], "http", "error")]).toEqual([["assign", 1]]);
    expect([...neighbours([document.records()], "http", "after")]).toEqual([["http", 1]]);
  });

  it("counts what follows and what comes before, by every form of edge", () => {
    const document = new GraphDocument();
    document.reset(
      fileRecords({
        nodes: { a: { kind: "ask" }, r: { kind: "router" }, m: { kind: "model" }, n: { kind: "model" } },
        edges: [
          { from: "a", to: "r" },
          { from: "r", route: "state.way", paths: { x: "m", y: "n" }, default: "__end__" },
          { from: ["m", "n"], to: "a" },
          { from: "__start__", to: "a" },
        ],
      }),
    );
    expect([...neighbours([document.records()], "__start__", "after")]).toEqual([["ask", 1]]);
    expect([...neighbours([document.records()], "router", "after")]).toEqual([["model", 2]]);
    expect([...neighbours([document.records()], "ask", "before")]).toEqual([["model", 2]]);
    expect(neighbours([document.records()], "", "after").size).toBe(0);
  });
});
