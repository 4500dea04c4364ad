import { describe, expect, it } from "vitest";
import type { Schema } from "./schema";
import { validate, variantOf } from "./validate";

describe("validate", () => {
  const at = (schema: Schema, value: unknown) => validate(schema, value).map((error) => error.pointer);

  it("points at the field that is wrong", () => {
    const schema: Schema = {
      type: "object",
      required: ["name", "a/b"],
      additionalProperties: false,
      properties: {
        name: { type: "string", minLength: 1 },
        "a/b": { type: "integer" },
        list: { type: "array", items: { type: "object", properties: { n: { type: "number", maximum: 5 } } } },
      },
    };
    expect(at(schema, { name: "", list: [{ n: 1 }, { n: 9 }], extra: true })).toEqual([
      "/a~1b",
      "/name",
      "/list/1/n",
      "/extra",
    ]);
    expect(at(schema, { name: "x", "a/b": 1 })).toEqual([]);
  });

  it("says what was expected and what is there", () => {
    expect(validate({ type: "integer" }, "5")[0]!.message).toBe("Expected whole number, found text.");
    expect(validate({ type: "number" }, 5)).toEqual([]);
    expect(validate({ type: "integer" }, 5.5)).toHaveLength(1);
    expect(validate({ type: ["string", "null"] }, null)).toEqual([]);
  });

  it("checks numbers and texts", () => {
    expect(validate({ exclusiveMinimum: 0 }, 0)).toHaveLength(1);
    expect(validate({ multipleOf: 0.1 }, 0.3)).toEqual([]);
    expect(validate({ maxLength: 2 }, "😀😀")).toEqual([]);
    expect(validate({ pattern: "^a+$" }, "b")).toHaveLength(1);
    expect(validate({ pattern: "(" }, "b"), "a broken pattern is not the user's mistake").toEqual([]);
    expect(validate({ uniqueItems: true }, [1, 2, 1])).toHaveLength(1);
  });

  it("reports the nearest variant when none fits", () => {
    const schema: Schema = {
      oneOf: [
        {
          type: "object",
          properties: { kind: { const: "a" }, n: { type: "integer" } },
          required: ["kind", "n"],
        },
        {
          type: "object",
          properties: { kind: { const: "b" }, s: { type: "string" } },
          required: ["kind", "s"],
        },
      ],
    };
    expect(at(schema, { kind: "b", s: 3 })).toEqual(["/s"]);
    expect(variantOf(schema.oneOf as Schema[], { kind: "b" }, schema)).toBe(1);
    expect(at(schema, 3)).toEqual([""]);
  });
});
