import { beforeEach, describe, expect, it, vi } from "vitest";
import type { AppEvent } from "../../ipc/bindings/AppEvent";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import type { RunView } from "../../ipc/bindings/RunView";
import type { ThreadView } from "../../ipc/bindings/ThreadView";
import type { FoundFilter } from "./found-threads";

const calls: { command: string; request: unknown }[] = [];
const answers = new Map<string, (request: never) => unknown>();

vi.mock("../../ipc/client", () => ({
  rpc: async (command: string, request: never) => {
    calls.push({ command, request });
    const answer = answers.get(command);
    if (!answer) throw Object.assign(new Error(`${command} is not expected`), { code: "unexpected" });
    return answer(request);
  },
  subscribe: () => () => {},
  RpcProblem: class RpcProblem extends Error {},
}));

const { streamLog, useRuns } = await import("./runStore");
const { loadCheckpoints } = await import("./checkpoints");
const { loadThreads } = await import("./thread-list");
const { noteAway, noteRun, receive, recover } = await import("./events");
const { programOf, statusOf } = await import("./status");
const { withCheckpoint } = await import("./pages");
const { useSession } = await import("../../state/session");

const store = () => useRuns.getState();
const checkpoint = (id: string, more: Partial<CheckpointView> = {}): CheckpointView => ({
  id,
  at: "",
  source: "loop",
  step: 0,
  next: [],
  updated: [],
  questions: 0,
  failed: 0,
  ...more,
});
const thread = (threadId: string, more: Partial<ThreadView> = {}): ThreadView => ({
  threadId,
  title: threadId,
  graphName: "g",
  status: "done",
  next: [],
  questions: 0,
  checkpoints: 1,
  step: 0,
  createdAt: "2026-01-01T00:00:00Z",
  updatedAt: "2026-01-01T00:00:00Z",
  ...more,
});
const run = (status: "running" | "asking", runId = "r"): AppEvent & { type: "run" } => ({
  type: "run",
  run: { runId, threadId: "t", status, startedAt: "" },
});

beforeEach(() => {
  calls.length = 0;
  answers.clear();
  useRuns.setState(useRuns.getInitialState());
  useSession.setState({ cursor: { threadId: null, checkpointId: null }, graphId: "g" });
});

