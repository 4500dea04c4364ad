import { describe, expect, it } from "vitest";
import { arrange } from "./align";

const boxes = new Map([
  ["a", { x: 0, y: 0, width: 100, height: 50 }],
  ["b", { x: 150, y: 20, width: 100, height: 50 }],
  ["c", { x: 400, y: 100, width: 100, height: 100 }],
]);

describe("arrange", () => {
  it("aligns without moving the outermost", () => {
    expect([...arrange(boxes, "left")]).toEqual([
      ["b", { x: 0, y: 20 }],
      ["c", { x: 0, y: 100 }],
    ]);
    expect(arrange(boxes, "bottom").get("a")).toEqual({ x: 0, y: 150 });
    expect(arrange(boxes, "bottom").has("c")).toBe(false);
  });
  it("spreads with equal gaps between the first and the last", () => {
    expect([...arrange(boxes, "across")]).toEqual([["b", { x: 200, y: 20 }]]);
    expect(arrange(boxes, "down").get("b")).toEqual({ x: 150, y: 50 });
  });
  it("does nothing with one", () => {
    expect(arrange(new Map([["a", boxes.get("a")!]]), "left").size).toBe(0);
  });
});
