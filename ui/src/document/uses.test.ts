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
    [
      "javascript",
      "const update = { total: 1 }; update.total += 2; update['total'] = 3; return update",
      "const update = { sum_of: 1 }; update.sum_of += 2; update['sum_of'] = 3; return update",
    ],
    [
      "javascript",
      "const has = 'total' in state; const row = {}; row.total = 1; return { rows: [row] }",
      "const has = 'sum_of' in state; const row = {}; row.total = 1; return { rows: [row] }",
    ],
    [
      "javascript",
      "const all = state.rows.map((row) => { const each = { total: row }; return each }); return { all }",
      "const all = state.rows.map((row) => { const each = { sum_of: row }; return each }); return { all }",
      "offered",
    ],
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
    [
      "python",
      "def node(state):\n    update = {'total': 1}\n    if 'total' in state:\n        update['total'] = 2\n    return update",
      "def node(state):\n    update = {'sum_of': 1}\n    if 'sum_of' in state:\n        update['sum_of'] = 2\n    return update",
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

describe("a key is renamed wherever its name is written", () => {
  const pay = {
    kind: "model",
    config: {},
    summary: "{{ update.total }} of {{ state.total }} total",
    cache: { ttl: 60, key: "state.total" },
    fallback: { value: { total: 0 } },
    invariants: [{ must: "state.total > 0" }],
  };
  const doc = new GraphDocument();
  doc.reset([
    {
      id: "doc",
      value: { name: "G", summary: "All: {{ state.total }}", invariants: [{ must: "state.total" }] },
    },
    { id: "key:total", value: { type: "number" } },
    { id: "key:rows", value: { type: "array", invariants: [{ must: "state.rows|length < state.total" }] } },
    { id: "node:pay", value: pay },
    { id: "node:note", value: { kind: "model", config: {}, fallback: { to: "pay", into: "total" } } },
    {
      id: "edge:0",
      value: { from: "note", each: "state.rows", as: "total", to: "pay", with: { total: "state.total + 1" } },
    },
  ]);
  const uses = usesOf(doc, kinds, {}, { what: "key", name: "total" });
  doc.apply(renameEverywhere(doc, kinds, { what: "key", name: "total" }, "due", []));

  it("in summaries, cache keys, fallbacks and rules", () => {
    expect(doc.get("node:pay")).toEqual({
      ...pay,
      summary: "{{ update.due }} of {{ state.due }} total",
      cache: { ttl: 60, key: "state.due" },
      fallback: { value: { due: 0 } },
      invariants: [{ must: "state.due > 0" }],
    });
    expect(doc.get("node:note")).toMatchObject({ fallback: { to: "pay", into: "due" } });
    expect(doc.get("key:rows")).toMatchObject({ invariants: [{ must: "state.rows|length < state.due" }] });
    expect(doc.head).toMatchObject({
      summary: "All: {{ state.due }}",
      invariants: [{ must: "state.due" }],
    });
  });

  it("in what packets are called in the state of their tasks", () => {
    expect(doc.get("edge:0")).toMatchObject({ as: "due", with: { due: "state.due + 1" } });
  });

  it("and each of these places is listed as a use of it", () => {
    expect(uses.map(({ record, pointer, role }) => `${record}${pointer ?? ""} ${role}`)).toEqual([
      "key:total definition",
      "key:rows/invariants/0/must reads",
      "node:pay/fallback/value/total writes",
      "node:pay/summary reads",
      "node:pay/cache/key reads",
      "node:pay/invariants/0/must reads",
      "node:pay/summary reads",
      "node:note/fallback/into writes",
      "edge:0/with/total reads",
      "edge:0/as writes",
      "edge:0/with/total writes",
      "doc/summary reads",
      "doc/invariants/0/must reads",
    ]);
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
