import { expect, it } from "vitest";
import { summaryOf } from "./ArrayField";

it("the head of an item shows its texts and numbers, and nothing that only a program reads", () => {
  const schema = {};
  expect(summaryOf({ name: "look_up", parameters: { type: "object" }, changes: false }, schema, schema)).toBe(
    "look_up",
  );
  expect(summaryOf({ parameters: { type: "object", properties: {} }, changes: false }, schema, schema)).toBe(
    "…",
  );
  expect(summaryOf({ label: "small", when: "state.n < 10", more: "x" }, schema, schema)).toBe(
    "small · state.n < 10",
  );
  expect(summaryOf({ n: 3 }, schema, schema)).toBe("3");
});
