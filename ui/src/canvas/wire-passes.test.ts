import { describe, expect, it } from "vitest";
import { passesOf } from "./wire-passes";

const card = (name: string, minX: number, minY: number) => ({
  name,
  minX,
  minY,
  maxX: minX + 200,
  maxY: minY + 80,
});
const world = (...cards: ReturnType<typeof card>[]) => ({
  cards: (area: { minX: number; minY: number; maxX: number; maxY: number }) =>
    cards.filter(
      (each) =>
        each.minX <= area.maxX && each.maxX >= area.minX && each.minY <= area.maxY && each.maxY >= area.minY,
    ),
});
const line = (id: string, y: number, to = y) => ({
  id,
  from: "a",
  to: "z",
  start: { x: 200, y },
  end: { x: 1000, y: to },
});

describe("passesOf", () => {
  it("leads a line over or under a card in its way, whichever is nearer", () => {
    const { cards } = world(card("middle", 500, 0));
    const passes = passesOf([line("over", 10), line("under", 70), line("free", 300)], cards);
    expect(passes.get("over")?.y).toBeLessThan(0);
    expect(passes.get("under")?.y).toBeGreaterThan(80);
    expect(passes.get("over")).toMatchObject({ left: 472, right: 728 });
    expect(passes.has("free")).toBe(false);
  });

  it("keeps lines that pass the same card apart, and none runs behind another card", () => {
    const { cards } = world(card("middle", 500, 0), card("below", 500, 100));
    const lines = ["one", "two", "three"].map((id) => line(id, 50));
    const heights = [...passesOf(lines, cards).values()].map(({ y }) => y);
    expect(heights.length).toBe(3);
    expect(new Set(heights).size).toBe(3);
    for (const y of heights) expect(y < 0 || y > 180, String(y)).toBe(true);
  });

  it("does not mind the cards at its own ends", () => {
    const { cards } = world(card("a", 0, 0), card("z", 1000, 0));
    expect(passesOf([line("own", 22)], cards).size).toBe(0);
  });
});
