import { describe, expect, it } from "vitest";
import { turnsOf } from "./turns";

/** The newest first, as threads are listed: two turns, the second of them given twice more. */
const list = [
  { id: "i", parent: "h", source: "loop" },
  { id: "h", parent: "c", source: "input" },
  { id: "g", parent: "c", source: "input" },
  { id: "f", parent: "e", source: "loop" },
  { id: "e", parent: "d", source: "loop" },
  { id: "d", parent: "c", source: "input" },
  { id: "c", parent: "b", source: "loop" },
  { id: "b", parent: "a", source: "loop" },
  { id: "a", source: "input" },
];

describe("the turns of a conversation", () => {
  it("know what else was said at the same place, and where that led", () => {
    expect(turnsOf(list, ["a", "b", "c", "d", "e", "f"])).toEqual([
      { input: "a", at: undefined, branches: ["i"], place: 0 },
      { input: "d", at: "c", branches: ["f", "g", "i"], place: 0 },
    ]);
    expect(turnsOf(list, ["a", "b", "c", "h"])[1]).toMatchObject({ input: "h", place: 2 });
  });

  it("are none without inputs, and cope with a past that is gone", () => {
    expect(turnsOf(list, ["b", "c"])).toEqual([]);
    expect(turnsOf([{ id: "x", parent: "gone", source: "input" }], ["x"])).toEqual([
      { input: "x", at: "gone", branches: ["x"], place: 0 },
    ]);
  });
});
