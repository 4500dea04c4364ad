import { expect, it, vi } from "vitest";
import { drawMark, MARKS } from "./lod";

const context = () => ({ beginPath: vi.fn(), moveTo: vi.fn(), lineTo: vi.fn(), stroke: vi.fn() });

it("tells every state by a shape of its own", () => {
  const states = ["next", "waiting", "running", "done", "failed", "asking"];
  expect(Object.keys(MARKS).sort()).toEqual(states.toSorted());
  expect(new Set(states.map((state) => JSON.stringify(MARKS[state]))).size).toBe(states.length);
});

it("draws the mark inside of its block, and none where it would be a smear", () => {
  const paper = context();
  drawMark(paper as unknown as CanvasRenderingContext2D, "done", 100, 50, 60, 12);
  expect(paper.stroke).toHaveBeenCalled();
  for (const [x, y] of [...paper.moveTo.mock.calls, ...paper.lineTo.mock.calls] as [number, number][]) {
    expect(x).toBeGreaterThanOrEqual(100);
    expect(x).toBeLessThanOrEqual(160);
    expect(y).toBeGreaterThanOrEqual(50);
    expect(y).toBeLessThanOrEqual(62);
  }
  const small = context();
  drawMark(small as unknown as CanvasRenderingContext2D, "done", 0, 0, 3, 3);
  expect(small.stroke).not.toHaveBeenCalled();
});
