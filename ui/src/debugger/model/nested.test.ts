// @vitest-environment jsdom
import { describe, expect, it, vi } from "vitest";
import type { TaskView } from "../../ipc/bindings/TaskView";
import type { WithinStep } from "../../ipc/bindings/WithinStep";
import { replaceHost } from "../../ipc/client";
import { useSession } from "../../state/session";
import { fakeHost } from "../../test/fakeHost";
import { asSnapshot, followNested, locate, shownLevels, useNested } from "./nested";
import { useRuns } from "./runStore";
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

  it("says what has not run of a step that is open", async () => {
    const tasks = [task("measure", { status: "done" }), task("opine")];
    const read = async () => step(["measure", "opine"], tasks);
    expect((await locate([task("a", { within: "a:1" })], read)).next).toEqual(["opine"]);
  });

  it("is outside when the task is done or its graph has ended", async () => {
    const ended = async () => step([], []);
    expect((await locate([task("a", { within: "a:1" })], ended)).path).toEqual([]);
    expect(
      (await locate([task("a", { within: "a:1", status: "done" })], async () => step(["x"], []))).path,
    ).toEqual([]);
  });

  it("goes to the task that failed or asks before those that wait, and in the past to one that is done", async () => {
    const graphs = new Map([
      ["w", step(["later"], [])],
      ["q", step(["ask"], [])],
      ["d", step([], [])],
    ]);
    const read = async (ns: string) => graphs.get(ns);
    const tasks = [
      task("done", { within: "d", status: "done" }),
      task("waits", { within: "w" }),
      task("asks", { within: "q", status: "asking" }),
    ];
    expect((await locate(tasks, read)).path).toEqual([{ node: "asks", ns: "q" }]);
    expect((await locate(tasks.slice(0, 1), read)).path).toEqual([]);
    expect(await locate(tasks.slice(0, 1), read, true)).toEqual({
      path: [{ node: "done", ns: "d" }],
      next: [],
    });
  });

  it("shows them only for its thread, in Debug, at the moment that they are of", () => {
    const nested = { threadId: "t", at: null, path: [{ node: "a", ns: "a:1" }], depth: 1, next: ["x"] };
    const cursor = { threadId: "t", checkpointId: null };
    expect(shownLevels(nested, { cursor, use: "debug" })).toHaveLength(1);
    expect(shownLevels({ ...nested, depth: 0 }, { cursor, use: "debug" })).toEqual([]);
    expect(shownLevels(nested, { cursor: { threadId: "u", checkpointId: null }, use: "debug" })).toEqual([]);
    expect(shownLevels(nested, { cursor: { threadId: "t", checkpointId: "c" }, use: "debug" })).toEqual([]);
    expect(shownLevels(nested, { cursor, use: "design" })).toEqual([]);
    const past = { cursor: { threadId: "t", checkpointId: "c" }, use: "debug" } as const;
    expect(shownLevels({ ...nested, at: "c" }, past)).toHaveLength(1);
    expect(shownLevels({ ...nested, at: "d" }, past)).toEqual([]);
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

describe("the canvas goes into a nested graph", () => {
  const open = [task("nested", { within: "n", status: "asking" })];
  let broken = 0;
  const host = fakeHost(new Map(), {
    "thread.snapshot": () => ({ tasks: open }),
    "thread.within": () => {
      if (broken > 0) {
        broken -= 1;
        throw new Error("The graph is being built.");
      }
      return { steps: [step(["ask"], [])], more: false };
    },
  });
  replaceHost(host);
  const ended = (status: "paused" | "asking", within: string) =>
    host.tell({
      type: "run",
      run: {
        runId: "r",
        threadId: "t",
        status,
        startedAt: "2026-01-01T00:00:00Z",
        ...(status === "paused" && { stop: { reason: "before `ask`", within } }),
      },
    });
  const shows = (checkpointId: string | null) =>
    useRuns.setState({
      shown: { place: { threadId: "t", checkpointId }, era: 0, view: { tasks: open } as never },
    });

  it("with a breakpoint in it, and offers it where it asks and in the past", async () => {
    useSession.setState({ use: "debug", cursor: { threadId: "t", checkpointId: null } as never });
    followNested();
    ended("paused", "nested");
    await vi.waitFor(() => expect(useNested.getState()).toMatchObject({ at: null, depth: 1, next: ["ask"] }));

    useNested.setState({ threadId: null, path: [], depth: 0, next: [] });
    shows(null);
    await vi.waitFor(() => expect(useNested.getState().path).toHaveLength(1));
    expect(useNested.getState().depth).toBe(0);

    useSession.setState({ cursor: { threadId: "t", checkpointId: "c1" } as never });
    shows("c1");
    await vi.waitFor(() => expect(useNested.getState()).toMatchObject({ at: "c1", depth: 0 }));
    expect(useNested.getState().path).toEqual([{ node: "nested", ns: "n" }]);
  });

  it("as soon as it can be read, when it could not at once", async () => {
    useNested.setState({ threadId: null, at: null, path: [], depth: 0, next: [] });
    useSession.setState({ cursor: { threadId: "t", checkpointId: null } as never });
    broken = 1;
    ended("paused", "nested");
    await vi.waitFor(() => expect(broken).toBe(0));
    await vi.waitFor(() => expect(useNested.getState()).toMatchObject({ depth: 1, next: ["ask"] }), 5000);
  });

  it("not for a thread that is not looked at", async () => {
    useSession.setState({ cursor: { threadId: "other", checkpointId: null } as never });
    ended("paused", "nested");
    await new Promise((done) => setTimeout(done, 20));
    expect(useNested.getState().path).toEqual([]);
  });
});
