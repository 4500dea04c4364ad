import { describe, expect, it } from "vitest";
import type { AppEvent } from "../../ipc/bindings/AppEvent";
import type { SnapshotView } from "../../ipc/bindings/SnapshotView";
import type { TaskView } from "../../ipc/bindings/TaskView";
import { foldEvents, type LiveThread } from "../model/live";
import { computeOverlay, edgeKey, IDLE_NODE, keepIdentities, mostUrgent, wayOverlay } from "./overlay-model";

const task = (id: string, node: string, more: Partial<TaskView> = {}): TaskView => ({
  id,
  node,
  status: "waiting",
  interrupts: [],
  targets: [],
  ...more,
});

/** a ran, b comes next. */
const snapshot = (more: Partial<SnapshotView> = {}): SnapshotView => ({
  threadId: "t",
  checkpoint: {
    id: "c1",
    at: "",
    source: "loop",
    step: 1,
    next: ["b"],
    updated: [],
    questions: 0,
    failed: 0,
  },
  isHead: true,
  keys: [],
  next: ["b"],
  tasks: [task("tb", "b")],
  previousTasks: [task("ta", "a", { status: "done", targets: ["b"], millis: 12 })],
  visits: [{ node: "a", runs: 1 }],
  taken: [
    { from: "__start__", to: "a", times: 1 },
    { from: "a", to: "b", times: 1 },
  ],
  ...more,
});

function live(...events: AppEvent[]): LiveThread {
  const run: AppEvent = { type: "run", run: { runId: "r", threadId: "t", status: "running", startedAt: "" } };
  const thread = foldEvents(new Map(), [run, ...events]).get("t");
  if (!thread) throw new Error("the run event makes the thread");
  return thread;
}
const started = (taskId: string, node: string, step: number): AppEvent => ({
  type: "taskStarted",
  threadId: "t",
  taskId,
  node,
  step,
  at: 100,
});
const ended = (taskId: string, node: string, step: number, more = {}): AppEvent => ({
  type: "taskEnded",
  threadId: "t",
  taskId,
  node,
  step,
  at: 130,
  status: "done",
  interrupts: [],
  targets: [],
  cached: false,
  ...more,
});

