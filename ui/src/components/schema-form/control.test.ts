import { describe, expect, it } from "vitest";
import { controlFor } from "./control";
import { initialValue } from "./initial";
import { resolve, type Schema } from "./schema";

const control = (schema: Schema) => controlFor(resolve(schema, schema), schema);

describe("controlFor", () => {
  it("chooses by type", () => {
    expect(control({ type: "string" })).toEqual({ kind: "text", long: false });
    expect(control({ type: "string", "x-editor": "text" })).toEqual({ kind: "text", long: true });
    expect(control({ type: "integer" })).toEqual({ kind: "number", integer: true });
    expect(control({ type: "number" })).toEqual({ kind: "number", integer: false });
    expect(control({ type: "boolean" })).toEqual({ kind: "boolean" });
    expect(control({ type: "array", items: { type: "string" } }).kind).toBe("array");
    expect(control({ type: "object", properties: { a: { type: "string" } } }).kind).toBe("object");
  });

  it("takes an enum over a type, and a oneOf of constants as an enum", () => {
    expect(control({ type: "string", enum: ["a", "b"] })).toEqual({ kind: "enum", options: ["a", "b"] });
    expect(control({ oneOf: [{ const: 1, title: "One" }, { const: 2 }] })).toEqual({
      kind: "enum",
      options: [1, 2],
    });
  });

  it("falls back to JSON for what it cannot draw", () => {
    expect(control({}).kind).toBe("json");
    expect(control({ type: "object" }).kind).toBe("json");
    expect(control({ type: "array" }).kind).toBe("json");
    expect(control({ not: { type: "string" } }).kind).toBe("json");
  });

  it("sees a nullable in all three ways of writing it", () => {
    expect(control({ type: ["string", "null"] })).toEqual({ kind: "nullable", inner: { type: "string" } });
    expect(control({ anyOf: [{ type: "integer" }, { type: "null" }] }).kind).toBe("nullable");
    expect(control({ type: "string", nullable: true }).kind).toBe("nullable");
  });

  it("makes variants of several types, each with its own type only", () => {
    const found = control({ type: ["string", "number", "array"], items: { type: "string" } });
    expect(found.kind).toBe("variants");
    expect(found.kind === "variants" && found.variants.map((variant) => variant.type)).toEqual([
      "string",
      "number",
      "array",
    ]);
    expect(found.kind === "variants" && found.variants[0]!.items).toBeUndefined();
  });

  it("does not loop on a schema that refers to itself", () => {
    const schema: Schema = { $ref: "#" };
    expect(control(schema).kind).toBe("json");
    const tree: Schema = {
      type: "object",
      properties: { children: { type: "array", items: { $ref: "#" } } },
      required: ["children"],
    };
    expect(initialValue(tree)).toEqual({ children: [] });
  });
});
