import { describe, expect, it } from "vitest";
import type { TaskView } from "../../ipc/bindings/TaskView";
import type { WithinStep } from "../../ipc/bindings/WithinStep";
import { asSnapshot, locate, shownLevels } from "./nested";
import { computeOverlay, edgeKey } from "../overlay/overlay-model";

const task = (node: string, more: Partial<TaskView> = {}): TaskView => ({
  id: node,
  node,
  status: "waiting",
  interrupts: [],
  targets: [],
  ...more,
});
const step = (next: string[], tasks: TaskView[], number = 0): WithinStep => ({
  checkpoint: {
    id: `c${number}`,
    at: "",
    source: "loop",
    step: number,
    next,
    updated: [],
    questions: 0,
    failed: 0,
  },
  tasks,
  state: {},
});

describe("where a thread stands inside nested graphs", () => {
  it("goes down to the innermost graph that has something left to run", async () => {
    const graphs = new Map([
      ["a:1", step(["deep"], [task("deep", { within: "a:1|deep:2" })])],
      ["a:1|deep:2", step(["leaf"], [task("leaf")])],
    ]);
    const found = await locate([task("other"), task("a", { within: "a:1" })], async (ns) => graphs.get(ns));
    expect(found.path.map(({ node }) => node)).toEqual(["a", "deep"]);
    expect(found.next).toEqual(["leaf"]);
  });

  it("is outside when the task is done or its graph has ended", async () => {
    const ended = async () => step([], []);
    expect((await locate([task("a", { within: "a:1" })], ended)).path).toEqual([]);
    expect(
      (await locate([task("a", { within: "a:1", status: "done" })], async () => step(["x"], []))).path,
    ).toEqual([]);
  });

  it("shows them only for its thread, in Debug, and not in the past", () => {
    const nested = { threadId: "t", path: [{ node: "a", ns: "a:1" }], depth: 1, next: ["x"] };
    const cursor = { threadId: "t", checkpointId: null };
    expect(shownLevels(nested, { cursor, use: "debug" })).toHaveLength(1);
    expect(shownLevels({ ...nested, depth: 0 }, { cursor, use: "debug" })).toEqual([]);
    expect(shownLevels(nested, { cursor: { threadId: "u", checkpointId: null }, use: "debug" })).toEqual([]);
    expect(shownLevels(nested, { cursor: { threadId: "t", checkpointId: "c" }, use: "debug" })).toEqual([]);
    expect(shownLevels(nested, { cursor, use: "design" })).toEqual([]);
  });

  it("counts what ran and says what is next", () => {
    const steps = [
      step(["b"], [task("b")], 2),
      step(["a"], [task("a", { status: "done", targets: ["b"] })], 1),
      step(["__start__"], [task("__start__", { status: "done", targets: ["a"] })], 0),
    ];
    const snapshot = asSnapshot("t", steps);
    const overlay = computeOverlay({
      ...(snapshot && { snapshot }),
      now: true,
      running: false,
      breakpoints: [],
    });
    expect(overlay.nodes.get("a")).toMatchObject({ state: "done", runs: 1 });
    expect(overlay.nodes.get("b")).toMatchObject({ state: "next", runs: 0 });
    expect(overlay.edges.get(edgeKey("a", "b"))?.times).toBe(1);
    expect(overlay.edges.get(edgeKey("__start__", "a"))?.times).toBe(1);
  });
});
