import { describe, expect, it } from "vitest";
import type { Schema } from "../../components/schema-form/schema";
import { countFields, countFound, folded, MAX_OPEN, problemBeside, problemsOf } from "./many-fields";

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

const sections = (count: number, each: number): Schema => ({
  type: "object",
  required: Array.from({ length: count }, (_, n) => `part_${n}`),
  properties: Object.fromEntries(
    Array.from({ length: count }, (_, n): [string, Schema] => [
      `part_${n}`,
      {
        type: "object",
        title: `Part ${n}`,
        required: ["field_1"],
        properties: Object.fromEntries(
          Array.from({ length: each }, (_, m): [string, Schema] => [
            `field_${m}`,
            { type: "string", ...(n === 7 && m === 3 && { title: "IBAN" }) },
          ]),
        ),
      },
    ]),
  ),
});

const part = (schema: Schema, n: number): Schema => schema.properties?.[`part_${n}`] as Schema;

describe("fields in sections", () => {
  const schema = sections(12, 17);

  it("are counted, and their sections folded", () => {
    expect(countFields(schema)).toBe(204);
    const layout = folded(schema, "");
    expect(layout["x-form"]).toBeUndefined();
    expect(part(layout, 3)["x-fold"]).toBe("closed");
    expect(countFields(sections(3, 5))).toBe(15);
    expect(part(folded(sections(3, 5), ""), 0)["x-fold"]).toBeUndefined();
  });

  it("are found within, and what holds them opens", () => {
    const layout = folded(schema, "iban");
    expect(layout["x-form"]?.front).toEqual(["part_7"]);
    expect(part(layout, 7)).toMatchObject({ "x-fold": "open", "x-form": { front: ["field_3"] } });
    expect(part(layout, 6)["x-fold"]).toBe("closed");
    expect(countFound(schema, "iban")).toBe(1);
    expect(countFound(schema, "part 7"), "all of a section that has the words").toBe(17);
    expect(part(folded(schema, "part 7"), 7)["x-form"]).toBeUndefined();
  });

  it("have their problems in the order of the form, one after the other", () => {
    const answer = Object.fromEntries(
      Array.from({ length: 12 }, (_, n) => [`part_${n}`, n % 4 === 0 ? {} : { field_1: "x" }]),
    );
    const problems = problemsOf(schema, answer);
    expect(problems.map(({ pointer }) => pointer)).toEqual([
      "/part_0/field_1",
      "/part_4/field_1",
      "/part_8/field_1",
    ]);
    expect(problemBeside(schema, problems, null, 1)).toBe("/part_0/field_1");
    expect(problemBeside(schema, problems, "/part_0/field_1", 1)).toBe("/part_4/field_1");
    expect(problemBeside(schema, problems, "/part_6/field_9", 1)).toBe("/part_8/field_1");
    expect(problemBeside(schema, problems, "/part_8/field_1", 1), "round").toBe("/part_0/field_1");
    expect(problemBeside(schema, problems, "/part_0/field_1", -1)).toBe("/part_8/field_1");
    expect(problemBeside(schema, [], null, 1)).toBeNull();
  });

  it("of a schema that names itself are laid out to an end", () => {
    const tree: Schema = {
      type: "object",
      properties: { root: { $ref: "#/$defs/node" }, ...many(30).properties },
      $defs: {
        node: { type: "object", properties: { left: { $ref: "#/$defs/node" }, name: { type: "string" } } },
      },
    };
    expect(folded(tree, "name")["x-form"]?.front).toEqual(["root"]);
  });
});
