import { describe, expect, it } from "vitest";
import type { RunView } from "../../ipc/bindings/RunView";
import type { TraceSpan } from "../../ipc/bindings/TraceSpan";
import { axisOf } from "./axis";
import { filtered, type TraceFilter } from "./filter";
import { sharesOf } from "./heat";
import { heatOf, sumByModel, sumByNode } from "./sums";
import { criticalPath } from "./critical";
import { marksOf, pathTo, rowsOf, type Span, type TraceNode, traceTree } from "./tree";
import { joinSpans, withRunning } from "./useTrace";

const T0 = Date.parse("2026-01-01T00:00:00Z");
const iso = (millis: number) => new Date(T0 + millis).toISOString();

const run = (runId: string, from: number, to: number, status: RunView["status"] = "done"): RunView => ({
  runId,
  threadId: "t",
  status,
  startedAt: iso(from),
  endedAt: iso(to),
});

const span = (taskId: string, node: string, from: number, to: number, more: Partial<Span> = {}): Span => ({
  runId: "r",
  taskId,
  checkpointId: "c1",
  node,
  step: 1,
  started: T0 + from,
  ended: T0 + to,
  end: "done",
  ...more,
});

const call = (model: string, at: number, millis: number, tokens: number, amount: number) => ({
  model,
  at: T0 + at,
  millis,
  ended: "done" as const,
  tokens: { input: tokens - 1, output: 1 },
  cost: { amount, currency: "USD" },
});

/** A fan-out of three, one of which was tried twice; then a graph with a model in it. */
const SPANS: readonly Span[] = [
  span("w1", "work", 0, 100),
  span("w2", "work", 0, 300, {
    attempts: [{ attempt: 1, ended: T0 + 50, error: "E('no')", waitMillis: 100 }],
  }),
  span("w3", "work", 0, 80, { end: "failed", error: "E('broken')" }),
  span("in", "think", 310, 390, {
    parent: "agent",
    step: 0,
    checkpointId: "c2",
    calls: [call("big", 315, 60, 90, 0.5), call("small", 376, 10, 10, 0.25)],
  }),
  span("agent", "agent", 300, 400, { step: 2, checkpointId: "c2" }),
];
const RUNS = [run("r", 0, 400)];
const NODES = { group: true, sort: "start" } as const;

const names = (nodes: readonly TraceNode[]) => nodes.map((node) => `${node.kind} ${node.label}`);

