import { describe, expect, it } from "vitest";
import { FAKE_KINDS } from "../test/fakeHost";
import type { NodeKind } from "../ipc/bindings/NodeKind";
import { GraphDocument } from "./document";
import { renameEverywhere, usesOf } from "./rename";
import type { Json } from "./types";
import { renamedAt } from "./uses";

const kind = (name: string, properties: Record<string, Json>): NodeKind => ({
  ...(FAKE_KINDS[0] as NodeKind),
  kind: name,
  configSchema: { type: "object", properties },
});

const kinds: NodeKind[] = [
  kind("model", {
    prompt: { type: "string", "x-editor": "template" },
    into: { type: "string", "x-editor": "state-key" },
    goto: { type: "string", "x-editor": "node" },
  }),
  kind("set", { set: { type: "object", "x-editor": "assignments" } }),
  kind("code", {
    javascript: { type: "string", "x-editor": "code", "x-language-of": "language" },
    keys: { type: "array", "x-editor": "state-keys" },
  }),
];

const PROGRAM = [
  "const all = state.total + state['total'] + state.totals;",
  "return { total: all, goto: 'ask' };",
].join("\n");

function graph(): GraphDocument {
  const doc = new GraphDocument();
  doc.reset([
    { id: "doc", value: { name: "G", input: ["total"], examples: [{ input: { total: 1 } }] } },
    { id: "key:total", value: { type: "number" } },
    {
      id: "node:ask",
      value: { kind: "model", config: { prompt: "Is {{ state.total }} right?", into: "total", goto: "sum" } },
    },
    { id: "node:put", value: { kind: "set", config: { set: { total: "state.total + 1" } } } },
    { id: "node:sum", value: { kind: "code", config: { javascript: PROGRAM, keys: ["total"] } } },
    { id: "edge:ask->sum", value: { from: "ask", to: "sum", when: "state.total > 2" } },
  ]);
  return doc;
}

const brief = (doc: GraphDocument, what: "key" | "node", name: string) =>
  usesOf(doc, kinds, {}, { what, name }).map(
    ({ record, pointer, role, program }) => `${record}${pointer ?? ""} ${role}${program ? " ?" : ""}`,
  );

