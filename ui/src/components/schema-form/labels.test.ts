import { expect, it } from "vitest";
import { labelAt, labelOf } from "./labels";
import { validate } from "./validate";

it("makes readable labels", () => {
  expect(labelOf("max_tokens", {})).toBe("Max tokens");
  expect(labelOf("maxTokens", {})).toBe("Max tokens");
  expect(labelOf("into", {})).toBe("Into");
  expect(labelOf("into", { title: "Write to" })).toBe("Write to");
});

it("names the field that a complaint is about", () => {
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
  const errors = validate(decision, { decision: "approve", note: "", lines: ["a", 2] });
  expect(errors.map((error) => labelAt(decision, error.pointer, { lines: ["a", 2] }))).toEqual([
    "Amount",
    "Sure",
    "Lines · 2",
  ]);
});
