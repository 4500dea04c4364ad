// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from "vitest";
import { moveNodes, type Point } from "../document/edits";
import { doc } from "../document/store";
import type { Json, JsonObject } from "../document/types";
import { fileRecords } from "../test/fakeHost";
import { useAnnounced } from "../state/announce";
import { useSession } from "../state/session";
import { arrange, elkGraph, taskOf } from "./arrange";
import { isOutOfSight, renameInFolds, someFolded, toggleFolds, unfoldAll, unfoldAround } from "./folds";
import { HEAD, NODE_WIDTH } from "./geometry";
import { walk } from "./keyboard-navigation";
import { mergedLines } from "./merged-lines";
import { withFolded, withHeld } from "./notes";
import { scene } from "./scene";

const assign: Json = { kind: "assign", config: {} };
const frame = (width: number, height: number): Json => ({
  kind: "note",
  config: { text: "", frame: true, width, height },
});
const file: JsonObject = {
  format: "superstep/1",
  name: "Folding",
  nodes: {
    part: frame(800, 400),
    small: frame(300, 200),
    before: assign,
    one: assign,
    two: assign,
    three: assign,
    after: assign,
  },
  edges: [
    { id: "in", from: "before", to: "one" },
    { id: "in2", from: "before", to: "two", when: "state.a" },
    { id: "inner", from: "one", to: "two" },
    { id: "out", from: "two", to: "after" },
    { id: "out2", from: "three", to: "after", when: "state.b" },
    { id: "back", from: "after", to: "one" },
    { id: "beside", from: "before", to: "after" },
    { id: "route", from: "one", route: "state.c", paths: { x: "three", y: "after" } },
  ],
  layout: {
    __start__: [-600, 0],
    before: [-300, 40],
    part: [0, 0],
    small: [20, 180],
    one: [30, 60],
    two: [400, 60],
    three: [40, 240],
    after: [900, 40],
    __end__: [1300, 40],
  },
};

const lines = () => [...scene.lines().keys()].toSorted();
const ends = (id: string) => {
  const line = scene.line(id)!;
  return `${scene.shown(line.from)}>${scene.shown(line.to)}`;
};
const everywhere = { x: -1000, y: -1000, width: 4000, height: 3000 };

beforeEach(() => {
  localStorage.clear();
  useSession.setState({ graphKey: "/folding.json" });
  doc.reset(fileRecords(file));
  unfoldAll();
});

