import { describe, expect, it } from "vitest";
import { type Rect, union } from "./geometry";
import { wrapped } from "./wrap";

const card = (x: number, y = 0): Rect => ({ x, y, width: 200, height: 80 });
const chain = (count: number): [Map<string, Rect>, { from: string; to: string }[]] => [
  new Map(Array.from({ length: count }, (_, index) => [`n${index}`, card(index * 300)])),
  Array.from({ length: count - 1 }, (_, index) => ({ from: `n${index}`, to: `n${index + 1}` })),
];
const sized = (rects: ReadonlyMap<string, Rect>, places: ReadonlyMap<string, { x: number; y: number }>) =>
  new Map([...places].map(([name, at]) => [name, { ...(rects.get(name) as Rect), ...at }]));
const WINDOW = { width: 1000, height: 700 };

describe("wrapped", () => {
  it("breaks a long chain into rows that fill the canvas, and nothing lies on anything", () => {
    const [rects, wires] = chain(30);
    const after = sized(rects, wrapped(rects, wires, WINDOW));
    const bounds = union(after.values()) as Rect;
    expect(bounds.width / bounds.height).toBeGreaterThan(0.7);
    expect(bounds.width / bounds.height).toBeLessThan(3);
    const tops = [...new Set([...after.values()].map(({ y }) => y))].sort((a, b) => a - b);
    expect(tops.length).toBeGreaterThan(3);
    tops.slice(1).forEach((top, index) => expect(top - (tops[index] ?? 0)).toBeGreaterThan(80 + 60));
  });

  it("leaves a graph in one row that is read well so", () => {
    const [rects, wires] = chain(4);
    expect(wrapped(rects, wires, WINDOW)).toBe(rects);
  });

  it("breaks where one bundle leads on, and not within a loop or between two ways", () => {
    const [rects, wires] = chain(20);
    // Two ways side by side from n4 to n9, and a loop from n18 back to n12.
    for (let index = 5; index < 9; index += 1) rects.set(`m${index}`, card(index * 300, 160));
    const more = [
      { from: "n4", to: "m5" },
      ...[5, 6, 7].map((index) => ({ from: `m${index}`, to: `m${index + 1}` })),
      { from: "m8", to: "n9" },
      { from: "n18", to: "n12" },
    ];
    const after = wrapped(rects, [...wires, ...more], { width: 900, height: 900 });
    expect(after).not.toBe(rects);
    const row = (name: string) => {
      const before = rects.get(name) as Rect;
      // What moved by the same amount is in one row.
      return (after.get(name)?.x ?? 0) - before.x;
    };
    for (const name of ["n6", "n7", "n8", "m5", "m8"]) expect(row(name), name).toBe(row("n5"));
    for (let index = 12; index <= 18; index += 1) expect(row(`n${index}`), `n${index}`).toBe(row("n12"));
    expect(new Set([...rects.keys()].map(row)).size).toBeGreaterThan(1);
  });

  it("does nothing with an empty graph or a canvas without a size", () => {
    expect(wrapped(new Map(), [], WINDOW).size).toBe(0);
    const [rects, wires] = chain(30);
    expect(wrapped(rects, wires, { width: 0, height: 0 })).toBe(rects);
  });
});
