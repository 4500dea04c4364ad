import { expect, it } from "vitest";
import { nearest } from "./nearest";

it("finds the name that was meant, and none where nothing is near", () => {
  const known = ["count", "retries", "n", "amount"];
  expect(nearest("cuont", known), "two letters swapped").toBe("count");
  expect(nearest("retrys", known)).toBe("retries");
  expect(nearest("Amount", known)).toBe("amount");
  expect(nearest("ammount", known)).toBe("amount");
  expect(nearest("m", known), "another short name").toBeUndefined();
  expect(nearest("nope", known)).toBeUndefined();
  expect(nearest("count", [])).toBeUndefined();
});
