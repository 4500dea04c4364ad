import { describe, expect, it } from "vitest";
import { blankValue, initialValue } from "./initial";
import type { Schema } from "./schema";

describe("initialValue", () => {
  it("uses defaults, and the least of a type otherwise", () => {
    expect(initialValue({ type: "string" })).toBe("");
    expect(initialValue({ type: "integer", minimum: 3 })).toBe(3);
    expect(initialValue({ type: "integer", default: 7 })).toBe(7);
    expect(initialValue({ enum: ["x", "y"] })).toBe("x");
    expect(initialValue({ type: ["string", "null"] })).toBeNull();
    expect(initialValue({ type: "array", items: { type: "boolean" }, minItems: 2 })).toEqual([false, false]);
  });

  it("fills in required and defaulted fields only", () => {
    const schema: Schema = {
      type: "object",
      required: ["a"],
      properties: { a: { type: "string" }, b: { type: "string" }, c: { type: "integer", default: 2 } },
    };
    expect(initialValue(schema)).toEqual({ a: "", c: 2 });
  });

  it("gives a copy of a default, so that editing one form does not change the next", () => {
    const schema: Schema = { default: { list: [1] } };
    const first = initialValue(schema) as { list: number[] };
    first.list.push(2);
    expect(initialValue(schema)).toEqual({ list: [1] });
  });
});

describe("a form that asks somebody", () => {
  const decision = {
    type: "object",
    required: ["decision", "amount", "sure", "note", "lines"],
    properties: {
      decision: { enum: ["approve", "reject"] },
      amount: { type: "number" },
      sure: { type: "boolean" },
      note: { type: "string", default: "none" },
      lines: { type: "array", items: { type: "string" } },
    },
  };
  it("begins with what is given and nothing that has to be decided", () => {
    expect(blankValue(decision)).toEqual({ note: "none", lines: [] });
    expect(blankValue({ type: "string" })).toBeUndefined();
    expect(blankValue({ oneOf: [{ type: "string" }, { type: "number" }] })).toBeUndefined();
    expect(blankValue({ type: "object" })).toBeUndefined();
    const tagged = {
      type: "object",
      required: ["type", "args"],
      properties: { type: { const: "edit" }, args: { type: "object", default: { a: 1 } } },
    };
    expect(blankValue(tagged)).toEqual({ type: "edit", args: { a: 1 } });
  });
});
