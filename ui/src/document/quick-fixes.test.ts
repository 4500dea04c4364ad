import { beforeEach, expect, it } from "vitest";
import { quickFixOf, type Told } from "./quick-fixes";
import { doc } from "./store";

const http = { url: "https://example.org/{article}" };
beforeEach(() => {
  doc.reset([
    { id: "doc", value: {} },
    { id: "node:total", value: { kind: "map", config: { items: "state.orders" } } },
    { id: "node:agent", value: { kind: "agent", config: { tools: [{ name: "find", http }] } } },
    { id: "edge:a", value: { from: "total", to: "agent", each: "state.parts", as: "item" } },
  ]);
});

const unknownKey = (record: string, pointer: string, key: string): Told => ({
  record,
  pointer,
  texts: { message: { pattern: "There is no state key `{key}`.{hint}", args: { key, hint: "" } } },
});

it.each([
  ["a list where a list is taken", "node:total", "/config/items", "orders", "array"],
  ["a list for an edge that goes to each", "edge:a", "/each", "parts", "array"],
  ["a text elsewhere", "node:total", "/config/expression", "name", "string"],
])("adds the key that an expression names: %s", (_what, record, pointer, key, type) => {
  const fix = quickFixOf("unknown-key", unknownKey(record, pointer, key));
  expect(fix?.label).toContain(key);
  fix?.run();
  expect(doc.get(`key:${key}`)).toEqual({ type });
  expect(quickFixOf("unknown-key", unknownKey(record, pointer, key)), "there is one now").toBe(undefined);
});

it("adds the parameter that a request of a tool uses", () => {
  const told: Told = {
    record: "node:agent",
    pointer: "/config/tools/0/http/url",
    texts: {
      message: {
        pattern: "The request uses the argument `{name}`, which the tool does not have.{hint}",
        args: { name: "article", hint: "" },
      },
    },
  };
  quickFixOf("unknown-argument", told)?.run();
  expect(doc.get("node:agent")).toMatchObject({
    config: { tools: [{ parameters: { type: "object", properties: { article: { type: "string" } } } }] },
  });
});

it("offers nothing for what is no name, or where the text says something else", () => {
  expect(quickFixOf("unknown-key", unknownKey("node:total", "/config/items", "no name"))).toBe(undefined);
  expect(quickFixOf("unknown-key", { record: "doc" })).toBe(undefined);
  const other: Told = {
    record: "node:total",
    texts: {
      message: { pattern: "`state.{key}` is not part of what {called} is given", args: { key: "x" } },
    },
  };
  expect(quickFixOf("unknown-key", other)).toBe(undefined);
});
