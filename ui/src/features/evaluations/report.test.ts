import { expect, test } from "vitest";
import type { EvaluatedRow } from "../../ipc/bindings/EvaluatedRow";
import { comparedRows, filtered, intervalOf } from "./report";

const run = (variant: string, row: number, passed?: boolean, repeat = 1): EvaluatedRow => ({
  key: "",
  case: "",
  at: "",
  variant,
  graph: "",
  row,
  name: `row ${row}`,
  repeat,
  status: "done",
  ...(passed !== undefined && { passed }),
  scores: {},
  values: {},
  tokens: 0,
  cost: {},
  unpriced: false,
  millis: 1,
  reused: false,
});

test("runs of a row stand on one line, in the order of the data set", () => {
  const rows = comparedRows({
    rows: [run("b", 2, false), run("a", 2, true), run("a", 1, true), run("a", 1, true, 2), run("b", 1, true)],
  });
  expect(rows.map(({ row, repeat }) => `${row}.${repeat}`)).toEqual(["1.1", "1.2", "2.1"]);
  expect([...(rows[2]?.runs.keys() ?? [])].sort()).toEqual(["a", "b"]);
});

test("rows that a variant missed, and rows on which variants differ, are found", () => {
  const rows = comparedRows({
    rows: [
      run("a", 1, false),
      run("b", 1, false),
      run("a", 2, true),
      run("b", 2, false),
      run("a", 3),
      run("b", 3, true),
    ],
  });
  expect(filtered(rows, "missed").map(({ row }) => row)).toEqual([1, 2]);
  expect(filtered(rows, "turned").map(({ row }) => row)).toEqual([2]);
  expect(filtered(rows, "all")).toHaveLength(3);
});

test("an interval has its bounds in percent", () => {
  expect(intervalOf([0.875, 0.6899, 0.9565])).toBe("69–96%");
});
