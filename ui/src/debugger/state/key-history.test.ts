import { describe, expect, it } from "vitest";
import type { KeyWrite } from "../../ipc/bindings/KeyWrite";
import { breakCondition, conditionOf, historyText, points } from "./key-history";

const write = (id: string, value?: unknown): KeyWrite => ({
  checkpointId: id,
  step: 1,
  at: "",
  source: "loop",
  writers: [],
  change: "changed",
  ...(value !== undefined && { after: { kind: "number", bytes: 1, length: 0, value } }),
});

describe("the history of a key", () => {
  it("takes a comparison as one of the value", () => {
    expect(
      ["< 0", ">=3", "== 'a'", "in [1, 2]", "is none", ".total > 1", "[0] == 1", "|length > 3"].map(
        conditionOf,
      ),
    ).toEqual([
      "value < 0",
      "value >=3",
      "value == 'a'",
      "value in [1, 2]",
      "value is none",
      "value.total > 1",
      "value[0] == 1",
      "value |length > 3",
    ]);
    expect(["value.a > 1", "index", "  "].map(conditionOf)).toEqual(["value.a > 1", "index", ""]);
  });

  it("draws numbers from the oldest to the newest, high values above", () => {
    const drawn = points([write("c", 0), write("b", 10), write("a", 5)]);
    expect(drawn.map(({ id, x, y }) => [id, x, y])).toEqual([
      ["a", 0, 0.5],
      ["b", 0.5, 0],
      ["c", 1, 1],
    ]);
    expect(points([write("b", 1), write("a", 1)]).map(({ y }) => y)).toEqual([0.5, 0.5]);
    expect([
      points([write("a", 1)]),
      points([write("b", "x"), write("a", 1)]),
      points([write("b"), write("a", 1)]),
    ]).toEqual([[], [], []]);
  });

  it("asks a breakpoint of the key about its new value", () => {
    expect(
      ["> 2", "value.total > old.total", "'value' == value", "", "total > 1"].map(breakCondition),
    ).toEqual(["new > 2", "new.total > old.total", "'value' == new", "", "total > 1"]);
  });

  it("is reported write by write, with what is not listed counted", () => {
    const writes = [{ ...write("b", 2), step: 2, writers: ["sum"] }, write("a", 1)];
    const text = historyText("total", "t", { writes, total: 5, more: true }, "First at step 2");
    expect(text).toContain("# History of total\n\nthread `t` · 5 writes\n\nFirst at step 2");
    expect(text).toMatch(/- Step 2, sum, .*: not set → `2`/);
    expect(text).toMatch(/- Step 1, Input, .*: not set → `1`/);
    expect(text).toContain("- and 3 more rows");
  });
});
