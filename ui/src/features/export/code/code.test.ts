/** The programs, held against the example graphs: what they say is what each graph takes and asks. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "vite";
import { describe, expect, it } from "vitest";
import { GraphDocument } from "../../../document/document";
import type { Json, JsonObject } from "../../../document/types";
import { samplesOf } from "../../../debugger/run/run-input";
import { codeFacts } from "./facts";
import { pythonCode, pythonLiteral } from "./python";
import { rustCode, rustValue } from "./rust";
import { quoted, shellCode } from "./shell";
import { typescriptCode } from "./typescript";

const GRAPHS = join(import.meta.dirname, "../../../../../graphs");

function documentOf(file: JsonObject): GraphDocument {
  const { state, nodes, ...head } = file;
  const records = (section: string, entries: Json | undefined) =>
    Object.entries((entries ?? {}) as JsonObject).map(([name, value]) => ({
      id: `${section}:${name}`,
      value,
    }));
  const doc = new GraphDocument();
  doc.reset([{ id: "doc", value: head }, ...records("key", state), ...records("node", nodes)]);
  return doc;
}

const examples = readdirSync(GRAPHS).map((name) => {
  const path = join(GRAPHS, name, "graph.json");
  return { name, path, doc: documentOf(JSON.parse(readFileSync(path, "utf8")) as JsonObject) };
});

const factsOf = ({ path, doc }: (typeof examples)[number], input?: JsonObject) =>
  codeFacts(doc, path, { input: input ?? (samplesOf(doc.head)[0]?.input as JsonObject | undefined) ?? {} });

const example = (name: string) => examples.find((each) => each.name === name)!;

describe("programs that run the examples", () => {
  it.each(examples)("$name: the file and the sample's input stand in each", (each) => {
    const facts = factsOf(each);
    expect(facts.input).toEqual(samplesOf(each.doc.head)[0]?.input);
    const typescript = typescriptCode(facts);
    expect(parseSync("run.ts", typescript).errors).toEqual([]);
    for (const code of [shellCode(facts), pythonCode(facts), typescript, rustCode(facts)]) {
      expect(code).toContain(each.path);
      for (const key of Object.keys(facts.input)) expect(code).toContain(`"${key}"`);
      expect(code).not.toMatch(/undefined|NaN|\[object/);
    }
  });

  it("answer what the graph asks, with its first choice", () => {
    const facts = factsOf(example("refund-desk"));
    expect(facts.asking).toContainEqual({
      node: "review",
      answer: { decision: "approve" },
      labels: ["Approve", "Offer half", "Reject"],
    });
    expect(shellCode(facts)).toContain(`superstep resume "$thread" --answer '{ "decision": "approve" }'`);
    expect(pythonCode(facts)).toContain(
      'if question["node"] == "review":\n        # Choices: Approve, Offer half, Reject.\n        return { "decision": "approve" }',
    );
    expect(typescriptCode(facts)).toContain(
      'if (question.node === "review") return { "decision": "approve" };',
    );
    expect(rustCode(facts)).toContain('json!({ "decision": "approve" })');
  });

  it("have no lines about answers where nobody can be asked", () => {
    const facts = factsOf(example("counter"));
    expect(facts.mayAsk).toBe(false);
    for (const code of [shellCode(facts), pythonCode(facts), typescriptCode(facts), rustCode(facts)])
      expect(code).not.toMatch(/answer|resume|Interrupted/i);
    expect(shellCode(facts)).toBe(
      `superstep run ${example("counter").path} \\\n  --input '{ "limit": 5 }'\n`,
    );
  });

  it("know that programs, approvals and graphs within may ask", () => {
    const asks = (name: string) => factsOf(example(name)).mayAsk;
    expect([asks("notes-agent"), asks("quote-desk"), asks("supervisor")]).toEqual([true, true, true]);
  });
});

describe("an input that nobody has given", () => {
  it("has the keys without a default, of their types", () => {
    const { doc } = example("quote-desk");
    const { input } = codeFacts(doc, undefined, { input: {} });
    expect(Object.keys(input)).toEqual(["items"]);
    expect(Array.isArray(input["items"])).toBe(true);
    const chat = codeFacts(example("chat").doc, undefined, { input: {} });
    expect(chat.input["messages"]).toEqual([{ type: "human", content: "Hello" }]);
    expect(chat.path).toBe("graph.json");
  });
});

describe("values in a language", () => {
  const value = { a: true, b: null, c: "null \\ \" 'x' é\u0007", d: [false] };
  it("are words of the shell", () => {
    expect(quoted("graphs/a b.json")).toBe("'graphs/a b.json'");
    expect(quoted("it's")).toBe(`'it'\\''s'`);
    expect(quoted("graphs/a.json")).toBe("graphs/a.json");
  });
  it("are Python's, whose words in texts stay", () => {
    expect(pythonLiteral(value)).toBe(
      `{ "a": True, "b": None, "c": "null \\\\ \\" 'x' é\\u0007", "d": [False] }`,
    );
  });
  it("are Rust's, with its escapes, and parsed where the macro would not hold them", () => {
    expect(rustValue(value, 0)).toContain(`é\\u{0007}"`);
    const large = { text: `${"x".repeat(2000)}"#` };
    expect(rustValue(large, 0)).toMatch(/^Value::from\(serde_json::from_str::<serde_json::Value>\(r##"/);
  });
});
