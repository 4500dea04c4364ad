import { describe, expect, test } from "vitest";
import { logLine, momentOfEntry, progressLine, reachOf, shownEntries } from "./stream-lines";
import type { LogEntry } from "./stream-log";

let count = 0;
type Body = LogEntry extends infer E ? (E extends LogEntry ? Omit<E, "id" | "at"> : never) : never;
const entry = (body: Body): LogEntry => ({ ...body, id: (count += 1), at: count }) as LogEntry;

const checkpoint = (checkpointId: string, step: number) =>
  entry({ type: "checkpoint", checkpointId, step, source: "loop", next: [] });
const task = (taskId: string, node: string, status: "done" | "failed" = "done") =>
  entry({ type: "task", taskId, node, step: 1, status, cached: false });
const custom = (node: string, value: unknown, taskId?: string) =>
  entry({ type: "custom", node, value, ...(taskId !== undefined && { taskId }) });
const run = (status: string) => entry({ type: "run", status });

describe("lines", () => {
  test("what a program logged has its level and its text; anything else is no line", () => {
    expect(logLine({ log: "a", node: "n" })).toEqual({ level: "log", text: "a" });
    expect(logLine({ log: "b\nc", node: "n", level: "warn", item: 3 })).toEqual({
      level: "warn",
      text: "b\nc",
      item: 3,
    });
    expect(logLine({ log: "hit", breakpoint: "p" })?.level).toBe("breakpoint");
    expect(logLine({ log: "broken", invariant: "i" })?.level).toBe("invariant");
    expect(logLine({ log: "x", level: "shouted" })?.level).toBe("log");
    for (const other of [null, "log", 3, [], { log: 3 }, { line: "a" }]) expect(logLine(other)).toBeNull();
  });

  test("how far a program is", () => {
    expect(progressLine({ progress: { done: 1, total: 3, text: "page" }, node: "n" })).toEqual({
      done: 1,
      total: 3,
      text: "page",
    });
    expect(progressLine({ progress: "half" })).toBeNull();
    expect(progressLine({ progress: { total: 3 } })).toBeNull();
  });
});

test("only logs, only what is wrong, only of a node", () => {
  const entries = [
    run("running"),
    task("t", "a"),
    custom("a", { log: "quiet" }, "t"),
    custom("b", { log: "loud", level: "warn" }),
    custom("b", { rows: 3 }),
    task("u", "b", "failed"),
    checkpoint("c", 1),
  ];
  const brief = (what: "all" | "logs" | "wrong", node: string | null) =>
    shownEntries(entries, { what, node }).map((one) => entries.indexOf(one));
  expect(shownEntries(entries, { what: "all", node: null })).toBe(entries);
  expect(brief("logs", null)).toEqual([2, 3]);
  expect(brief("wrong", null)).toEqual([3, 5]);
  expect(brief("all", "a")).toEqual([1, 2]);
  expect(brief("logs", "b")).toEqual([3]);
});

describe("moments", () => {
  const entries = [
    run("running"),
    checkpoint("c0", -1),
    task("t1", "a"),
    custom("a", { log: "one" }, "t1"),
    checkpoint("c1", 0),
    task("t2", "b"),
    custom("b", { log: "two" }, "t2"),
    checkpoint("c2", 1),
    run("done"),
    // A replay from the first checkpoint.
    run("running"),
    task("t3", "a"),
    custom("a", { log: "again" }, "t3"),
    checkpoint("f1", 0),
  ];
  const place = (reach: ReturnType<typeof reachOf>) =>
    reach && [reach.from, reach.to].map((id) => entries.findIndex((one) => one.id === id));

  test("a checkpoint has the events of the step that made it, a task its own", () => {
    expect(place(reachOf(entries, "c1", null))).toEqual([2, 4]);
    expect(place(reachOf(entries, "c2", null))).toEqual([5, 7]);
    expect(place(reachOf(entries, "f1", null))).toEqual([9, 12]);
    expect(place(reachOf(entries, "c1", "t2"))).toEqual([5, 6]);
    expect(place(reachOf(entries, null, "t2"))).toEqual([5, 6]);
    expect(reachOf(entries, null, null)).toBeNull();
    expect(reachOf(entries, "not kept", "nor it")).toBeNull();
    expect(place(reachOf(entries, "c1", "not kept"))).toEqual([2, 4]);
  });

  test("an event leads to the state that its step began from, also after a fork", () => {
    const parents: Record<string, string> = { c1: "c0", c2: "c1", f1: "c0" };
    const moment = (at: number) => momentOfEntry(entries, entries[at]!.id, (id) => parents[id]);
    expect(moment(3)).toEqual({ checkpointId: "c0", taskId: "t1" });
    expect(moment(6)).toEqual({ checkpointId: "c1", taskId: "t2" });
    expect(moment(7)).toEqual({ checkpointId: "c2", taskId: null });
    expect(moment(11)).toEqual({ checkpointId: "c0", taskId: "t3" });
    expect(moment(0)).toBeNull();
    // The list of checkpoints is not there yet: the one before it in the log.
    expect(momentOfEntry(entries, entries[6]!.id, () => undefined)?.checkpointId).toBe("c1");
  });
});