describe("the tree of a trace", () => {
  it("groups tasks of a node with their sums, and puts nested graphs and model calls inside of their task", () => {
    const [top] = traceTree(RUNS, SPANS, NODES, 0);
    expect(top?.millis).toBe(400);
    expect([top?.tasks, (top?.input ?? 0) + (top?.output ?? 0), top?.cost.get("USD")]).toEqual([
      4, 100, 0.75,
    ]);
    expect(names(top?.children ?? [])).toEqual(["node work", "task agent"]);
    const [work, agent] = top?.children ?? [];
    expect([work?.tasks, work?.millis, work?.failed, work?.retries]).toEqual([3, 480, 1, 1]);
    expect([agent?.millis, (agent?.input ?? 0) + (agent?.output ?? 0)]).toEqual([100, 100]);
    expect(names(agent?.children ?? [])).toEqual(["task think"]);
    expect(names(agent?.children[0]?.children ?? [])).toEqual(["call big", "call small"]);
  });

  it("shows attempts with the waits between them", () => {
    const [top] = traceTree(RUNS, SPANS, NODES, 0);
    const tried = top?.children[0]?.children.find((node) => node.span?.taskId === "w2");
    expect(tried?.children.map((node) => [node.kind, node.from - T0, node.to - T0])).toEqual([
      ["attempt", 0, 50],
      ["wait", 50, 150],
      ["attempt", 150, 300],
    ]);
    expect(
      tried?.bars.map((bar) => bar.tone),
      "it succeeded in the end",
    ).toEqual(["tried", "wait", "work"]);
    const gaveUp = traceTree(
      RUNS,
      SPANS.map((one) => (one.taskId === "w2" ? { ...one, end: "failed" } : one)),
      NODES,
      0,
    );
    const last = gaveUp[0]?.children[0]?.children.find((node) => node.span?.taskId === "w2");
    expect(last?.bars.map((bar) => bar.tone)).toEqual(["failed", "wait", "failed"]);
    const work = top?.children[0];
    expect([(work?.to ?? 0) - (work?.from ?? 0), work?.millis], "together, and from first to last").toEqual([
      300, 480,
    ]);
    expect(tried?.children[0]?.error).toBe("E('no')");
  });

  it("goes step by step when it is not grouped, and sorts by any column", () => {
    const [top] = traceTree(RUNS, SPANS, { group: false, sort: "start" }, 0);
    expect(names(top?.children ?? [])).toEqual(["step 1", "task agent"]);
    const [longest] = traceTree(RUNS, SPANS, { group: true, sort: "millis" }, 0);
    expect(longest?.children[0]?.children.map((node) => node.span?.taskId)).toEqual(["w2", "w1", "w3"]);
    const [dearest] = traceTree(RUNS, SPANS, { group: true, sort: "cost" }, 0);
    expect(names(dearest?.children ?? [])[0]).toBe("task agent");
  });

  it("shows the time between runs as a gap with its length", () => {
    const answered = span("ask2", "ask", 60_000, 60_100, { runId: "r2" });
    const tree = traceTree(
      [run("r", 0, 400, "asking"), run("r2", 60_000, 60_100), run("empty", 70_000, 70_001)],
      [...SPANS, answered],
      NODES,
      0,
    );
    expect(tree.map((node) => [node.kind, node.label === "asking" ? "asking" : "", node.millis])).toEqual([
      ["run", "", 400],
      ["pause", "asking", 59_600],
      ["run", "", 100],
    ]);
  });

  it("takes the times of a run that is not known from its spans", () => {
    const [top] = traceTree([], SPANS, NODES, 0);
    expect([top?.from, top?.to]).toEqual([T0, T0 + 400]);
  });

  it("shows a task whose graph is not kept at the top", () => {
    const lost = span("x", "lost", 10, 20, { parent: "gone" });
    const [top] = traceTree(RUNS, [lost], NODES, 0);
    expect(names(top?.children ?? [])).toEqual(["task lost"]);
  });

  it("lists what is open, and finds the way to a task", () => {
    const tree = traceTree(RUNS, SPANS, NODES, 0);
    expect(rowsOf(tree, (node) => node.kind === "run").map((row) => row.depth)).toEqual([0, 1, 1]);
    const path = pathTo(tree, "r/in");
    expect(path).toEqual(["r", "r/agent", "r/in"]);
    const rows = rowsOf(tree, (node) => path.includes(node.id));
    expect(rows.map((row) => row.node.label)).toContain("think");
  });

  it("takes a hundred thousand tasks", { timeout: 30_000 }, () => {
    const many = Array.from({ length: 100_000 }, (_, n) =>
      span(`m${n}`, `node${n % 20}`, n, n + 5, { step: n, checkpointId: `c${n}` }),
    );
    const tree = traceTree([run("r", 0, 110_000)], many, NODES, 0);
    expect(tree[0]?.children).toHaveLength(20);
  });
});

describe("sums", () => {
  it("are made by node and by model", () => {
    const work = sumByNode(SPANS).find((sum) => sum.name === "work");
    expect([work?.count, work?.millis, work?.failed]).toEqual([3, 480, 1]);
    expect(
      sumByModel(SPANS).map((sum) => [
        sum.name,
        sum.count,
        sum.millis,
        sum.input + sum.output,
        sum.cost.get("USD"),
      ]),
    ).toEqual([
      ["big", 1, 60, 90, 0.5],
      ["small", 1, 10, 10, 0.25],
    ]);
  });

  it("mark the task that worked longest without what ran in it, and the one that cost most", () => {
    const marks = marksOf([
      ...SPANS,
      span("around", "outer", 0, 900),
      span("inner", "x", 0, 890, { parent: "around", end: "running" }),
    ]);
    expect([marks.longest?.taskId, marks.dearest?.taskId]).toEqual(["w2", "in"]);
    expect(marksOf([]).longest).toBeNull();
  });
});

describe("the filter", () => {
  const ids = (what: TraceFilter["what"], words = "") =>
    filtered(SPANS, { what, words }).map((one) => one.taskId);

  it("keeps what fits and what is around it", () => {
    expect(ids("all")).toHaveLength(5);
    expect(ids("failed")).toEqual(["w2", "w3"]);
    expect(ids("models")).toEqual(["in", "agent"]);
    expect(ids("slow")).toEqual(["w2"]);
    expect(ids("all", "BROKEN")).toEqual(["w3"]);
    expect(ids("all", "big think")).toEqual(["in", "agent"]);
    expect(ids("failed", "agent")).toEqual([]);
  });

  it("keeps what failed or is pending, with what is around it", () => {
    const spans = [
      ...SPANS,
      span("answered", "ask", 400, 410, { end: "asking" }),
      span("answered", "ask", 900, 910, { runId: "r2" }),
      span("inner", "ask", 400, 410, { runId: "r2", parent: "outer", end: "asking" }),
      span("outer", "agent", 395, 411, { runId: "r2", end: "asking" }),
      span("now", "work", 920, 930, { runId: "r2", end: "running" }),
      span("stopped", "work", 920, 930, { runId: "r2", end: "left" }),
    ];
    const kept = filtered(spans, { what: "unsettled", words: "" }).map((one) => one.taskId);
    expect(kept).toEqual(["w2", "w3", "inner", "outer", "now"]);
    expect(filtered(spans, { what: "unsettled", words: "agent" })).toHaveLength(1);
  });
});

