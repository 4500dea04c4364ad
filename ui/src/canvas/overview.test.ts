import { expect, it, vi } from "vitest";
import { edgeKey } from "../debugger/overlay/overlay-model";
import { drawMark, drawTaken, MARKS, type Paint } from "./overview";
import type { Scene } from "./window";
import type { Line } from "./lines";

const context = () => ({ beginPath: vi.fn(), moveTo: vi.fn(), lineTo: vi.fn(), stroke: vi.fn() });

it("reports every state by a shape of its own", () => {
  const states = ["next", "waiting", "running", "done", "rerouted", "failed", "asking"];
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

it("draws a line that was taken at every zoom, and how often where no name stands", () => {
  const paper = { ...context(), fillText: vi.fn() };
  const rects = new Map([
    ["a", { x: 0, y: 0, width: 200, height: 60 }],
    ["b", { x: 400, y: 0, width: 200, height: 60 }],
  ]);
  const scene = { rect: (name: string) => rects.get(name) };
  const lines = [
    { from: "a", to: "b", lane: null, pass: null },
    { from: "b", to: "a", lane: null, pass: null },
  ];
  const times = new Map([[edgeKey("a", "b"), { times: 3, active: false }]]);
  const draw = (zoom: number) => {
    vi.clearAllMocks();
    drawTaken(
      paper as unknown as CanvasRenderingContext2D,
      scene as unknown as Scene,
      lines as unknown as Line[],
      { x: 0, y: 0, zoom },
      { text: "black" } as Paint,
      times,
    );
    return {
      strokes: paper.stroke.mock.calls.length,
      texts: paper.fillText.mock.calls.map(([text]) => text),
    };
  };
  expect(draw(0.3)).toEqual({ strokes: 1, texts: ["×3"] });
  expect(draw(0.1)).toEqual({ strokes: 1, texts: [] });
});