describe("uses of a key", () => {
  it("are found in fields, expressions, templates, edges, programs and the head", () => {
    expect(brief(graph(), "key", "total")).toEqual([
      "key:total definition",
      "node:ask/config/into writes",
      "node:ask/config/prompt reads",
      "node:put/config/set/total writes",
      "node:put/config/set/total reads",
      "node:sum/config/keys reads",
      "node:sum/config/javascript reads ?",
      "node:sum/config/javascript reads ?",
      "node:sum/config/javascript writes ?",
      "edge:ask->sum/when reads",
      "doc/input/0 names",
      "doc/examples/0/input/total names",
    ]);
  });

  it("are renamed exactly, and in programs only where that was agreed to", () => {
    const doc = graph();
    const uses = usesOf(doc, kinds, {}, { what: "key", name: "total" });
    const programs = uses.filter((use) => use.program === true);
    doc.apply(renameEverywhere(doc, kinds, { what: "key", name: "total" }, "sum_of", programs.slice(0, 1)));
    expect(doc.get("node:sum")).toMatchObject({
      config: { javascript: PROGRAM.replace("state.total ", "state.sum_of "), keys: ["sum_of"] },
    });
    expect(doc.get("node:put")).toMatchObject({ config: { set: { sum_of: "state.sum_of + 1" } } });
    expect(doc.get("node:ask")).toMatchObject({ config: { prompt: "Is {{ state.sum_of }} right?" } });
    expect(doc.get("edge:ask->sum")).toMatchObject({ when: "state.sum_of > 2" });
    expect(doc.head["examples"]).toEqual([{ input: { sum_of: 1 } }]);
  });

  it("leave programs alone when nothing was agreed to", () => {
    const doc = graph();
    doc.apply(renameEverywhere(doc, kinds, { what: "key", name: "total" }, "x", []));
    expect(doc.get("node:sum")).toMatchObject({ config: { javascript: PROGRAM } });
  });

  it("are quoted in programs when the new name is no word", () => {
    const oneUse = (text: string, word: string) => {
      const from = text.indexOf(word);
      return { record: "", pointer: "", role: "reads", at: { from, to: from + word.length }, text } as const;
    };
    const renamed = (text: string) => renamedAt(text, oneUse(text, "total"), "due date");
    expect(renamed("state.total + 1")).toBe('state["due date"] + 1');
    expect(renamed("state?.total + 1")).toBe('state?.["due date"] + 1');
    expect(renamed("state['total']")).toBe("state['due date']");
    expect(renamed("{ total: 1 }")).toBe('{ "due date": 1 }');
  });

  const CASES: readonly (readonly [string, string, string, ("offered" | "ticked")?])[] = [
    ["javascript", "return { total, other: 1 }", "return { sum_of: total, other: 1 }"],
    ["javascript", "const { total } = state; return {}", "const { sum_of: total } = state; return {}"],
    ["javascript", "const { total: t = 2 } = state;", "const { sum_of: t = 2 } = state;"],
    ["javascript", "state.total += `${state.total}`;", "state.sum_of += `${state.sum_of}`;"],
    [
      "javascript",
      "return state?.['total'] ? { 'total': 1 } : { total() {} }",
      "return state?.['sum_of'] ? { 'sum_of': 1 } : { total() {} }",
    ],
    [
      "javascript",
      "return [new Command({ update: { total }, goto: 'a' })]",
      "return [new Command({ update: { sum_of: total }, goto: 'a' })]",
    ],
    ["javascript", "return { payment: { total: 1 } }", "return { payment: { sum_of: 1 } }", "offered"],
    [
      "javascript",
      "const row = { total }; send({ total: 2 })",
      "const row = { sum_of: total }; send({ sum_of: 2 })",
      "offered",
    ],
    ["javascript", "const f = (x) => ({ total: x })", "const f = (x) => ({ sum_of: x })", "offered"],
    ["javascript", "const total = order.total; // state.total", "const total = order.total; // state.total"],
    ["javascript", "const text = 'state.total'; mystate.total", "const text = 'state.total'; mystate.total"],
    ["python", "return {'total': 1, 'payment': 2}", "return {'sum_of': 1, 'payment': 2}"],
    [
      "python",
      'def node(state):\n    return {"total": state["total"] + state.get(\'total\', 0)}',
      'def node(state):\n    return {"sum_of": state["sum_of"] + state.get(\'sum_of\', 0)}',
    ],
    [
      "python",
      "return Command(update={'total': 1}, goto='x')",
      "return Command(update={'sum_of': 1}, goto='x')",
    ],
    ["python", "return {'payment': {'total': 1}}", "return {'payment': {'sum_of': 1}}", "offered"],
    ["python", "total = 1  # state['total']", "total = 1  # state['total']"],
  ];

  for (const [language, source, expected, how = "ticked"] of CASES)
    it(`are found by the syntax of ${language}: ${source}`, () => {
      const doc = new GraphDocument();
      doc.reset([
        { id: "doc", value: { name: "G" } },
        { id: "key:total", value: { type: "number" } },
        { id: "node:sum", value: { kind: "code", config: { language, javascript: source } } },
      ]);
      const programs = usesOf(doc, kinds, {}, { what: "key", name: "total" }).filter((use) => use.program);
      expect(programs.some(({ unsure }) => unsure)).toBe(how === "offered");
      doc.apply(renameEverywhere(doc, kinds, { what: "key", name: "total" }, "sum_of", programs));
      expect(doc.get("node:sum")).toMatchObject({ config: { javascript: expected } });
    });
});

describe("uses of a node", () => {
  it("are edges, settings that name it and destinations in programs", () => {
    expect(brief(graph(), "node", "sum")).toEqual([
      "node:sum definition",
      "edge:ask->sum/to to",
      "node:ask/config/goto names",
    ]);
    expect(brief(graph(), "node", "ask")).toEqual([
      "node:ask definition",
      "edge:ask->sum/from from",
      "node:sum/config/javascript names ?",
    ]);
  });

  it("name what the host has read in a file", () => {
    const uses = usesOf(graph(), kinds, { put: ["sum"] }, { what: "node", name: "sum" });
    expect(uses.at(-1)).toMatchObject({ record: "node:put", pointer: null, role: "names" });
  });

  it("are renamed with the programs that were agreed to, also the node's own", () => {
    const doc = graph();
    const uses = usesOf(doc, kinds, {}, { what: "node", name: "ask" });
    const programs = uses.filter((use) => use.program === true);
    doc.apply(renameEverywhere(doc, kinds, { what: "node", name: "ask" }, "question", programs));
    expect(doc.get("node:sum")).toMatchObject({
      config: { javascript: PROGRAM.replace("'ask'", "'question'") },
    });
    expect(doc.get("edge:ask->sum")).toMatchObject({ from: "question", to: "sum" });
  });
});
