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

it("leaves out what is so by itself, and says what was chosen in words", () => {
  const schema = {
    properties: {
      server: { type: "string" },
      approval: { enum: ["changes", "all"], "x-enum-labels": ["Changes", "All"], default: "changes" },
      timeout_s: { type: "integer", default: 60 },
    },
  };
  expect(summaryOf({ server: "", approval: "changes", timeout_s: 60 }, schema, schema)).toBe("…");
  expect(summaryOf({ server: "desk", approval: "all", timeout_s: 60 }, schema, schema)).toBe("desk · All");
});
