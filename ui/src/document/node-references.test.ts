/** Where settings name nodes: drawn as ways, and followed when a node is renamed. */
import { describe, expect, test } from "vitest";
import type { Schema } from "../components/schema-form/schema";
import type { NodeKind } from "../ipc/bindings/NodeKind";
import { GraphDocument } from "./document";
import { copyNodes, pasteClip } from "./clip";
import { renameNode } from "./edits";
import { renameKey } from "./key-edits";
import { jumpsOf, namedIn, namingKinds } from "./node-references";
import type { Json } from "./types";

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
        active: { type: "string", "x-editor": "state-key", "x-takes": "to" },
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
    expect(namedIn(agent, config)).toEqual([
      { path: ["tools", 1, "handoff", "to"], name: "billing", leads: true },
      { path: ["tools", 2, "handoff", "to"], name: "sales", leads: true },
    ]);
    expect(namedIn(agent, { tools: null })).toEqual([]);
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
    const kinds = namingKinds([
      { kind: "agent", configSchema: agent },
      { kind: "assign", configSchema: { type: "object" } },
    ]);
    expect([...kinds.keys()]).toEqual(["agent"]);
    expect(jumpsOf(doc, kinds)).toEqual([{ id: "jump|a|c", from: "a", to: "c", how: "said" }]);
    // What the host has read in programs is drawn too, once, unless it is an edge, nowhere, or of a node that is gone.
    const read = { a: ["b", "c", "__end__"], b: ["a", "b", "gone"], gone: ["a"] };
    expect(jumpsOf(doc, kinds, read).map(({ id }) => id)).toEqual(["jump|a|c", "jump|a|__end__", "jump|b|a"]);
  });
});

