import { describe, expect, it } from "vitest";
import { hiddenOf, MORE_WIDTH } from "./overflow";

const items = ["a", "b", "c", "d"].map((id) => ({ id, width: 100 }));

describe("hiddenOf", () => {
  it("hides nothing while all fit", () => {
    expect(hiddenOf(items, 400, "a")).toEqual([]);
    expect(hiddenOf(items, 399.6, "a"), "fractions of a pixel are none").toEqual([]);
  });

  it("hides those at the end, and leaves room for the menu", () => {
    expect(hiddenOf(items, 399, "a")).toEqual(["d"]);
    expect(hiddenOf(items, 300 + MORE_WIDTH - 1, "a")).toEqual(["c", "d"]);
    expect(hiddenOf(items, 200 + MORE_WIDTH, "a")).toEqual(["c", "d"]);
  });

  it("never hides the active one, however little room there is", () => {
    expect(hiddenOf(items, 200 + MORE_WIDTH, "d")).toEqual(["b", "c"]);
    expect(hiddenOf(items, 50, "c")).toEqual(["a", "b", "d"]);
  });

  it("counts the gaps", () => {
    expect(hiddenOf(items, 405, null, 2)).toEqual(["d"]);
    expect(hiddenOf(items, 406, null, 2)).toEqual([]);
  });
});