describe("the overlay of a moment", () => {
  it("shows what ran with counts and durations, and what comes next", () => {
    const { nodes, edges } = computeOverlay({ snapshot: snapshot(), now: true, breakpoints: [] });
    expect(nodes.get("a")).toMatchObject({ state: "done", runs: 1, millis: 12 });
    expect(nodes.get("b")).toMatchObject({ state: "next", runs: 0 });
    expect(nodes.get("c")).toBeUndefined();
    expect(edges.get(edgeKey("a", "b"))).toEqual({ times: 1, active: false });
  });

  it("shows the next node as waiting while the run is on, then running with its edge active", () => {
    const waiting = live();
    const at = { snapshot: snapshot(), snapshotEra: waiting.era, now: true, breakpoints: [] };
    expect(computeOverlay({ ...at, live: waiting }).nodes.get("b")?.state).toBe("waiting");
    const { nodes, edges } = computeOverlay({ ...at, live: live(started("tb", "b", 2)) });
    expect(nodes.get("b")?.state).toBe("running");
    expect(edges.get(edgeKey("a", "b"))?.active).toBe(true);
  });

  it("tells two wires between the same nodes apart, where the run recorded which it followed", () => {
    const approve = { id: "r|=approve", from: "a", to: "b" };
    const reject = { id: "r|=reject", from: "a", to: "b" };
    const recorded = snapshot({
      taken: [{ from: "a", to: "b", way: "r|=approve", times: 2 }],
      previousTasks: [
        task("ta", "a", {
          status: "done",
          targets: ["b"],
          ways: [{ to: "b", way: "r|=approve", times: 1 }],
        }),
      ],
    });
    const thread = live(started("tb", "b", 2));
    const at = { snapshot: recorded, snapshotEra: thread.era, live: thread, now: true, breakpoints: [] };
    const { edges } = computeOverlay(at);
    expect(wayOverlay(edges, approve)).toEqual({ times: 2, active: true });
    expect(wayOverlay(edges, reject)).toEqual({ times: 0, active: false });
    // An older record does not say which: it may have been either.
    const older = computeOverlay({ snapshot: snapshot(), now: true, breakpoints: [] }).edges;
    expect([wayOverlay(older, approve).times, wayOverlay(older, reject).times]).toEqual([1, 1]);
    // Both: what was recorded adds to what was left open.
    const mixed = computeOverlay({
      snapshot: snapshot({ taken: [...recorded.taken, { from: "a", to: "b", times: 1 }] }),
      now: true,
      breakpoints: [],
    }).edges;
    expect([wayOverlay(mixed, approve).times, wayOverlay(mixed, reject).times]).toEqual([3, 1]);
  });

  it("counts the wires of live tasks, those to the end too", () => {
    const way = { to: "__end__", way: "r|=reject", times: 1 };
    const thread = live(started("tb", "b", 2), ended("tb", "b", 2, { ways: [way] }));
    const { edges } = computeOverlay({
      snapshot: snapshot(),
      snapshotEra: thread.era,
      live: thread,
      now: true,
      breakpoints: [],
    });
    expect(wayOverlay(edges, { id: "r|=reject", from: "b", to: "__end__" }).times).toBe(1);
    expect(wayOverlay(edges, { id: "r|=approve", from: "b", to: "__end__" }).times).toBe(0);
  });

  it("marks a node that failed and led on by its error way as neither done nor failed", () => {
    const visits = [{ node: "a", runs: 1, rerouted: true }];
    const past = computeOverlay({ snapshot: snapshot({ visits }), now: false, breakpoints: [] });
    expect(past.nodes.get("a")).toMatchObject({ state: "rerouted", runs: 1 });
    // Before the snapshot has caught up.
    const thread = live(
      started("tb", "b", 2),
      ended("tb", "b", 2, { status: "failed", error: "CodeError('no')" }),
      started("tc", "c", 3),
    );
    const at = { snapshotEra: thread.era, live: thread, now: true, breakpoints: [] };
    expect(computeOverlay({ ...at, snapshot: snapshot() }).nodes.get("b")?.state).toBe("rerouted");
    // It came there again, and did its work.
    const again = live(started("ta2", "a", 2), ended("ta2", "a", 2, { targets: ["b"] }));
    const nodes = computeOverlay({
      snapshot: snapshot({ visits, next: ["a"], tasks: [] }),
      snapshotEra: again.era,
      live: again,
      now: true,
      breakpoints: [],
    }).nodes;
    expect(nodes.get("a")).toMatchObject({ state: "done", runs: 2 });
  });

  it("counts on past the snapshot, once per task", () => {
    const thread = live(
      started("tb", "b", 2),
      ended("tb", "b", 2, { targets: ["a"] }),
      started("ta2", "a", 3),
    );
    const { nodes, edges } = computeOverlay({
      snapshot: snapshot(),
      snapshotEra: thread.era,
      live: thread,
      now: true,
      breakpoints: [],
    });
    expect(nodes.get("b")).toMatchObject({ state: "done", runs: 1, millis: 30 });
    expect(nodes.get("a")).toMatchObject({ state: "running", runs: 1 });
    expect(edges.get(edgeKey("b", "a"))).toEqual({ times: 1, active: true });
    // The same tasks when the snapshot has caught up.
    const later = snapshot({
      checkpoint: { ...snapshot().checkpoint!, step: 2, next: ["a"] },
      next: ["a"],
      tasks: [task("ta2", "a", { status: "running" })],
      previousTasks: [task("tb", "b", { status: "done", targets: ["a"] })],
      visits: [
        { node: "a", runs: 1 },
        { node: "b", runs: 1 },
      ],
    });
    const caughtUp = computeOverlay({
      snapshot: later,
      snapshotEra: thread.era,
      live: thread,
      now: true,
      breakpoints: [],
    });
    expect(caughtUp.nodes.get("b")).toMatchObject({ state: "done", runs: 1 });
    expect(caughtUp.nodes.get("a")).toMatchObject({ state: "running", runs: 1 });
  });

  it("shows one failed task of several, with its error", () => {
    const thread = live(
      started("x", "b", 2),
      started("y", "b", 2),
      ended("x", "b", 2),
      ended("y", "b", 2, { status: "failed", error: "no" }),
    );
    const node = computeOverlay({
      snapshot: snapshot(),
      snapshotEra: thread.era,
      live: thread,
      now: true,
      breakpoints: [],
    }).nodes.get("b");
    expect(node).toMatchObject({ state: "failed", error: "no", runs: 1 });
  });

  it("shows a question", () => {
    const asking = snapshot({ tasks: [task("tb", "b", { status: "asking" })] });
    expect(computeOverlay({ snapshot: asking, now: true, breakpoints: [] }).nodes.get("b")?.state).toBe(
      "asking",
    );
  });

  it("does not mix an old branch with a replay from an earlier step", () => {
    const old = snapshot({
      checkpoint: { ...snapshot().checkpoint!, step: 9 },
      tasks: [task("old", "z", { status: "asking" })],
      next: ["z"],
    });
    const thread = live(started("tb", "b", 2));
    const { nodes } = computeOverlay({
      snapshot: old,
      snapshotEra: thread.era - 1,
      live: thread,
      now: true,
      breakpoints: [],
    });
    expect(nodes.get("b")?.state).toBe("running");
    expect(nodes.get("z")).toBeUndefined();
  });

  it("keeps live events out of the past, where finished tasks are what came next", () => {
    const past = snapshot({ isHead: false, tasks: [task("tb", "b", { status: "done", targets: ["a"] })] });
    const thread = live(started("q", "a", 7));
    const { nodes, edges } = computeOverlay({
      snapshot: past,
      snapshotEra: thread.era,
      live: thread,
      now: false,
      breakpoints: [],
    });
    expect(nodes.get("b")).toMatchObject({ state: "next", runs: 0 });
    expect(nodes.get("a")?.state).toBe("done");
    expect(edges.get(edgeKey("b", "a"))).toBeUndefined();
  });

  it("marks enabled breakpoints only", () => {
    const { nodes } = computeOverlay({
      now: true,
      breakpoints: [
        { node: "a", when: "before", enabled: true },
        { node: "a", when: "after", enabled: false },
      ],
    });
    expect(nodes.get("a")).toMatchObject({ breakBefore: true, breakAfter: false, state: "idle" });
  });

  it("shows the tail of streaming text on the running node", () => {
    const thread = live(started("tb", "b", 2), {
      type: "token",
      at: 1,
      threadId: "t",
      taskId: "tb",
      node: "b",
      messageId: "m",
      piece: { type: "text", text: "Hi" },
    });
    expect(
      computeOverlay({
        snapshot: snapshot(),
        snapshotEra: thread.era,
        live: thread,
        now: true,
        breakpoints: [],
      }).nodes.get("b")?.text,
    ).toBe("Hi");
  });
});

