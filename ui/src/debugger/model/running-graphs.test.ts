import { describe, expect, it } from "vitest";
import type { AppEvent } from "../../ipc/bindings/AppEvent";
import type { RunStatus } from "../../ipc/bindings/RunStatus";
import { withRuns } from "./running-graphs";

const thread = (threadId: string, status: RunStatus, graphPath?: string): AppEvent => ({
  type: "thread",
  thread: {
    threadId,
    title: threadId,
    graphName: "g",
    ...(graphPath !== undefined && { graphPath }),
    status,
    next: [],
    questions: 0,
    checkpoints: 1,
    step: 0,
    createdAt: "2026-01-01T00:00:00Z",
    updatedAt: "2026-01-01T00:00:00Z",
  },
});

describe("graphs that run", () => {
  it("are those of threads that run, until their run is over", () => {
    const begun = withRuns(new Map(), [thread("a", "running", "/x.json"), thread("b", "running", "/x.json")]);
    expect([...begun]).toEqual([
      ["a", "/x.json"],
      ["b", "/x.json"],
    ]);
    const asking = withRuns(begun, [
      { type: "run", run: { runId: "r", threadId: "a", status: "asking", startedAt: "" } },
    ]);
    expect([...asking.keys()]).toEqual(["b"]);
    expect([...withRuns(asking, [thread("b", "done", "/x.json")])]).toEqual([]);
    expect([...withRuns(asking, [{ type: "threadDeleted", threadId: "b" }])]).toEqual([]);
  });

  it("stay the same object when nothing of them changes", () => {
    const begun = withRuns(new Map(), [thread("a", "running", "/x.json")]);
    expect(withRuns(begun, [thread("a", "running", "/x.json"), thread("c", "done", "/y.json")])).toBe(begun);
    expect(withRuns(begun, [thread("d", "running")])).toBe(begun);
  });
});
