import { describe, expect, it } from "vitest";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import type { RunView } from "../../ipc/bindings/RunView";
import { depthOf, ForkGraph, tipOf, wayTo } from "./forks";

const point = (id: string, parent?: string, more: Partial<CheckpointView> = {}): CheckpointView => ({
  id,
  ...(parent !== undefined && { parent }),
  at: "",
  source: parent === undefined ? "input" : "loop",
  step: -1,
  next: [],
  updated: [],
  questions: 0,
  failed: 0,
  ...more,
});

const run = (runId: string, more: Partial<RunView>): RunView => ({
  runId,
  threadId: "t",
  status: "done",
  startedAt: "",
  ...more,
});

/** Newest first, as lists come. */
const graphOf = (...oldestFirst: CheckpointView[]) => {
  const graph = new ForkGraph();
  graph.take(oldestFirst.toReversed());
  return graph;
};

/** a ─ b ─ c, and d from a, e from d, f from b. */
const forked = () =>
  graphOf(point("a"), point("b", "a"), point("c", "b"), point("d", "a"), point("e", "d"), point("f", "b"));

/** 10,000 checkpoints, half of them on the first branch, the others in 500 forks of it and of each other. */
function thread(count: number, forks: number): CheckpointView[] {
  const trunk = count / 2;
  const list: CheckpointView[] = [];
  const id = (at: number) => `c${String(at).padStart(6, "0")}`;
  for (let at = 0; at < trunk; at += 1)
    list.push(point(id(at), at === 0 ? undefined : id(at - 1), { step: at - 1 }));
  for (let fork = 0; fork < forks; fork += 1) {
    let parent = id((fork * 7919) % (fork % 5 === 0 ? list.length : trunk));
    for (let at = 0; at < trunk / forks; at += 1) {
      const next = id(list.length);
      list.push(point(next, parent));
      parent = next;
    }
  }
  return list.toReversed();
}

describe("the branches of a thread", () => {
  it("go on with the oldest continuation, and every other one begins a branch", () => {
    const graph = forked();
    expect(graph.chains.map((chain) => chain.nodes.map((node) => node.checkpoint.id).join(""))).toEqual([
      "abc",
      "de",
      "f",
    ]);
    expect(graph.chains.map((chain) => [chain.from?.checkpoint.id, chain.start])).toEqual([
      [undefined, 0],
      ["a", 1],
      ["b", 2],
    ]);
    expect(graph.node("e") && depthOf(graph.node("e")!)).toBe(2);
  });

  it("lead back through the ones that they parted from", () => {
    const graph = forked();
    const way = wayTo(graph.node("f"));
    expect(graph.chains.map((chain) => way.get(chain))).toEqual([1, undefined, 0]);
  });

  it("stand where their steps say while what they continue is not loaded", () => {
    const graph = graphOf(point("m", "gone", { step: 40, source: "loop" }), point("n", "m", { step: 41 }));
    expect(graph.chains[0]?.start).toBe(41);
  });

  it("mark what is more than a step: where it began, parted and ended", () => {
    const graph = graphOf(
      ...Array.from({ length: 9 }, (_, at) => point(`${at}`, at === 0 ? undefined : `${at - 1}`)),
    );
    expect(graph.busy.flatMap((busy, depth) => (busy ? [depth] : []))).toEqual([0, 8]);
    graph.take([point("9", "8"), ...graphList(graph)]);
    // What was the end is a step now.
    expect(graph.busy.flatMap((busy, depth) => (busy ? [depth] : []))).toEqual([0, 9]);
    graph.take([point("x", "4"), ...graphList(graph)]);
    expect(graph.busy.flatMap((busy, depth) => (busy ? [depth] : []))).toEqual([0, 4, 5, 9]);
  });
});

/** What a graph has, newest first. */
const graphList = (graph: ForkGraph) =>
  graph.chains
    .flatMap((chain) => chain.nodes.map((node) => node.checkpoint))
    .toSorted((a, b) => (a.id < b.id ? 1 : -1));

