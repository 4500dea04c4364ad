import { describe, expect, it } from "vitest";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import {
  columnAt,
  columnsOf,
  depthAt,
  foldedWith,
  isStretch,
  lanesOf,
  nodeAt,
  walked,
  xOf,
} from "./fork-map";
import { ForkGraph } from "./forks";

const NONE = new Set<string>();

/** Chains by the checkpoint that they part from: `[from, length]`; ids are counted. */
function graphOf(...chains: (readonly [from: number | undefined, length: number])[]): ForkGraph {
  const list: CheckpointView[] = [];
  for (const [from, length] of chains) {
    let parent = from;
    for (let at = 0; at < length; at += 1) {
      list.push({
        id: String(list.length).padStart(5, "0"),
        ...(parent !== undefined && { parent: String(parent).padStart(5, "0") }),
        at: "",
        source: "loop",
        step: list.length - 1,
        next: [],
        updated: [],
        questions: 0,
        failed: 0,
      });
      parent = list.length - 1;
    }
  }
  const graph = new ForkGraph();
  graph.take(list.toReversed());
  return graph;
}

const id = (at: number) => String(at).padStart(5, "0");
const named = (graph: ForkGraph, fold = true, opened: ReadonlySet<string> = NONE) =>
  columnsOf(graph, opened, fold).list.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`));

describe("columns", () => {
  it("fold what only steps happened in, in every branch", () => {
    expect(named(graphOf([undefined, 20]))).toEqual(["0", "1-18", "19"]);
    // A fork at 10 that ends at 14: its beginning and its end keep their places.
    expect(named(graphOf([undefined, 20], [10, 4]))).toEqual([
      "0",
      "1-9",
      "10",
      "11",
      "12",
      "13",
      "14",
      "15-18",
      "19",
    ]);
    expect(named(graphOf([undefined, 5])), "three steps are not worth a fold").toEqual([
      "0",
      "1",
      "2",
      "3",
      "4",
    ]);
    expect(named(graphOf([undefined, 20]), false)).toHaveLength(20);
    expect(named(graphOf([undefined, 20]), true, new Set([id(7)]))).toEqual(["0", "1-6", "7", "8-18", "19"]);
  });

  it("give every place a point, and every point the place that is drawn there", () => {
    const graph = graphOf([undefined, 300], [120, 40], [10, 3]);
    const columns = columnsOf(graph, NONE, true);
    let before = -1;
    for (let depth = 0; depth < 300; depth += 1) {
      const x = xOf(columns, depth);
      expect(x).toBeGreaterThan(before);
      before = x;
      expect(depthAt(columns, x)).toBe(depth);
      const column = columns.list[columnAt(columns, x)]!;
      expect(column.from <= depth && depth <= column.to).toBe(true);
    }
    expect(before).toBeLessThan(columns.width);
  });

  it("are as many as there is to see, not as there are checkpoints", () => {
    const graph = graphOf([undefined, 9000], [4000, 500], [8000, 500]);
    const { list } = columnsOf(graph, NONE, true);
    expect(list.length).toBeLessThan(20);
    expect(list.filter(isStretch).reduce((sum, { from, to }) => sum + to - from + 1, 0)).toBeGreaterThan(
      8900,
    );
  });
});

describe("lanes", () => {
  it("put what parted last next to its branch, so that no line crosses another", () => {
    // 1 from 2 of the trunk, 2 from 6 of it, 3 from the first step of 1, 4 from 6 of the trunk too.
    const graph = graphOf([undefined, 9], [2, 4], [6, 2], [10, 2], [6, 1]);
    const { chains } = lanesOf(graph);
    expect(chains.map((chain) => chain.index)).toEqual([0, 2, 4, 1, 3]);
    // A line down from where a branch parted meets no other branch on its way.
    chains.forEach((chain, lane) => {
      const from = chain.from;
      if (!from) return;
      const depth = from.chain.start + from.at;
      const above = chains.slice(chains.indexOf(from.chain) + 1, lane);
      for (const other of above)
        expect(nodeAt(other, depth), `${chain.index} over ${other.index}`).toBeUndefined();
    });
  });

  it("hold every branch once, however deep forks of forks go", () => {
    const graph = graphOf(
      [undefined, 3],
      ...Array.from({ length: 500 }, (_, at) => [2 + at, 1] as const),
      [1, 1],
    );
    const lanes = lanesOf(graph);
    expect(new Set(lanes.chains).size).toBe(graph.chains.length);
    expect(lanes.of.size).toBe(graph.chains.length);
  });
});

describe("walking", () => {
  const graph = graphOf([undefined, 20], [10, 6]);
  const columns = columnsOf(graph, NONE, true);
  const lanes = lanesOf(graph);
  const go = (from: number, way: Parameters<typeof walked>[3]) =>
    walked(columns, lanes, graph.node(id(from))!, way)?.checkpoint.id;

  it("goes along a branch, over folded steps at once", () => {
    expect(go(0, "right")).toBe(id(1));
    expect(foldedWith(columns, graph.node(id(1))!)).toHaveLength(9);
    expect(go(1, "right")).toBe(id(10));
    expect(go(10, "left")).toBe(id(1));
    expect(go(4, "left")).toBe(id(0));
    expect(go(0, "left")).toBeUndefined();
    expect(go(19, "right")).toBeUndefined();
    expect(go(12, "first")).toBe(id(0));
    expect(go(12, "last")).toBe(id(19));
  });

  it("goes from branch to branch, and from the first of one to where it parted", () => {
    expect(go(12, "down")).toBe(id(21));
    expect(go(0, "down"), "the nearest of it").toBe(id(20));
    expect(go(20, "left")).toBe(id(10));
    expect(go(21, "up")).toBe(id(12));
    expect(go(12, "up")).toBeUndefined();
    expect(go(12, "pageDown")).toBe(id(21));
  });
});
