import { expect, test } from "vitest";
import { firstLine } from "./Summary";

test("a row shows the first line that says something", () => {
  expect(firstLine("**Two** refunds\nof 30 €")).toBe("**Two** refunds");
  expect(firstLine("\n\n## Done\n- a")).toBe("Done");
  expect(firstLine("- `a` went to b")).toBe("`a` went to b");
  expect(firstLine("1. first\n2. second")).toBe("first");
  expect(firstLine("-5 degrees")).toBe("-5 degrees");
  expect(firstLine(" \n ")).toBe("");
});
