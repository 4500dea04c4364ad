import { describe, expect, it } from "vitest";
import { drawingOf, expandedCard, MOST, PAD } from "./inside-size";
import { gapsFor, Spread } from "./spread";

describe("gapsFor", () => {
  it.each([
    ["a part that is long enough needs none", [{ from: 0, to: 200, length: 150 }], []],
    ["one part gives way where it ends", [{ from: 0, to: 200, length: 500 }], [{ at: 200, by: 300 }]],
    [
      "parts over each other share theirs",
      [
        { from: 0, to: 200, length: 500 },
        { from: 0, to: 200, length: 700 },
      ],
      [
        { at: 200, by: 300 },
        { at: 200, by: 200 },
      ],
    ],
    [
      "a part that reaches over another needs only what is missing",
      [
        { from: 100, to: 250, length: 550 },
        { from: 0, to: 200, length: 500 },
      ],
      [
        { at: 200, by: 300 },
        { at: 250, by: 100 },
      ],
    ],
    [
      "parts behind each other need all of theirs",
      [
        { from: 0, to: 200, length: 300 },
        { from: 300, to: 500, length: 400 },
      ],
      [
        { at: 200, by: 100 },
        { at: 500, by: 200 },
      ],
    ],
  ])("%s", (_name, needs, gaps) => expect(gapsFor(needs)).toEqual(gaps));
});

describe("a spread", () => {
  const card = { x: 100, y: 0, width: 216, height: 80 };
  const spread = new Spread([[card, { width: 616, height: 280 }]]);

  it.each([
    ["the card itself", { x: 100, y: 0 }, { x: 100, y: 0 }],
    ["left of it", { x: -50, y: 40 }, { x: -50, y: 40 }],
    ["right of it", { x: 400, y: 40 }, { x: 800, y: 40 }],
    ["below it", { x: 100, y: 120 }, { x: 100, y: 320 }],
    ["where it ends", { x: 316, y: 80 }, { x: 716, y: 280 }],
  ])("draws what is %s, and finds its place again", (_name, filed, drawn) => {
    expect(spread.drawn(filed)).toEqual(drawn);
    expect(spread.filed(drawn)).toEqual(filed);
  });

  it("puts what is dropped on the card beside it", () => {
    expect(spread.filed({ x: 500, y: 100 })).toEqual({ x: 316, y: 80 });
  });

  it("keeps apart what lay apart, whatever is expanded", () => {
    // Cards on a wide grid, every third of them expanded.
    const cards = Array.from({ length: 60 }, (_, at) => ({
      x: (at % 8) * 260 + (at % 3) * 7,
      y: Math.floor(at / 8) * 120 + (at % 5) * 3,
      width: 216,
      height: 80,
    }));
    const size = (at: number) => (at % 3 === 0 ? { width: 300 + at * 9, height: 200 + at * 4 } : null);
    const all = new Spread(
      cards.flatMap((rect, at) => {
        const expanded = size(at);
        return expanded ? [[rect, expanded] as const] : [];
      }),
    );
    const drawn = cards.map((rect, at) => ({ ...rect, ...size(at), ...all.drawn(rect) }));
    drawn.forEach((a, at) =>
      drawn.slice(at + 1).forEach((b) => {
        const over =
          a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
        expect(over, `${at}: ${JSON.stringify([a, b])}`).toBe(false);
      }),
    );
    cards.forEach((rect) => expect(all.filed(all.drawn(rect))).toEqual({ x: rect.x, y: rect.y }));
  });

  it("grows frames with what is in them", () => {
    expect(spread.frame({ x: 60, y: -40, width: 400, height: 200 })).toEqual({
      x: 60,
      y: -40,
      width: 800,
      height: 400,
    });
    expect(spread.frame({ x: 400, y: 0, width: 100, height: 20 })).toEqual({
      x: 800,
      y: 0,
      width: 100,
      height: 20,
    });
  });
});

describe("the drawing of a nested graph", () => {
  it.each([
    ["is as large as life where it fits", { width: 500, height: 300 }, 1],
    ["is smaller when it is wide", { width: 1440, height: 300 }, 0.5],
    ["is smaller when it is high", { width: 500, height: 1920 }, 0.25],
  ])("%s", (_name, extent, scale) => {
    const drawing = drawingOf({ x: 7, y: 9, ...extent });
    expect(drawing.scale).toBe(scale);
    expect(drawing.size.width).toBeLessThanOrEqual(MOST.width);
    expect(drawing.size.height).toBeLessThanOrEqual(MOST.height);
    expect(drawing.size.width).toBeGreaterThanOrEqual(extent.width * scale);
  });
  it("stands under what is on the card by itself", () => {
    expect(expandedCard({ width: 216, height: 80 }, { width: 400, height: 200 })).toEqual({
      width: 400 + 2 * PAD,
      height: 280 + 2 * PAD,
    });
    expect(expandedCard({ width: 216, height: 80 }, { width: 40, height: 200 }).width).toBe(216);
  });
});
