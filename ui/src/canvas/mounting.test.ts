import { describe, expect, it } from "vitest";
import { inOrderOf, NO_SHARE, putOff, SHARE } from "./mounting";

const area = { x: 0, y: 0, width: 1000, height: 1000, seen: { x: 100, y: 100, width: 800, height: 800 } };

/** Cards in a row across the area, one each 10. */
const rectOf = (name: string) => ({ x: Number(name) * 10, y: 500, width: 5, height: 5 });

const names = (from: number, to: number) =>
  new Set(Array.from({ length: to - from }, (_, index) => String(from + index)));

describe("mounting", () => {
  it("mounts what is in view at once, up to a limit, and says that some is missing", () => {
    const few = names(46, 54);
    expect(putOff(few, area, SHARE, rectOf, () => false)).toEqual({
      later: new Set(),
      missing: false,
      fresh: 8,
    });
    const many = names(11, 89);
    const { later, missing, fresh } = putOff(many, area, SHARE, rectOf, () => false);
    expect({ missing, fresh, left: many.size }).toEqual({ missing: true, fresh: 10, left: 10 });
    // The middle comes first.
    expect(many.has("50")).toBe(true);
    expect(later.has("11")).toBe(true);
  });

  it("mounts few in a frame of what is beside the view, and none where the frame has had its share", () => {
    const beside = names(0, 9);
    expect(putOff(beside, area, SHARE, rectOf, () => false)).toMatchObject({ missing: false, fresh: 4 });
    expect([...beside].toSorted()).toEqual(["5", "6", "7", "8"]);
    expect(putOff(names(0, 9), area, NO_SHARE, rectOf, () => false)).toMatchObject({
      missing: false,
      fresh: 0,
    });
  });

  it("does not put off what is mounted", () => {
    const near = names(0, 60);
    const { fresh, later } = putOff(near, area, NO_SHARE, rectOf, (name) => Number(name) < 59);
    expect({ fresh, later: [...later], left: near.size }).toEqual({ fresh: 0, later: ["59"], left: 59 });
  });

  it("keeps the order of what stays", () => {
    const before = new Map([
      ["c", 1],
      ["a", 2],
      ["b", 3],
    ]);
    const next = new Map([
      ["new", 4],
      ["a", 5],
      ["b", 6],
      ["c", 7],
    ]);
    expect([...inOrderOf(before, next)]).toEqual([
      ["c", 7],
      ["a", 5],
      ["b", 6],
      ["new", 4],
    ]);
    expect([
      ...inOrderOf(
        before,
        new Map([
          ["b", 1],
          ["c", 2],
        ]),
      ).keys(),
    ]).toEqual(["c", "b"]);
  });
});
