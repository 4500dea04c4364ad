import { describe, expect, it } from "vitest";
import { GraphDocument } from "./document";
import type { NodeKind } from "../ipc/bindings/NodeKind";
import { usageOf } from "./usage";

const kind = (name: string, properties: object): NodeKind => ({
  kind: name,
  title: name,
  summary: "",
  icon: "box",
  group: "state",
  aliases: [],
  configSchema: { properties },
  defaults: {},
  card: [],
  inside: false,
});
const kinds = [
  kind("model", {
    prompt: { "x-editor": "template" },
    messages: { "x-editor": "state-key" },
    into: { "x-editor": "state-key" },
  }),
  kind("assign", { set: { "x-editor": "assignments" } }),
  kind("code", { source: { "x-editor": "code" } }),
  kind("ask", { context: { "x-editor": "state-keys" } }),
  kind("agent", {
    tools: {
      type: "array",
      items: {
        type: "object",
        properties: {
          handoff: {
            type: "object",
            properties: { active: { type: "string", "x-editor": "state-key" } },
          },
        },
      },
    },
  }),
];

function usage(records: Record<string, unknown>) {
  const doc = new GraphDocument();
  doc.reset(Object.entries(records).map(([id, value]) => ({ id, value: value as never })));
  return usageOf(doc, kinds);
}

describe("usageOf", () => {
  it("tells readers from writers", () => {
    const found = usage({
      doc: {},
      "key:request": {},
      "key:answer": {},
      "key:total": {},
      "key:messages": {},
      "node:a": {
        kind: "model",
        config: { prompt: "Say {{ state.request }}, not state.total", into: "answer", messages: "messages" },
      },
      "node:b": { kind: "assign", config: { set: { total: "state.total + state.answer|length" } } },
      "node:c": { kind: "ask", config: { context: ["answer"] } },
      "edge:e": { from: "a", to: "b", when: "state.request == 'x'" },
    });
    expect(found.get("request")).toEqual({ readers: ["node:a", "edge:e"], writers: [] });
    expect(found.get("answer")).toEqual({ readers: ["node:b", "node:c"], writers: ["node:a"] });
    expect(found.get("total")).toEqual({ readers: ["node:b"], writers: ["node:b"] });
    expect(found.get("messages")).toEqual({ readers: ["node:a"], writers: [] });
  });

  it("knows keys that are named deep in settings, by packets and by what is done after a failure", () => {
    const found = usage({
      doc: {},
      "key:active": {},
      "key:failure": {},
      "key:item": {},
      "node:a": {
        kind: "agent",
        config: { tools: [{ handoff: { active: "active" } }] },
        fallback: { to: "b", into: "failure" },
      },
      "edge:e": { from: "a", each: "[]", as: "item", to: "b" },
    });
    expect(found.get("active")).toEqual({ readers: [], writers: ["node:a"] });
    expect(found.get("failure")).toEqual({ readers: [], writers: ["node:a"] });
    expect(found.get("item")).toEqual({ readers: [], writers: ["edge:e"] });
  });

  it("guesses what a program returns", () => {
    const found = usage({
      doc: {},
      "key:amount": {},
      "key:reason": {},
      "key:price": {},
      "node:a": {
        kind: "code",
        config: { source: "const amount = state.price * 2; return { amount, 'reason': 'x' };" },
      },
    });
    expect(found.get("amount")?.writers).toEqual(["node:a"]);
    expect(found.get("reason")?.writers).toEqual(["node:a"]);
    expect(found.get("price")).toEqual({ readers: ["node:a"], writers: [] });
  });
});