describe("the spans that are held", () => {
  const held = (...names: string[]) =>
    names.map((name): TraceSpan => ({ ...span(name, "n", 0, 1), end: "done" }));
  it("grow by what is new, and say when the oldest had to go", () => {
    const known = { spans: held("a", "b"), leftOut: false };
    expect(joinSpans(known, { spans: [], leftOut: false }, 3)).toEqual(known);
    expect(joinSpans(known, { spans: [], leftOut: false }, 3).spans, "the same list").toBe(known.spans);
    expect(joinSpans(known, { spans: held("c"), leftOut: false }, 3)).toEqual({
      spans: held("a", "b", "c"),
      leftOut: false,
    });
    const more = joinSpans(known, { spans: held("c", "d"), leftOut: false }, 3);
    expect(more).toEqual({ spans: held("b", "c", "d"), leftOut: true });
    expect(joinSpans(more, { spans: [], leftOut: false }, 3).leftOut, "and go on saying so").toBe(true);
  });
});

describe("the axis", () => {
  it("draws runs at their length and gaps at one width", () => {
    const one = axisOf([{ from: 100, to: 200 }]);
    expect([one.at(100), one.at(150), one.at(200), one.at(0), one.at(900)]).toEqual([0, 0.5, 1, 0, 1]);
    const two = axisOf([
      { from: 0, to: 100 },
      { from: 100_000, to: 100_100 },
    ]);
    expect(two.millis).toBe(200);
    expect(two.at(100)).toBeCloseTo(0.48);
    expect(two.at(100_000)).toBeCloseTo(0.52);
    expect(two.at(100_100)).toBeCloseTo(1);
    const hundred = axisOf(Array.from({ length: 100 }, (_, n) => ({ from: n * 1000, to: n * 1000 + 1 })));
    expect(hundred.at(99_001)).toBeCloseTo(1);
    expect(hundred.at(1)).toBeCloseTo(0.008);
  });

  it("has a place for a time when there is nothing", () => {
    expect(axisOf([]).at(5)).toBe(0);
    expect(axisOf([{ from: 5, to: 5 }]).at(5)).toBe(0);
  });
});

describe("tasks at work", () => {
  const live = (status: "running" | "done") => ({
    era: 1,
    text: new Map(),
    run: { runId: "r", threadId: "t", status, startedAt: iso(0) },
    tasks: new Map([
      [
        "w1",
        {
          id: "w1",
          node: "work",
          step: 1,
          status: "done" as const,
          startedAt: T0,
          endedAt: T0 + 100,
          interrupts: [],
          targets: [],
          cached: false,
        },
      ],
      [
        "new",
        {
          id: "new",
          node: "work",
          step: 1,
          status: "running" as const,
          startedAt: T0 + 5,
          interrupts: [],
          targets: [],
          cached: false,
        },
      ],
    ]),
  });

  it("end now, and what has ended is taken from its span", () => {
    const known = SPANS.slice(0, 1) as never;
    const spans = withRunning(known, live("running"), "c9", T0 + 50);
    expect(spans.map((one) => [one.taskId, one.end, one.ended - T0])).toEqual([
      ["w1", "done", 100],
      ["new", "running", 50],
    ]);
    expect(withRunning(known, live("done"), "c9", T0 + 50)).toBe(known);
  });
});