describe("a folded frame", () => {
  it("is one card for what lay in it, and unfolding puts everything back", () => {
    const rects = new Map(scene.rects());
    const all = scene.lines();
    toggleFolds(["part"]);
    expect(useAnnounced.getState().text).toContain("Folded part");
    expect(scene.heldBy("part").toSorted()).toEqual(["one", "small", "three", "two"]);
    expect(scene.nodesIn(everywhere).toSorted()).toEqual(["__end__", "__start__", "after", "before", "part"]);
    expect(scene.rect("part")).toEqual({ x: 0, y: 0, width: NODE_WIDTH, height: HEAD });
    expect(scene.rect("two")).toEqual(scene.rect("part"));
    expect(scene.position("two")).toEqual({ x: 400, y: 60 });
    // It stands among the cards, and no longer behind them.
    expect(scene.cardsIn(everywhere)).toContain("part");
    expect(lines()).toEqual(["back", "beside", "in", "in2", "out", "out2", "route|=y"]);
    expect(["in", "out", "route|=y", "beside"].map(ends)).toEqual([
      "before>part",
      "part>after",
      "part>after",
      "before>after",
    ]);
    toggleFolds(["part"]);
    expect(new Map(scene.rects())).toEqual(rects);
    expect([...scene.rects().keys()]).toEqual([...rects.keys()]);
    expect(scene.lines()).toEqual(all);
  });

  it("draws lines that would lie on each other as one", () => {
    toggleFolds(["part"]);
    const drawn = mergedLines([...scene.lines().values()], (name) => scene.shown(name));
    const said = drawn.map(({ line, merged }) => [line.id, merged.map(({ id }) => id).toSorted()]);
    expect(said).toContainEqual(["out", ["out", "out2", "route|=y"]]);
    // One with a label leaves its card beside the plain one.
    expect(said).toContainEqual(["in", []]);
    expect(said).toContainEqual(["in2", []]);
    expect(said).toContainEqual(["beside", []]);
    expect(scene.line("in2")?.label).toBe("state.a");
    expect(scene.line("out2")).toMatchObject({ label: null, port: null, bound: null });
  });

  it("takes what is in it along when it is moved, and its lines follow", () => {
    toggleFolds(["part"]);
    expect([...withHeld(scene, ["part"])].toSorted()).toEqual(["one", "part", "small", "three", "two"]);
    const places = withFolded(scene, new Map<string, Point>([["part", { x: 100, y: 500 }]]));
    doc.apply(moveNodes(doc, places));
    expect(scene.position("two")).toEqual({ x: 500, y: 560 });
    expect(scene.rect("one")).toMatchObject({ x: 100, y: 500 });
    expect(scene.linesIn({ x: 90, y: 490, width: 20, height: 60 }).map(({ id }) => id)).toContain("in");
    toggleFolds(["part"]);
    expect(scene.rect("two")).toMatchObject({ x: 500, y: 560 });
    expect(scene.nodesIn({ x: 510, y: 570, width: 10, height: 10 })).toContain("two");
  });

  it("keeps what it held: what comes to stand where it was is drawn", () => {
    toggleFolds(["part"]);
    doc.apply(moveNodes(doc, new Map([["after", { x: 500, y: 200 }]])));
    expect(scene.shown("after")).toBe("after");
    expect(scene.nodesIn({ x: 510, y: 210, width: 5, height: 5 })).toEqual(["after"]);
  });

  it("gives its nodes back when it is deleted, is no frame any more, or one of them is looked for", () => {
    toggleFolds(["part"]);
    const record = doc.get("node:part")!;
    doc.apply({ ops: [{ id: "node:part", from: record, to: { kind: "note", config: { text: "" } } }] });
    expect(scene.shown("one")).toBe("one");
    doc.apply({ ops: [{ id: "node:part", from: doc.get("node:part")!, to: record }] });
    expect(scene.shown("one")).toBe("part");
    unfoldAround("one");
    expect([scene.shown("one"), someFolded()]).toEqual(["one", false]);
    toggleFolds(["part"]);
    doc.apply({
      ops: [
        { id: "layout:part", from: doc.get("layout:part")!, to: null },
        { id: "node:part", from: record, to: null },
      ],
    });
    expect(scene.shown("one")).toBe("one");
    expect(scene.rect("one")).toMatchObject({ x: 30, y: 60 });
  });

  it("in another one is folded again when that is unfolded", () => {
    toggleFolds(["small"]);
    expect(scene.shown("three")).toBe("small");
    toggleFolds(["part"]);
    expect([scene.shown("three"), scene.shown("small")]).toEqual(["part", "part"]);
    toggleFolds(["part"]);
    expect([scene.shown("three"), scene.shown("two")]).toEqual(["small", "two"]);
    toggleFolds(["part"]);
    unfoldAround("three");
    expect(scene.shown("three")).toBe("three");
  });

  it("is kept in the browser by graph, under the names that its nodes have now", () => {
    toggleFolds(["part"]);
    expect(JSON.parse(localStorage.getItem("superstep.folded") ?? "")).toEqual({
      "/folding.json": { part: expect.arrayContaining(["one", "two", "three", "small"]) as unknown },
    });
    renameInFolds("one", "first");
    renameInFolds("part", "whole");
    expect(JSON.parse(localStorage.getItem("superstep.folded") ?? "")).toEqual({
      "/folding.json": { whole: expect.arrayContaining(["first", "two"]) as unknown },
    });
    useSession.setState({ graphKey: "/other.json" });
    expect(scene.shown("two")).toBe("two");
    useSession.setState({ graphKey: "/folding.json" });
    expect(scene.shown("two")).toBe("two");
    renameInFolds("whole", "part");
    expect(scene.shown("two")).toBe("part");
    useSession.setState({ graphId: "g1" });
    useSession.setState({ graphKey: "/saved.json" });
    expect(scene.shown("two")).toBe("part");
    useSession.setState({ graphId: null });
    unfoldAll();
    expect(localStorage.getItem("superstep.folded")).toBe("{}");
  });

  it("takes the selection of what is in it, and keeps that of other nodes", () => {
    useSession.getState().select({ nodes: ["one", "before"] });
    toggleFolds(["part"]);
    expect(useSession.getState().selection.nodes).toEqual(["before"]);
    toggleFolds(["part"]);
    useSession.getState().select({ nodes: ["one"] });
    toggleFolds(["part"]);
    expect(useSession.getState().selection.nodes).toEqual(["part"]);
    // Of several that are selected some may stay in it; one alone is shown.
    useSession.getState().select({ nodes: ["one", "two"] });
    expect(scene.shown("one")).toBe("part");
    useSession.getState().select({ nodes: ["two"] });
    expect(scene.shown("two")).toBe("two");
  });

  it("shows its edges as those of a node: by keys, and where the edges of others are hidden", () => {
    toggleFolds(["part"]);
    expect(walk(scene, "before", "right")).toBe("part");
    expect(walk(scene, "part", "right")).toBe("after");
    expect(walk(scene, "after", "left")).toBe("part");
    const selection = { nodes: ["part"], edges: [] };
    const others = { others: true, nodes: [] };
    expect(isOutOfSight(scene.line("in")!, others, selection)).toBe(false);
    expect(isOutOfSight(scene.line("beside")!, others, selection)).toBe(true);
    expect(isOutOfSight(scene.line("in")!, { others: false, nodes: ["part"] }, selection)).toBe(true);
    expect(isOutOfSight(scene.line("in")!, { others: false, nodes: ["one"] }, selection)).toBe(true);
  });

  it("is arranged as one node, with what is in it", async () => {
    toggleFolds(["part"]);
    const task = taskOf(scene, ["before", "part", "after"]);
    expect(task.boxes.map(({ name, width, height }) => [name, width, height])).toContainEqual([
      "part",
      NODE_WIDTH,
      HEAD,
    ]);
    expect(elkGraph(task).edges?.map(({ sources, targets }) => `${sources[0]} ${targets[0]}`)).toContain(
      "part|out after|in",
    );
    const given: string[] = [];
    const engine = {
      layout: (graph: ReturnType<typeof elkGraph>) => {
        given.push(...(graph.children ?? []).map(({ id }) => id));
        return Promise.resolve({
          ...graph,
          children: (graph.children ?? []).map((child, index) => ({ ...child, x: index * 300, y: 0 })),
        });
      },
      terminateWorker: () => {},
    };
    const places = await arrange(scene, { start: () => Promise.resolve(engine as never) });
    expect(given.toSorted()).toEqual(["__start__", "after", "before", "part"]);
    const part = places.get("part")!;
    expect(places.get("one")).toEqual({ x: part.x + 30, y: part.y + 60 });
  });
});
