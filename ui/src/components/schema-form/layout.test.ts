import { describe, expect, it } from "vitest";
import { arranged, countSet, shownProperties } from "./layout";
import type { Schema } from "./schema";

const fields: [string, Schema][] = [
  ["model", {}],
  ["system", {}],
  ["prompt", {}],
  ["temperature", { default: 1 }],
  ["tools", {}],
  ["extra", {}],
];
const names = (list: readonly [string, Schema][]) => list.map(([name]) => name);

describe("the layout of a form", () => {
  const schema: Schema = {
    "x-form": {
      front: ["model", "prompt", "system"],
      groups: [
        { title: "Tools", fields: ["tools", "hidden"] },
        { title: "None", fields: ["hidden"] },
        { title: "Settings", fields: ["temperature"] },
      ],
    },
  };

  it("puts the first fields in their order, then what nobody placed", () => {
    expect(names(arranged(schema, fields).front)).toEqual(["model", "prompt", "system", "extra"]);
  });

  it("folds the others into groups, without fields that are not shown", () => {
    const { groups } = arranged(schema, fields);
    expect(groups.map((group) => [group.title, names(group.fields)])).toEqual([
      ["Tools", ["tools"]],
      ["Settings", ["temperature"]],
    ]);
  });

  it("leaves a form without a layout as it is", () => {
    expect(arranged({}, fields)).toEqual({ front: fields, groups: [] });
  });
});

it("counts what has a value of its own", () => {
  expect(countSet(fields, {})).toBe(0);
  expect(countSet(fields, { temperature: 1, tools: [], system: "", extra: null })).toBe(0);
  expect(countSet(fields, { temperature: 0, tools: ["a"], extra: false })).toBe(3);
});

describe("fields that depend on others", () => {
  const properties: [string, Schema][] = [
    ["language", { type: "string", enum: ["javascript", "python"], default: "javascript" }],
    ["source", { type: "string", "x-editor": "code", "x-language-of": "language" }],
    ["module", { type: "string", "x-if": { language: "python" } }],
  ];
  const names = (object: Record<string, unknown>) =>
    shownProperties(properties, object).map(([name]) => name);

  it("are shown while they mean something, and when they are set", () => {
    expect(names({})).toEqual(["language", "source"]);
    expect(names({ language: "python" })).toEqual(["language", "source", "module"]);
    expect(names({ module: "a.py" })).toEqual(["language", "source", "module"]);
  });

  it("depend on one of several values, or on any", () => {
    const store: [string, Schema][] = [
      ["do", { type: "string", enum: ["get", "put", "search"] }],
      ["key", { type: "string", "x-if": { do: ["get", "put"] } }],
      ["query", { type: "string", "x-if": { do: "search" } }],
      ["by", { type: "string", "x-if": { do: "search", query: "*" } }],
    ];
    const shown = (object: Record<string, unknown>) => shownProperties(store, object).map(([name]) => name);
    expect(shown({ do: "put" })).toEqual(["do", "key"]);
    expect(shown({ do: "search" })).toEqual(["do", "query"]);
    expect(shown({ do: "search", query: "" })).toEqual(["do", "query"]);
    expect(shown({ do: "search", query: "x" })).toEqual(["do", "query", "by"]);
  });

  it("take their language from the field beside them", () => {
    const language = (object: Record<string, unknown>) =>
      shownProperties(properties, object).find(([name]) => name === "source")?.[1]["x-language"];
    expect(language({})).toBe("javascript");
    expect(language({ language: "python" })).toBe("python");
  });

  it("leave out what can only be what it is", () => {
    const properties: [string, Schema][] = [
      ["type", { const: "edit" }],
      ["args", { type: "object" }],
    ];
    const names = (value: object) => shownProperties(properties, value).map(([name]) => name);
    expect(names({ type: "edit" })).toEqual(["args"]);
    expect(names({ type: "other" })).toEqual(["type", "args"]);
  });
});