describe("marks", () => {
  const asked = point("q", "a", { run: "r1" });
  const ends = (more: Partial<RunView>) => new Map([["r1", run("r1", more)]]);

  it.each([
    [{ failed: 1, questions: 1 }, "error"],
    [{ questions: 1 }, "question"],
    [{ source: "update" }, "edit"],
    [{ source: "fork" }, "fork"],
    [{ source: "input" }, "input"],
    [{}, "step"],
  ] as const)("%o is %s", (more, mark) => {
    const graph = graphOf(point("a"), point("b", "a", more));
    expect(graph.markOf(graph.node("b")!)).toBe(mark);
  });

  it("an answer is the step of another run after one that asked", () => {
    const graph = new ForkGraph();
    const list = [point("b", "q", { run: "r2" }), asked, point("a", undefined, { run: "r1" })];
    graph.take(list, ends({ status: "asking" }));
    expect(["a", "q", "b"].map((id) => graph.markOf(graph.node(id)!))).toEqual(["input", "step", "answer"]);
    graph.take([{ ...list[0]! }, { ...asked, questions: 1 }, list[2]!], ends({ status: "asking" }));
    expect(graph.markOf(graph.node("b")!), "a question that still waits was not answered").toBe("step");
  });

  it("a stop is the newest checkpoint of a run that a breakpoint stopped", () => {
    const graph = new ForkGraph();
    const stop = { reason: "total became 3", within: "" };
    const runs = ends({ status: "paused", stop });
    graph.take([asked, point("a", undefined, { run: "r1" })], runs);
    expect(graph.markOf(graph.node("q")!)).toBe("stop");
    expect(graph.stopAt(graph.node("a")!)).toBeUndefined();
    // The run was gone on with: the mark stays where it stopped.
    graph.take([point("b", "q", { run: "r2" }), asked, point("a", undefined, { run: "r1" })], runs);
    expect(graph.stopAt(graph.node("q")!)).toBe("total became 3");
  });
});

describe("10,000 checkpoints with 500 forks", () => {
  const all = thread(10_000, 500);

  it("are looked at once each", () => {
    const graph = new ForkGraph();
    graph.take(all);
    expect(graph.size).toBe(10_000);
    expect(graph.chains).toHaveLength(501);
    expect(graph.visits).toBe(10_000);
    expect(graph.take(all)).toBe(false);
    expect(graph.visits).toBe(10_000);
  });

  it("grow by what is new: a checkpoint that comes costs one, one that changed another", () => {
    const graph = new ForkGraph();
    graph.take(all);
    const before = graph.visits;
    const tip = tipOf(graph.chains[500]!).checkpoint;
    const next = point("d000001", tip.id);
    graph.take([next, ...all]);
    expect(graph.visits - before).toBe(1);
    expect(graph.chains).toHaveLength(501);
    // The answered question of another checkpoint comes with it.
    const settled = all.map((one, at) => (at === 7000 ? { ...one } : one));
    graph.take([point("d000002", "d000001"), next, ...settled]);
    expect(graph.visits - before).toBe(3);
  });

  it("are built again when older ones come, and are the same as if they had come at once", () => {
    const paged = new ForkGraph();
    for (let to = 2000; to <= 10_000; to += 2000) paged.take(all.slice(0, to));
    expect(paged.visits, "five pages: each is built with those before").toBe(
      2000 + 4000 + 6000 + 8000 + 10_000,
    );
    const whole = new ForkGraph();
    whole.take(all);
    const shape = (graph: ForkGraph) =>
      graph.chains.map((chain) => [chain.from?.checkpoint.id, chain.start, chain.nodes.length]);
    expect(shape(paged)).toEqual(shape(whole));
    expect(paged.busy).toEqual(whole.busy);
  });
});
