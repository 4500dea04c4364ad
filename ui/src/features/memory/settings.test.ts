/** What the form of long-term memory makes of its settings, and back. */
import { describe, expect, it } from "vitest";
import type { MemorySettings } from "../../ipc/bindings/MemorySettings";
import { isComplete, memoryOf, sameMemory, shapeOf } from "./settings";

describe("settings of long-term memory", () => {
  it("come back as they were", () => {
    const all: MemorySettings[] = [
      { refreshOnRead: true },
      { embedding: "ngrams", refreshOnRead: false },
      { embedding: "office::embed", ttlMinutes: 90, refreshOnRead: true },
      { ttlMinutes: 3 * 24 * 60, refreshOnRead: true },
    ];
    for (const memory of all) expect(memoryOf(shapeOf(memory))).toEqual(memory);
    expect(shapeOf(all[2]).unit).toBe("minutes");
    expect(shapeOf(all[3])).toMatchObject({ time: 3, unit: "days", way: "words" });
    expect(memoryOf(shapeOf(undefined))).toEqual({ refreshOnRead: true });
  });

  it("differ only by what a person chose", () => {
    expect(sameMemory(memoryOf(shapeOf(undefined)), undefined)).toBe(true);
    const kept = { embedding: "office::embed", dims: 768, refreshOnRead: true };
    expect(sameMemory(memoryOf(shapeOf(kept)), kept)).toBe(true);
    expect(sameMemory({ ...kept, ttlMinutes: 1 }, kept)).toBe(false);
  });

  it("want a model with its connection", () => {
    const shape = shapeOf({ embedding: "office::embed", refreshOnRead: true });
    expect(isComplete(shape)).toBe(true);
    for (const model of ["", "embed", "office::", " :: "])
      expect(isComplete({ ...shape, model })).toBe(false);
    expect(isComplete({ ...shape, way: "words", model: "" })).toBe(true);
  });
});