describe("receiving events", () => {
  it("keeps known threads up to date, newest change first", () => {
    useRuns.setState({
      threads: new Map([
        ["a", thread("a")],
        ["b", thread("b")],
      ]),
      order: ["a", "b"],
      total: 2,
    });
    receive([
      { type: "thread", thread: thread("b", { status: "running", updatedAt: "2026-01-02T00:00:00Z" }) },
    ]);
    expect(store().order).toEqual(["b", "a"]);
    expect(statusOf(store(), "b")).toBe("running");
  });

  const row = (threadId: string, status: ThreadView["status"] = "running") => thread(threadId, { status });
  const isOnItsWay = () => {
    useRuns.setState({
      threads: new Map(["a", "b", "c"].map((id) => [id, row(id)])),
      order: ["a", "b", "c"],
      total: 3,
    });
    let give: (answer: unknown) => void = () => {};
    const answer = new Promise((resolve) => (give = resolve));
    return { answer, give };
  };
  const change = () =>
    receive([
      { type: "thread", thread: row("a", "done") },
      { type: "threadDeleted", threadId: "b" },
    ]);
  const shown = () => [...store().threads].map(([id, { status }]) => `${id} ${status}`);

  it("wins over a list that was on its way", async () => {
    const { answer, give } = isOnItsWay();
    answers.set("thread.list", () => answer);
    const loading = loadThreads();
    change();
    give({ threads: [row("a"), row("b"), row("c", "asking"), row("d")], total: 4 });
    await loading;
    expect(shown()).toEqual(["a done", "c asking", "d running"]);
  });

  /** The list is read again soon after an event of a thread that it did not have. */
  const isReadAgain = (times: number) =>
    vi.waitFor(() => expect(calls.filter(({ command }) => command === "thread.list").length).toBe(times));

  it("has a thread in the list as soon as it has begun, also while the list is read", async () => {
    useSession.setState({ graphKey: "/graphs/one.json" });
    const { answer, give } = isOnItsWay();
    useRuns.setState({ threadsState: "ready" });
    answers.set("thread.list", () => answer);
    const loading = loadThreads();
    const began = (threadId: string, graphPath: string) =>
      thread(threadId, { graphPath, status: "running", updatedAt: "2026-01-02T00:00:00Z" });
    receive([
      { type: "thread", thread: began("new", "/graphs/one.json") },
      { type: "thread", thread: began("other", "/graphs/two.json") },
    ]);
    expect(store().order).toEqual(["new", "c", "b", "a"]);
    expect(store().total).toBe(4);
    give({ threads: [row("a"), row("b"), row("c")], total: 3 });
    await loading;
    expect(store().order).toEqual(["new", "c", "b", "a"]);
    await isReadAgain(2);
  });

  it("leaves to the workbench which threads a filter has", async () => {
    useSession.setState({ graphKey: "/graphs/one.json" });
    useRuns.setState({ threadsState: "ready", filter: { ...store().filter, status: "failed" } });
    answers.set("thread.list", () => ({ threads: [], total: 0 }));
    receive([{ type: "thread", thread: thread("new", { graphPath: "/graphs/one.json" }) }]);
    expect(store().order).toEqual([]);
    await isReadAgain(1);
  });

  it("wins over what a saved search has found meanwhile", async () => {
    const { answer, give } = isOnItsWay();
    const found = [row("d"), row("c", "asking"), row("b"), row("a")];
    const moments = found.map(({ threadId }) => ({ threadId }));
    answers.set("moments.find", () => ({ moments, progress: {} }));
    answers.set("thread.get", async ({ threadId }: { threadId: string }) => {
      await answer;
      return found.find((each) => each.threadId === threadId);
    });
    useRuns.setState({ filter: { ...store().filter, found: { name: "All", request: {} } as FoundFilter } });
    const loading = loadThreads();
    change();
    give(null);
    await loading;
    expect(shown()).toEqual(["d running", "c asking", "a done"]);
    expect(store().order).toEqual(["d", "c", "a"]);
    expect(store().total).toBe(3);
  });

  it("does not take the first threads by their ids for all, nor for the newest", async () => {
    useRuns.setState({ threads: new Map(), order: [], total: 9 });
    answers.set("thread.list", () => ({ threads: [row("a"), row("b")], sorting: true }));
    await loadThreads();
    expect([store().threadsSorting, store().total, store().threadsNext]).toEqual([true, 2, null]);
    answers.set("thread.list", () => ({ threads: [row("y"), row("z")], total: 9, next: "place" }));
    await loadThreads();
    expect([store().threadsSorting, store().total, store().threadsNext]).toEqual([false, 9, "place"]);
  });

  it("moves the cursor away from a thread that was deleted", () => {
    useRuns.setState({ threads: new Map([["a", thread("a")]]), order: ["a"], total: 1 });
    useSession.setState({ cursor: { threadId: "a", checkpointId: "c" } });
    receive([{ type: "threadDeleted", threadId: "a" }]);
    expect(store().order).toEqual([]);
    expect(useSession.getState().cursor).toEqual({ threadId: null, checkpointId: null });
  });

  it("trusts a live run more than the thread's row", () => {
    useRuns.setState({ threads: new Map([["t", thread("t", { status: "paused" })]]), order: ["t"] });
    receive([run("running")]);
    expect(statusOf(store(), "t")).toBe("running");
    receive([run("asking")]);
    expect(statusOf(store(), "t")).toBe("paused");
  });

  it("names the program that runs a thread, and only while it does", () => {
    const elsewhere = thread("t", { status: "running", program: "the nightly import" });
    expect(programOf(elsewhere, undefined)).toBe("the nightly import");
    expect(programOf({ ...elsewhere, status: "paused" }, undefined)).toBeUndefined();
    receive([run("running")]);
    expect(programOf(elsewhere, store().live.get("t")), "it runs here").toBeUndefined();
    receive([{ type: "run", run: { ...run("running").run, runId: "s", program: "another window" } }]);
    expect(programOf(elsewhere, store().live.get("t"))).toBe("another window");
    receive([run("asking", "s")]);
    expect(programOf(thread("t", { status: "asking" }), store().live.get("t"))).toBeUndefined();
  });

  it("ignores the late answer to run.start when the run is over", () => {
    receive([run("running"), run("asking")]);
    noteRun(run("running").run);
    expect(store().live.get("t")?.run?.status).toBe("asking");
  });
});