describe("names of nodes in settings", () => {
  const model: Schema = { type: "object", properties: { tools_of: { type: "string", "x-editor": "node" } } };
  const kinds = [
    { kind: "agent", configSchema: agent },
    { kind: "model", configSchema: model },
  ] as unknown as NodeKind[];
  const to = (name: string, outside = false): Json => ({
    name: `to_${name}`,
    handoff: { to: name, outside, active: "active" },
  });
  const desk = () => {
    const doc = new GraphDocument();
    doc.reset([
      { id: "doc", value: {} },
      { id: "key:active", value: { type: "string", enum: ["sales", "billing"], default: "sales" } },
      { id: "node:sales", value: { kind: "agent", config: { tools: [to("billing")] } } },
      { id: "node:billing", value: { kind: "agent", config: { tools: [to("sales"), to("sales", true)] } } },
      { id: "node:ask", value: { kind: "model", config: { tools_of: "billing" } } },
      {
        id: "edge:__start__->?",
        value: {
          from: "__start__",
          route: "state.active or 'sales'",
          paths: { sales: "sales", billing: "billing" },
        },
      },
      {
        id: "edge:ask->?",
        value: { from: "ask", route: "state.topic or 'sales'", paths: { sales: "sales" } },
      },
    ]);
    return doc;
  };

  test("follow the node, and so do the labels of a choice that reads them; other words stay", () => {
    const doc = desk();
    doc.apply(renameNode(doc, "sales", "shop", kinds));
    expect(doc.get("node:billing")).toEqual({
      kind: "agent",
      config: { tools: [{ ...Object(to("shop")), name: "to_sales" }, to("sales", true)] },
    });
    expect(doc.get("key:active")).toEqual({ type: "string", enum: ["shop", "billing"], default: "shop" });
    expect(doc.get("edge:__start__->?")).toEqual({
      from: "__start__",
      route: "state.active or 'shop'",
      paths: { shop: "shop", billing: "billing" },
    });
    expect(doc.get("edge:ask->?"), "its labels come from elsewhere").toEqual({
      from: "ask",
      route: "state.topic or 'sales'",
      paths: { sales: "shop" },
    });
    doc.apply(renameNode(doc, "billing", "money", kinds));
    expect(doc.get("node:ask")).toEqual({ kind: "model", config: { tools_of: "money" } });
    expect(jumpsOf(doc, namingKinds(kinds)).map(({ from, to }) => [from, to])).toEqual([
      ["shop", "money"],
      ["money", "shop"],
    ]);
  });

  test("follow the node in what its key begins with, falls back to, is asked for and has to be", () => {
    const doc = desk();
    const records = (name: string) => ({
      "node:who": {
        kind: "ask",
        config: { schema: { enum: [name, "sales"] }, into: "active" },
        fallback: { value: { active: name, topic: "billing" } },
        invariants: [{ must: `state.active in ['${name}', 'sales']` }, { must: "state.topic != 'billing'" }],
      },
      "edge:each": {
        from: "who",
        each: "state.items",
        as: "item",
        to: "ask",
        with: { active: `'${name}'`, topic: "'billing'" },
        invariants: [{ must: `state.active == '${name}'` }],
      },
    });
    const head = (name: string) => ({
      examples: [{ name: "An invoice", input: { active: name, topic: "billing" } }, { name: "Empty" }],
      invariants: [{ must: `state.active != '${name}' or state.messages` }],
    });
    const before = { ...records("billing"), doc: head("billing") };
    doc.apply({ ops: Object.entries(before).map(([id, to]) => ({ id, from: doc.get(id) ?? null, to })) });
    doc.apply(renameNode(doc, "billing", "invoices", kinds));
    const after = { ...records("invoices"), doc: head("invoices") };
    for (const [id, value] of Object.entries(after)) expect(doc.get(id), id).toEqual(value);
    doc.apply(renameNode(doc, "invoices", "billing", kinds));
    for (const [id, value] of Object.entries(before)) expect(doc.get(id), id).toEqual(value);
  });

  test("follow the node where others write them: ways, choices, assignments and conditions", () => {
    const doc = desk();
    const writing: Schema = {
      type: "object",
      properties: {
        set: { type: "object", "x-editor": "assignments" },
        when: { type: "string", "x-editor": "expression" },
      },
    };
    const all = [
      ...kinds,
      { kind: "router", configSchema: {} },
      { kind: "ask", configSchema: {} },
      { kind: "assign", configSchema: writing },
    ] as unknown as NodeKind[];
    const records = (name: string) => ({
      "node:triage": {
        kind: "router",
        config: { ways: [{ label: name }, { label: "sales" }], otherwise: name, into: "active" },
      },
      "node:who": {
        kind: "ask",
        config: { choices: [{ label: "To billing", value: name }], into: "active" },
        "x-variants": { b: { config: { choices: [{ label: "B", value: name }], into: "active" } } },
      },
      "node:back": {
        kind: "assign",
        config: {
          set: { active: `'${name}'`, topic: "'billing'", other: `state.active == "${name}"` },
          when: `state.active != '${name}'`,
        },
      },
      "node:topic": { kind: "router", config: { ways: [{ label: "billing" }], into: "topic" } },
      "edge:back->a": { from: "back", to: "ask", when: `state.active == '${name}' and state.topic` },
      "edge:back->b": { from: "back", to: "ask", when: "state.topic == 'billing'" },
    });
    const before = records("billing");
    doc.apply({ ops: Object.entries(before).map(([id, to]) => ({ id, from: null, to })) });
    doc.apply(renameNode(doc, "billing", "invoices", all));
    const after = records("invoices");
    for (const [id, value] of Object.entries(after)) expect(doc.get(id), id).toEqual(value);
    doc.apply(renameNode(doc, "invoices", "billing", all));
    for (const [id, value] of Object.entries(before)) expect(doc.get(id), id).toEqual(value);
  });

  test("name the copies when they are copied together", () => {
    const doc = desk();
    const clip = copyNodes(doc, ["sales", "billing"], () => ({ x: 0, y: 0 }));
    doc.apply(pasteClip(doc, clip, { x: 0, y: 0 }, kinds).patch);
    expect(doc.get("node:sales_2")).toMatchObject({ config: { tools: [{ handoff: { to: "billing_2" } }] } });
    expect(doc.get("node:billing_2")).toMatchObject({
      config: { tools: [{ handoff: { to: "sales_2" } }, { handoff: { to: "sales", outside: true } }] },
    });
    expect(doc.get("key:active")).toMatchObject({
      enum: ["sales", "billing", "sales_2", "billing_2"],
      default: "sales",
    });
    const alone = copyNodes(doc, ["sales"], () => ({ x: 0, y: 0 }));
    doc.apply(pasteClip(doc, alone, { x: 0, y: 0 }, kinds).patch);
    expect(doc.get("node:sales_3")).toMatchObject({ config: { tools: [{ handoff: { to: "billing" } }] } });
  });

  test("a key's name is followed further in, too", () => {
    const doc = desk();
    doc.apply(renameKey(doc, "active", "who", kinds));
    expect(doc.get("node:sales")).toMatchObject({ config: { tools: [{ handoff: { active: "who" } }] } });
  });
});
