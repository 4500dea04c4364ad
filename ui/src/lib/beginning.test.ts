import { expect, it } from "vitest";
import { beginning } from "./beginning";

it("cuts a text between characters", () => {
  expect(beginning("abc", 3)).toBe("abc");
  expect(beginning("abcd", 3)).toBe("abc…");
  expect(beginning("ab👍d", 3)).toBe("ab…");
  expect(beginning("ab👍d", 4)).toBe("ab👍…");
});
