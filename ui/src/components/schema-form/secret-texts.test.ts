import { describe, expect, it } from "vitest";
import type { Schema } from "./schema";
import { secretTexts } from "./secret-texts";

describe("texts that may name secrets", () => {
  it("are found in whatever holds them, and other texts are left alone", () => {
    const schema: Schema = {
      $defs: { text: { type: "string", "x-secrets": true } },
      type: "object",
      properties: {
        headers: { type: "object", additionalProperties: { $ref: "#/$defs/text" } },
        variables: { type: "array", items: { type: "string", "x-editor": "secret" } },
        key: { type: "string", "x-editor": "secret" },
        other: { type: "string" },
      },
    };
    const value = { headers: { A: "Bearer ${A}", B: "b" }, variables: ["B", ""], key: "C", other: "${D}" };
    expect(secretTexts(schema, value, schema).split("\n").filter(Boolean)).toEqual([
      "Bearer ${A}",
      "b",
      "${B}",
      "${C}",
    ]);
    expect(secretTexts(schema, undefined, schema)).toBe("");
  });
});
