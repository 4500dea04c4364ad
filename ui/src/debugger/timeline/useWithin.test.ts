import { describe, expect, it } from "vitest";
import type { AppEvent } from "../../ipc/bindings/AppEvent";
import { concerns } from "./useWithin";

describe("what changes the steps of a nested graph", () => {
  it("is a step of that graph, or the end of a run of its thread", () => {
    const within: AppEvent = { type: "within", threadId: "t", ns: "work:1", next: [] };
    expect(concerns(within, "t", "work:1")).toBe(true);
    expect(concerns(within, "t", "work:2")).toBe(false);
    expect(concerns(within, "other", "work:1")).toBe(false);
    const run: AppEvent = {
      type: "run",
      run: { runId: "r", threadId: "t", status: "done", startedAt: "2026-01-01T00:00:00Z" },
    };
    expect(concerns(run, "t", "work:1")).toBe(true);
    expect(concerns(run, "other", "work:1")).toBe(false);
    expect(concerns({ type: "inbox", waiting: 1 }, "t", "work:1")).toBe(false);
  });
});
