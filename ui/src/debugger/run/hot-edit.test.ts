import { describe, expect, it } from "vitest";
import type { GoOnReport } from "../../ipc/bindings/GoOnReport";
import { likely, matters } from "./hot-edit";

const NOTHING: GoOnReport = { tasks: [], keys: [], questions: [], programs: [] };

describe("a graph that changed under a thread", () => {
  it("is asked about only where it matters", () => {
    expect(matters(NOTHING)).toBe(false);
    expect(matters({ ...NOTHING, programs: ["lib/a.js"] })).toBe(false);
    expect(matters({ ...NOTHING, keys: [{ key: "n", change: "gone", before: "number", after: "" }] })).toBe(
      true,
    );
  });

  it("proposes each new node once, in the place of what is gone at the top", () => {
    const gone = (node: string, path: string[], candidates: string[]) =>
      ({ node, path, change: "gone", candidates }) as const;
    const tasks = [
      gone("a", [], ["x", "y"]),
      gone("b", [], ["x", "y"]),
      gone("inner", ["desk"], ["x"]),
      { ...gone("c", [], ["y"]), change: "kind" as const },
    ];
    expect(likely({ ...NOTHING, tasks })).toEqual({ a: "x", b: "y" });
  });
});
