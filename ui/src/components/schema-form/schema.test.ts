import { describe, expect, it } from "vitest";
import {
  blankValue,
  labelAt,
  controlFor,
  getPointer,
  initialValue,
  labelOf,
  resolve,
  sameJson,
  shownProperties,
  validate,
  variantOf,
  type Schema,
} from "./schema";

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

  it("follows references and folds allOf in", () => {
    const schema: Schema = {
      $defs: { base: { type: "object", properties: { id: { type: "string" } }, required: ["id"] } },
      allOf: [{ $ref: "#/$defs/base" }, { properties: { n: { type: "integer" } }, required: ["n"] }],
    };
    const found = resolve(schema, schema);
    expect(Object.keys(found.properties ?? {}).sort()).toEqual(["id", "n"]);
    expect([...(found.required ?? [])].sort()).toEqual(["id", "n"]);
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

describe("small things", () => {
  it("compares without regard to key order", () => {
    expect(sameJson({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 })).toBe(true);
    expect(sameJson({ a: undefined }, {})).toBe(true);
    expect(sameJson([1], { 0: 1 })).toBe(false);
  });
  it("reads pointers with escapes", () => {
    expect(getPointer({ "a/b": { "~": [5] } }, "/a~1b/~0/0")).toBe(5);
    expect(getPointer({ a: 1 }, "/a/b")).toBeUndefined();
  });
  it("makes readable labels", () => {
    expect(labelOf("max_tokens", {})).toBe("Max tokens");
    expect(labelOf("maxTokens", {})).toBe("Max tokens");
    expect(labelOf("into", {})).toBe("Into");
    expect(labelOf("into", { title: "Write to" })).toBe("Write to");
  });
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
  it("names the field that a complaint is about", () => {
    const errors = validate(decision, { decision: "approve", note: "", lines: ["a", 2] });
    expect(errors.map((error) => labelAt(decision, error.pointer, { lines: ["a", 2] }))).toEqual([
      "Amount",
      "Sure",
      "Lines · 2",
    ]);
  });
  it("does not show what can only be what it is", () => {
    const properties: [string, Schema][] = [
      ["type", { const: "edit" }],
      ["args", { type: "object" }],
    ];
    const names = (value: object) => shownProperties(properties, value).map(([name]) => name);
    expect(names({ type: "edit" })).toEqual(["args"]);
    expect(names({ type: "other" })).toEqual(["type", "args"]);
  });
});