describe("waits for a place", () => {
  /** Two places for three tasks: the third waits for the first, and again before its second attempt. */
  const LIMITED: readonly Span[] = [
    span("a", "work", 0, 100),
    span("b", "work", 0, 120),
    span("c", "work", 0, 400, {
      waits: [
        { from: T0, to: T0 + 100 },
        { from: T0 + 250, to: T0 + 300 },
      ],
      attempts: [{ attempt: 1, ended: T0 + 200, error: "E('no')", waitMillis: 50 }],
    }),
  ];

  it("are bars of their own, and no work", () => {
    const tree = traceTree([run("r", 0, 400)], LIMITED, NODES, 0);
    const task = tree[0]?.children[0]?.children[2];
    expect([task?.millis, task?.waited]).toEqual([250, 150]);
    expect(task?.bars.map(({ from, to, tone }) => [from - T0, to - T0, tone])).toEqual([
      [0, 100, "queued"],
      [100, 200, "tried"],
      [200, 250, "wait"],
      [250, 300, "queued"],
      [300, 400, "work"],
    ]);
    expect([tree[0]?.children[0]?.millis, tree[0]?.children[0]?.waited]).toEqual([470, 150]);
    expect(marksOf(LIMITED).longest?.taskId, "by work, not by waiting").toBe("c");
    const [sum] = sumByNode(LIMITED);
    expect([sum?.millis, sum?.waited]).toEqual([470, 150]);
  });

  it("of a task that only waited leave no bar of work", () => {
    const stopped = span("d", "work", 0, 50, { waits: [{ from: T0, to: T0 + 50 }], end: "left" });
    const task = traceTree([run("r", 0, 50)], [stopped], NODES, 0)[0]?.children[0];
    expect(task?.bars).toEqual([{ from: T0, to: T0 + 50, tone: "queued" }]);
    expect(task?.millis).toBe(0);
  });
});

describe("the critical path", () => {
  const ids = (spans: readonly Span[]) => [...criticalPath(spans).spans].map((one) => one.taskId).toSorted();

  it("is the task that each step waited for, and what it waited for in its graph", () => {
    // w2 is the last of the first step; the agent of the second, with the model in it.
    expect(ids(SPANS)).toEqual(["agent", "in", "w2"]);
    expect(criticalPath(SPANS).millis).toBe(400);
  });

  it("leaves out what ran in graphs of tasks that were not waited for", () => {
    const quick = span("quick", "work", 0, 10);
    const inside = span("x", "think", 2, 9, { parent: "quick", step: 0 });
    expect(ids([quick, inside, span("slow", "work", 0, 90)])).toEqual(["slow"]);
  });

  it("counts the same step of another branch or run by itself", () => {
    const again = [
      span("a", "work", 0, 10),
      span("b", "work", 20, 90, { runId: "r2" }),
      span("c", "work", 100, 130, { checkpointId: "c9" }),
    ];
    expect(ids(again)).toEqual(["a", "b", "c"]);
    expect(criticalPath(again).millis).toBe(10 + 70 + 30);
    expect(criticalPath([])).toEqual({ spans: new Set(), millis: 0 });
  });

  it("is marked in the rows and bars of the trace", () => {
    const critical = criticalPath(SPANS).spans;
    const tree = traceTree(RUNS, SPANS, { ...NODES, critical }, 0);
    const work = tree[0]?.children.find((node) => node.label === "work");
    expect(work?.children.map((node) => node.critical)).toEqual([false, false, true]);
    expect(work?.bars.filter((bar) => bar.critical).length).toBe(3);
    expect(traceTree(RUNS, SPANS, NODES, 0)[0]?.critical).toBe(false);
  });
});

describe("heat", () => {
  it("gives what a nested graph cost to the node that runs it, and its time once", () => {
    const heat = heatOf(SPANS);
    expect([...heat.keys()]).toEqual(["work", "agent"]);
    expect([heat.get("agent")?.millis, heat.get("agent")?.cost.get("USD")]).toEqual([100, 0.75]);
    expect(heatOf([SPANS[3]!]).size, "what ran it is not known").toBe(0);
  });

  it("is the share of the node that took most", () => {
    expect([...sharesOf(heatOf(SPANS), "time")].map(([name, node]) => [name, node.share])).toEqual([
      ["work", 1],
      ["agent", 100 / 480],
    ]);
    expect([...sharesOf(heatOf(SPANS), "cost").keys()], "work cost nothing").toEqual(["agent"]);
    expect(sharesOf(heatOf(SPANS), "off").size).toBe(0);
    expect(sharesOf(new Map(), "time").size).toBe(0);
  });
});

describe("a model without a price", () => {
  const { cost: _price, ...unpriced } = call("own", 0, 10, 100, 0);
  const spans = [span("t", "think", 0, 20, { calls: [call("m", 0, 10, 100, 0.5), unpriced] })];

  it("is counted in its row and in every sum", () => {
    const [top] = traceTree([], spans, { group: true, sort: "start" }, 0);
    expect([top?.input, top?.output, top?.unpriced]).toEqual([198, 2, 1]);
    expect(sumByModel(spans).map(({ name, unpriced: n }) => `${name} ${n}`)).toEqual(["m 0", "own 1"]);
    expect(sumByNode(spans)[0]?.unpriced).toBe(1);
  });

  it("is none where no tokens were counted, as of a script", () => {
    const { tokens: _none, ...script } = unpriced;
    expect(sumByModel([span("t", "think", 0, 20, { calls: [script] })])[0]?.unpriced).toBe(0);
  });
});
