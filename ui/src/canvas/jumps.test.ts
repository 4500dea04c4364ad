import { describe, expect, test } from "vitest";
import type { Schema } from "../components/schema-form/schema";
import { GraphDocument } from "../document/document";
import type { Json } from "../document/types";
import { jumpsOf, leadingKinds, targetsOf } from "./jumps";

const agent: Schema = {
  type: "object",
  properties: { tools: { type: "array", items: { $ref: "#/$defs/Tool" } } },
  $defs: {
    Tool: {
      type: "object",
      properties: {
        name: { type: "string" },
        handoff: { anyOf: [{ $ref: "#/$defs/HandOff" }, { type: "null" }] },
      },
    },
    HandOff: {
      type: "object",
      properties: {
        to: { type: "string", "x-leads-to": { outside: false } },
        outside: { type: "boolean", default: false },
      },
    },
  },
};
const handing = (to: string, outside?: boolean): Json => ({
  name: `to_${to}`,
  handoff: outside === undefined ? { to } : { to, outside },
});

describe("ways that are no edges", () => {
  test("settings name them, in lists and behind references", () => {
    const config = {
      tools: [{ name: "find" }, handing("billing"), handing("sales", false), handing("boss", true)],
    };
    expect(targetsOf(agent, config)).toEqual(["billing", "sales"]);
    expect(targetsOf(agent, { tools: null })).toEqual([]);
  });

  test("those that are edges, lead to nowhere or to the node itself are not drawn", () => {
    const doc = new GraphDocument();
    const tools = ["a", "b", "c", "gone"].map((to) => handing(to));
    doc.reset([
      { id: "doc", value: {} },
      { id: "node:a", value: { kind: "agent", config: { tools } } },
      { id: "node:b", value: { kind: "assign", config: {} } },
      { id: "node:c", value: { kind: "assign", config: {} } },
      { id: "edge:a->b", value: { from: "a", to: "b" } },
    ]);
    const kinds = leadingKinds([
      { kind: "agent", configSchema: agent },
      { kind: "assign", configSchema: { type: "object" } },
    ]);
    expect([...kinds.keys()]).toEqual(["agent"]);
    expect(jumpsOf(doc, kinds)).toEqual([{ id: "jump|a|c", from: "a", to: "c" }]);
  });
});
