import { describe, expect, it } from "vitest";
import { arranged, countSet } from "./layout";
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