describe("checkpoints", () => {
  it("joins what came while the list was on its way", async () => {
    answers.set("thread.checkpoints", () => {
      receive([{ type: "checkpoint", threadId: "t", checkpoint: checkpoint("c3") }]);
      return { checkpoints: [checkpoint("c2"), checkpoint("c1")], more: false };
    });
    await loadCheckpoints("t");
    expect(
      store()
        .checkpoints.get("t")
        ?.list.map(({ id }) => id),
    ).toEqual(["c3", "c2", "c1"]);
  });

  it("puts a late checkpoint in its place and replaces one that is known", () => {
    const pages = { list: [checkpoint("c3"), checkpoint("c1")], more: false, state: "ready" as const };
    expect(withCheckpoint(pages, checkpoint("c2")).list.map(({ id }) => id)).toEqual(["c3", "c2", "c1"]);
    expect(withCheckpoint(pages, checkpoint("c1", { questions: 2 })).list[1]?.questions).toBe(2);
  });

  it("knows which runs ended at a question or a breakpoint, from the list and from events", async () => {
    const run = (runId: string, more: object): RunView => ({
      runId,
      threadId: "t",
      status: "done",
      startedAt: "",
      ...more,
    });
    answers.set("thread.checkpoints", () => ({
      checkpoints: [checkpoint("c1")],
      more: false,
      runs: [run("r1", { status: "asking" })],
    }));
    await loadCheckpoints("t");
    const stop = { reason: "n became 3", within: "" };
    receive([
      { type: "run", run: run("r2", { status: "running" }) },
      { type: "run", run: run("r2", { status: "paused", stop }) },
      { type: "run", run: run("r3", { status: "done" }) },
    ]);
    const { runs } = store().checkpoints.get("t") ?? {};
    expect([...(runs?.keys() ?? [])]).toEqual(["r1", "r2"]);
    expect(runs?.get("r2")?.stop?.reason).toBe("n became 3");
  });

  it("keeps a run that ended while the list was on its way, or before it was asked for", async () => {
    const asking: RunView = { runId: "r9", threadId: "u", status: "asking", startedAt: "" };
    answers.set("thread.checkpoints", () => {
      receive([{ type: "run", run: asking }]);
      return { checkpoints: [checkpoint("c1")], more: false, runs: [] };
    });
    await loadCheckpoints("u");
    expect([...(store().checkpoints.get("u")?.runs?.keys() ?? [])]).toEqual(["r9"]);
    receive([{ type: "run", run: { ...asking, threadId: "v" } }]);
    answers.set("thread.checkpoints", () => ({ checkpoints: [], more: false, runs: [] }));
    await loadCheckpoints("v");
    expect([...(store().checkpoints.get("v")?.runs?.keys() ?? [])]).toEqual(["r9"]);
  });

  it("takes the questions off a checkpoint that was gone on from, not off one that was forked by an edit", () => {
    const pages = { list: [checkpoint("c1", { questions: 1 })], more: false, state: "ready" as const };
    expect(withCheckpoint(pages, checkpoint("c2", { parent: "c1" })).list[1]?.questions).toBe(0);
    expect(
      withCheckpoint(pages, checkpoint("c2", { parent: "c1", source: "update" })).list[1]?.questions,
    ).toBe(1);
  });
});

