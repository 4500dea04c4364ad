import { describe, expect, it } from "vitest";
import type { Evaluated } from "../../ipc/bindings/Evaluated";
import { queryOf, savedOf, withCondition, withSaved, EMPTY } from "./query";
import { summaryOf } from "./summary";

const row = (value: unknown): { result: Evaluated } => ({ result: { value: { value } } as Evaluated });
const failed: { result: Evaluated } = { result: { message: "no key" } };

describe("what the values of a probe come to", () => {
  it("is a line for numbers, from the oldest to the newest", () => {
    const summary = summaryOf([row(4), failed, row(1), row(7)]);
    if (summary?.kind !== "numbers") throw new Error("they are numbers");
    expect([summary.low, summary.mean, summary.high]).toEqual([1, 4, 7]);
    expect(summary.points).toEqual([
      { index: 3, x: 0, y: 0 },
      { index: 2, x: 0.5, y: 1 },
      { index: 0, x: 1, y: 0.5 },
    ]);
    const many = summaryOf(Array.from({ length: 5_000 }, (_, at) => row(at)));
    expect(many?.kind === "numbers" && many.points.length).toBeLessThanOrEqual(600);
  });

  it("counts other values, the most frequent first", () => {
    const rows = ["yes", "no", "yes", null, 3, "yes"].map(row);
    const summary = summaryOf(rows);
    if (summary?.kind !== "counts") throw new Error("they are counted");
    expect(summary.counts[0]?.n).toBe(3);
    expect(summary.counts.map(({ n }) => n)).toEqual([3, 1, 1, 1]);
    const many = summaryOf(Array.from({ length: 20 }, (_, at) => row(`v${at}`)));
    expect(many?.kind === "counts" && [many.counts.length, many.more]).toEqual([8, 12]);
  });

  it("is nothing without values", () => {
    expect(summaryOf([])).toBeNull();
    expect(summaryOf([failed])).toBeNull();
  });
});

describe("a saved search", () => {
  it("comes back as it was, and takes the place of one of its name", () => {
    const query = withCondition(
      withCondition({ ...EMPTY, words: "refund" }, "where", "state.n > 2"),
      "column",
      "state.n",
    );
    const saved = savedOf(query, "Refunds");
    expect(savedOf(queryOf(saved), "Refunds")).toEqual(saved);
    const list = withSaved(withSaved([], saved), { ...saved, name: "Other" });
    expect(withSaved(list, { ...saved, words: "x" }).map(({ words }) => words)).toEqual(["x", "refund"]);
    const newer = { ...saved, conditions: [...saved.conditions, { kind: "unheard", value: "1" }] };
    expect(queryOf(newer).conditions.map(({ kind }) => kind)).toEqual(["where", "column"]);
  });
});
