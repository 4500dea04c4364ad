import { describe, expect, it } from "vitest";
import type { AppEvent } from "../../ipc/bindings/AppEvent";
import type { TokenPiece } from "../../ipc/bindings/TokenPiece";
import { foldEvents, forgetTasks, isRunning, type LiveThreads, pruneTo } from "./live";

const run = (status: "running" | "done" | "stopped", runId = "r1"): AppEvent => ({
  type: "run",
  run: { runId, threadId: "t", status, startedAt: "2026-01-01T00:00:00Z" },
});
const started = (taskId: string, node: string, step: number, at = 0): AppEvent => ({
  type: "taskStarted",
  threadId: "t",
  taskId,
  node,
  step,
  at,
});
const ended = (
  taskId: string,
  node: string,
  step: number,
  more: Partial<Extract<AppEvent, { type: "taskEnded" }>> = {},
): AppEvent => ({
  type: "taskEnded",
  threadId: "t",
  taskId,
  node,
  step,
  at: 10,
  status: "done",
  interrupts: [],
  targets: [],
  cached: false,
  ...more,
});
const token = (node: string, text: string): AppEvent => ({
  type: "token",
  at: 1,
  threadId: "t",
  taskId: "a",
  node,
  messageId: "m",
  piece: { type: "text", text },
});

const EMPTY: LiveThreads = new Map();

describe("folding the event stream", () => {
  it("follows a task from its start to its end with its duration and targets", () => {
    const threads = foldEvents(EMPTY, [
      run("running"),
      started("a", "plan", 1, 5),
      ended("a", "plan", 1, { at: 25, targets: ["work"] }),
    ]);
    const task = threads.get("t")?.tasks.get("a");
    expect(task).toMatchObject({
      node: "plan",
      status: "done",
      startedAt: 5,
      endedAt: 25,
      targets: ["work"],
    });
    expect(isRunning(threads.get("t"))).toBe(true);
  });

  it("forgets what ran on the branch that an edit has left", () => {
    const checkpoint = (source: string): AppEvent => ({
      type: "checkpoint",
      threadId: "t",
      checkpoint: { id: "c", at: "", source, step: 1, next: ["plan"], updated: [], questions: 0, failed: 0 },
    });
    const ran = foldEvents(EMPTY, [
      run("running"),
      started("a", "plan", 3),
      ended("a", "plan", 3),
      run("done"),
    ]);
    expect(foldEvents(ran, [checkpoint("loop")]).get("t")?.tasks.size).toBe(1);
    const edited = foldEvents(ran, [checkpoint("update")]).get("t");
    expect(edited?.tasks.size).toBe(0);
    expect(edited?.era, "a snapshot of before the edit is of another branch").toBe(
      (ran.get("t")?.era ?? 0) + 1,
    );
  });

  it("keeps the identity of everything when nothing concerns a thread", () => {
    const threads = foldEvents(EMPTY, [run("running")]);
    expect(foldEvents(threads, [{ type: "inbox", waiting: 2 }])).toBe(threads);
    const other = foldEvents(threads, [{ ...started("x", "n", 1), threadId: "u" } as AppEvent]);
    expect(other.get("t")).toBe(threads.get("t"));
  });

  it("starts a new era with a new run, and not with another word about the same run", () => {
    const first = foldEvents(EMPTY, [run("running"), started("a", "plan", 1)]);
    const same = foldEvents(first, [run("running")]);
    expect(same.get("t")?.era).toBe(first.get("t")?.era);
    expect(same.get("t")?.tasks.size).toBe(1);
    const second = foldEvents(first, [run("running", "r2")]);
    expect(second.get("t")?.era).toBe((first.get("t")?.era ?? 0) + 1);
    expect(second.get("t")?.tasks.size).toBe(0);
  });

  it("does not begin a run again that is known to be over", () => {
    const over = foldEvents(EMPTY, [run("running"), run("done")]);
    expect(foldEvents(over, [run("running")])).toBe(over);
    expect(isRunning(foldEvents(over, [run("running", "r2")]).get("t"))).toBe(true);
  });

  it("leaves nothing running when the run is over", () => {
    const threads = foldEvents(EMPTY, [
      run("running"),
      started("a", "plan", 1),
      token("plan", "hel"),
      run("stopped"),
    ]);
    expect(threads.get("t")?.tasks.get("a")?.status).toBe("waiting");
    expect(threads.get("t")?.text.size).toBe(0);
  });

  it("joins tokens, keeps only their tail, and starts over with the next task of the node", () => {
    let threads = foldEvents(EMPTY, [
      run("running"),
      started("a", "say", 1),
      token("say", "Hello "),
      token("say", "world"),
    ]);
    expect(threads.get("t")?.text.get("say")).toBe("Hello world");
    threads = foldEvents(threads, [token("say", "x".repeat(1000))]);
    expect(threads.get("t")?.text.get("say")).toHaveLength(400);
    threads = foldEvents(threads, [started("b", "say", 3)]);
    expect(threads.get("t")?.text.has("say")).toBe(false);
    const attempt = { attempt: 1, error: "the connection ended" };
    threads = foldEvents(threads, [
      token("say", "One two "),
      { type: "taskAttempt", threadId: "t", taskId: "b", node: "say", step: 3, at: 5, attempt },
      token("say", "One two three."),
    ]);
    expect(threads.get("t")?.text.get("say")).toBe("One two three.");
    threads = foldEvents(threads, [started("c", "say", 5)]);
    const piece = (piece: TokenPiece): AppEvent => ({ ...token("say", ""), piece }) as AppEvent;
    threads = foldEvents(threads, [
      piece({ type: "reasoning", text: "Hm." }),
      piece({ type: "text", text: "I look." }),
      piece({ type: "call", index: 0, name: "find", text: '{"q"' }),
      piece({ type: "call", index: 0, text: ":1}" }),
    ]);
    expect(threads.get("t")?.text.get("say")).toBe('I look.\nfind {"q":1}');
  });

  it("forgets finished tasks that a snapshot has, but not those of an older era", () => {
    const threads = foldEvents(EMPTY, [
      run("running"),
      started("a", "one", 1),
      ended("a", "one", 1),
      started("b", "two", 2),
      ended("b", "two", 2),
      started("c", "three", 3),
    ]);
    const era = threads.get("t")?.era ?? 0;
    expect([...(pruneTo(threads, "t", era, 2).get("t")?.tasks.keys() ?? [])]).toEqual(["b", "c"]);
    expect(pruneTo(threads, "t", era - 1, 2)).toBe(threads);
  });

  it("never grows without bound in a fast loop", () => {
    const events: AppEvent[] = [run("running")];
    for (let step = 0; step < 5000; step += 1)
      events.push(started(`k${step}`, "loop", step), ended(`k${step}`, "loop", step));
    expect(foldEvents(EMPTY, events).get("t")?.tasks.size).toBeLessThanOrEqual(2000);
  });

  it("shows nothing as running for ever after lost events", () => {
    const threads = foldEvents(EMPTY, [run("running"), started("a", "plan", 1)]);
    const after = forgetTasks(threads);
    expect(after.get("t")?.tasks.size).toBe(0);
    expect(after.get("t")?.era).toBeGreaterThan(threads.get("t")?.era ?? 0);
  });

  it("drops a deleted thread", () => {
    const threads = foldEvents(EMPTY, [run("running")]);
    expect(foldEvents(threads, [{ type: "threadDeleted", threadId: "t" }]).has("t")).toBe(false);
  });
});