describe("after lost events", () => {
  it("forgets live tasks and asks again for everything that is shown", async () => {
    answers.set("thread.list", () => ({ threads: [thread("t", { status: "failed" })], total: 1 }));
    answers.set("thread.checkpoints", () => ({ checkpoints: [checkpoint("c9")], more: false }));
    useSession.setState({ cursor: { threadId: "t", checkpointId: null } });
    receive([run("running"), { type: "taskStarted", threadId: "t", taskId: "x", node: "n", step: 1, at: 0 }]);
    recover();
    expect(store().live.get("t")?.tasks.size).toBe(0);
    await vi.waitFor(() => expect(store().threadsState).toBe("ready"));
    expect(calls.map(({ command }) => command).sort()).toEqual([
      "thread.checkpoints",
      "thread.events",
      "thread.list",
    ]);
    await vi.waitFor(() => expect(store().checkpoints.get("t")?.list[0]?.id).toBe("c9"));
    expect(statusOf(store(), "t"), "a run whose end was lost is not shown as running for ever").toBe(
      "failed",
    );
  });

  it("shows nothing as running while the host is away, and what it said when it is back", () => {
    useRuns.setState({ threads: new Map([["t", thread("t", { status: "running" })]]) });
    receive([run("running"), { type: "taskStarted", threadId: "t", taskId: "x", node: "n", step: 1, at: 0 }]);
    noteAway(true);
    expect(statusOf(store(), "t")).toBe("unknown");
    expect(store().live.get("t")?.tasks.size).toBe(0);
    noteAway(false);
    expect(statusOf(store(), "t"), "the thread's row counts again").toBe("running");
  });

  it("keeps saying how a thread ended while the host is away", () => {
    useRuns.setState({ threads: new Map([["t", thread("t", { status: "asking" })]]) });
    noteAway(true);
    expect(statusOf(store(), "t")).toBe("asking");
  });
});

describe("a change of another program", () => {
  const changed = (more: { threads?: boolean; settings?: boolean }): AppEvent => ({
    type: "changed",
    threads: false,
    settings: false,
    ...more,
  });

  it("reads again what is shown, keeps what was scrolled to, and drops what is gone", async () => {
    useSession.setState({ cursor: { threadId: "t", checkpointId: null } });
    const pages = ["c4", "c3", "c2", "c1"].map((id) => checkpoint(id));
    useRuns.setState({ checkpoints: new Map([["t", { list: pages, more: false, state: "ready" }]]) });
    answers.set("thread.checkpoints", () => ({
      checkpoints: [checkpoint("c5"), checkpoint("c3")],
      more: true,
    }));
    answers.set("thread.list", () => ({ threads: [thread("t", { status: "running" })], total: 1 }));
    receive([changed({ threads: true })]);
    expect(store().checkpoints.get("t")?.state, "the list stays in view").toBe("ready");
    await vi.waitFor(() =>
      expect(
        store()
          .checkpoints.get("t")
          ?.list.map(({ id }) => id),
      ).toEqual(["c5", "c3", "c2", "c1"]),
    );
    await vi.waitFor(() => expect(statusOf(store(), "t")).toBe("running"));
  });

  it("begins with what was kept when it brings a run, and is quiet while events of that run arrive", async () => {
    useSession.setState({ cursor: { threadId: "t", checkpointId: null } });
    const kept = ({ mark }: { mark: string }) => {
      receive([{ type: "mark", mark }]);
      return { events: [], leftOut: false, last: 1 };
    };
    await streamLog.open("t", async (request) => kept(request));
    answers.set("thread.events", kept);
    const reads = () => calls.filter(({ command }) => command === "thread.events").length;
    receive([changed({ threads: true }), run("running")]);
    await vi.waitFor(() => expect(reads(), "what came before is read").toBe(1));
    receive([changed({ threads: true })]);
    await new Promise((done) => setTimeout(done, 20));
    expect(reads(), "the events of the run are enough").toBe(1);
  });

  it("of the settings is taken over", async () => {
    const settings = { theme: "dark", follow: true };
    answers.set("app.info", () => ({ settings, kinds: [] }));
    receive([changed({ settings: true })]);
    await vi.waitFor(() => expect(useSession.getState().appInfo?.settings).toBe(settings));
    expect(calls.map(({ command }) => command)).toEqual(["app.info"]);
  });
});