describe("identities", () => {
  it("keeps the object of every node that did not change and names those that did", () => {
    const first = computeOverlay({ snapshot: snapshot(), now: true, breakpoints: [] });
    const same = keepIdentities(first, computeOverlay({ snapshot: snapshot(), now: true, breakpoints: [] }));
    expect(same.changedNodes).toEqual([]);
    expect(same.overlay.nodes.get("a")).toBe(first.nodes.get("a"));
    const moved = keepIdentities(
      first,
      computeOverlay({ snapshot: snapshot({ tasks: [], next: [] }), now: true, breakpoints: [] }),
    );
    expect(moved.changedNodes).toEqual(["b"]);
    expect(moved.overlay.nodes.get("a")).toBe(first.nodes.get("a"));
  });

  it.each([
    ["a run that goes on with the step", 1, "done"],
    ["a snapshot that was read before the task's end was reported", 2, "running"],
  ] as const)("counts a task once that %s tells of again", (_when, era, status) => {
    const live = foldEvents(new Map(), [
      { type: "run", run: { runId: "r2", threadId: "t", status: "running", startedAt: "" } },
      { type: "taskStarted", threadId: "t", taskId: "tb", node: "b", step: 1, at: 0 },
      {
        type: "taskEnded",
        threadId: "t",
        taskId: "tb",
        node: "b",
        step: 1,
        status: "done",
        at: 1,
        interrupts: [],
        targets: [],
        cached: false,
      },
    ] as AppEvent[]).get("t");
    const result = { value: 1 } as unknown as NonNullable<TaskView["result"]>;
    const overlay = computeOverlay({
      snapshot: snapshot({ tasks: [task("tb", "b", { status, result })], visits: [{ node: "b", runs: 1 }] }),
      snapshotEra: era === 1 ? 0 : 1,
      ...(live && { live }),
      now: true,
      breakpoints: [],
    });
    expect(overlay.nodes.get("b")?.runs).toBe(1);
  });

  it("counts a task once that the open step has finished: visits of now include it", () => {
    const overlay = computeOverlay({
      snapshot: snapshot({
        next: ["b", "ask"],
        tasks: [task("tb", "b", { status: "done", targets: ["c"] }), task("tq", "ask", { status: "asking" })],
        visits: [
          { node: "a", runs: 1 },
          { node: "b", runs: 1 },
        ],
        taken: [{ from: "b", to: "c", times: 1 }],
      }),
      now: true,
      breakpoints: [],
    });
    expect(overlay.nodes.get("b")).toMatchObject({ state: "done", runs: 1 });
    expect(overlay.edges.get(edgeKey("b", "c"))?.times).toBe(1);
    expect(overlay.nodes.get("ask")?.state).toBe("asking");
  });
});

it("shows for several nodes the one that most wants attention", () => {
  const [done, asking, failed] = (["done", "asking", "failed"] as const).map((state) => ({
    ...IDLE_NODE,
    state,
  }));
  expect(mostUrgent([])).toBe(IDLE_NODE);
  expect(mostUrgent([IDLE_NODE, done!])).toBe(done);
  expect(mostUrgent([asking!, done!])).toBe(asking);
  expect(mostUrgent([done!, asking!, failed!])).toBe(failed);
});
