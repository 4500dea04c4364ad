import { describe, expect, it } from "vitest";
import type { Schema } from "../../components/schema-form/schema";
import { folded, MAX_OPEN, problemsOf } from "./many-fields";

const many = (count: number, required: readonly string[] = []): Schema => ({
  type: "object",
  required: [...required],
  properties: Object.fromEntries(
    Array.from({ length: count }, (_, n) => [
      `field_${n}`,
      { type: "string", ...(n === 150 && { description: "The customer's IBAN" }) },
    ]),
  ),
});

describe("an answer of many fields", () => {
  it("shows what is needed, and folds the others", () => {
    const layout = folded(many(200, ["field_199", "field_3"]), "")["x-form"];
    expect(layout?.front).toEqual(["field_3", "field_199"]);
    expect(layout?.groups).toHaveLength(10);
    expect(layout?.groups?.[0]).toMatchObject({ title: "Field 0 – Field 20" });
    const placed = [...(layout?.front ?? []), ...(layout?.groups ?? []).flatMap(({ fields }) => fields)];
    expect(new Set(placed).size).toBe(200);
  });

  it("is searched by name, label and description", () => {
    expect(folded(many(200), "iban CUSTOMER")["x-form"]?.front).toEqual(["field_150"]);
    expect(folded(many(200), "field 17")["x-form"]?.front).toHaveLength(12);
    expect(folded(many(200), "nothing like it")["x-form"]?.front).toEqual([]);
  });

  it("of few fields is shown as it is", () => {
    const few = many(MAX_OPEN);
    expect(folded(few, "")).toBe(few);
    const own: Schema = { ...many(30), "x-form": { front: ["field_1"] } };
    expect(folded(own, "")).toBe(own);
  });

  it("says where the first thing is missing", () => {
    const firstMissing = (schema: Schema, answer: unknown) => problemsOf(schema, answer)[0]?.pointer ?? null;
    const schema = many(200, ["field_3", "field_180"]);
    expect(firstMissing(schema, { field_3: "x" })).toBe("/field_180");
    expect(firstMissing(schema, { field_3: "x", field_180: "y" })).toBeNull();
    const backwards = many(200, ["field_180", "field_3"]);
    expect(firstMissing(backwards, {}), "the first on the screen").toBe("/field_3");
    const front: Schema = { ...backwards, "x-form": { front: ["field_180"] } };
    expect(firstMissing(front, {})).toBe("/field_180");
  });
});
