import { expect, it } from "vitest";
import type { ValueView } from "../../ipc/bindings/ValueView";
import { changeItem, code, list, part, report, table } from "./report";

const view = (value: unknown): ValueView => ({ kind: "string", bytes: 1, length: 1, value });

it("puts texts into code that their backticks do not end", () => {
  expect(code("state.n > 2")).toBe("`state.n > 2`");
  expect(code("a `b` c")).toBe("``a `b` c``");
  expect(code("`b`")).toBe("`` `b` ``");
  expect(code("two\n  lines")).toBe("`two lines`");
});

it("leaves out parts that say nothing", () => {
  expect(report("Head", "", part("Empty", ""), part("Full", list(["a", "b"])))).toBe(
    "# Head\n\n## Full\n\n- a\n- b",
  );
  expect(table(["A"], [])).toBe("");
});

it("keeps a table whole whatever stands in it", () => {
  expect(table(["A", "B"], [["x | y", "one\ntwo"]])).toBe("| A | B |\n| --- | --- |\n| x \\| y | one two |");
});

it("writes short values into the line, and long ones in full below it", () => {
  expect(changeItem("`n`", view(1), undefined)).toBe("- `n`: `1` → not set");
  const long = "word ```js``` ".repeat(20).trim();
  expect(changeItem("`n`", view("short"), view(`${long}\nend`)).split("\n")).toEqual([
    "- `n`:",
    "  Before:",
    "  ```",
    "  short",
    "  ```",
    "  After:",
    "  ````",
    `  ${long}`,
    "  end",
    "  ````",
  ]);
  const cut: ValueView = { kind: "array", bytes: 9_000, length: 300, head: "[1, 2" };
  expect(changeItem("`rows`", cut, view(2))).toContain("`[1, 2… (9");
});
