import { expect, it } from "vitest";
import { isConstant, seesMore } from "./expression-text";

it("a template without a place is its own value", () => {
  expect(isConstant("Hello", true)).toBe(true);
  expect(isConstant("Hello {{ state.name }}", true)).toBe(false);
  expect(isConstant("{% if state.x %}a{% endif %}", true)).toBe(false);
  expect(isConstant("'Hello'", false)).toBe(false);
});

it("knows names that have no value outside of the node", () => {
  expect(seesMore("item.price * 2")).toBe(true);
  expect(seesMore("answer.body")).toBe(true);
  expect(seesMore("state.answer")).toBe(false);
  expect(seesMore("state.items|length")).toBe(false);
});
