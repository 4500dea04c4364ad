import { expect, it } from "vitest";
import { resolve, type Schema } from "./schema";

it("follows references and folds allOf in", () => {
  const schema: Schema = {
    $defs: { base: { type: "object", properties: { id: { type: "string" } }, required: ["id"] } },
    allOf: [{ $ref: "#/$defs/base" }, { properties: { n: { type: "integer" } }, required: ["n"] }],
  };
  const found = resolve(schema, schema);
  expect(Object.keys(found.properties ?? {}).sort()).toEqual(["id", "n"]);
  expect([...(found.required ?? [])].sort()).toEqual(["id", "n"]);
});
