// @vitest-environment jsdom
/** What is expanded, and where that puts everything: on the canvas, and not in the file. */
import { beforeEach, describe, expect, it, vi } from "vitest";
import { moveNodes } from "../document/edits";
import { edit } from "../document/edit";
import { doc } from "../document/store";
import type { Json, JsonObject } from "../document/types";
import { Outline } from "../features/outline/rows";
import { replaceHost } from "../ipc/client";
import { fakeHost, fileRecords } from "../test/fakeHost";
import { useAnnounced } from "../state/announce";
import { useSession } from "../state/session";
import { taskOf } from "./arrange";
import { isExpanded, renameInExpanded, toggleExpanded, useInsides } from "./expansions";
import { scene } from "./scene";

const assign: Json = { kind: "assign", config: {} };
const nested: Json = { kind: "graph", config: { graph: "inner.json" } };
const file: JsonObject = {
  format: "superstep/1",
  name: "Outer",
  nodes: {
    before: assign,
    nested,
    after: assign,
    below: assign,
    around: { kind: "note", config: { text: "", frame: true, width: 800, height: 300 } },
  },
  edges: [
    { from: "before", to: "nested" },
    { from: "nested", to: "after" },
  ],
  layout: {
    __start__: [-200, 0],
    before: [0, 0],
    around: [280, -60],
    nested: [320, 0],
    after: [700, 0],
    below: [320, 160],
    __end__: [1000, 0],
  },
};
const inner: JsonObject = {
  format: "superstep/1",
  name: "Inner",
  nodes: { one: assign, two: assign },
  edges: [{ from: "one", to: "two" }],
  layout: { __start__: [-160, 0], one: [0, 0], two: [400, 0], __end__: [800, 0] },
};

let answer: () => Promise<unknown>;
const asked = vi.fn();
replaceHost(
  fakeHost(new Map(), {
    "graph.inside": (params: never) => {
      asked(params);
      return answer();
    },
  }),
);

const corner = (name: string) => ({ x: scene.rect(name)?.x, y: scene.rect(name)?.y });
const expand = async (name = "nested") => {
  toggleExpanded([name]);
  await vi.waitFor(() => expect(useInsides.getState()[name]).toBeDefined());
};

beforeEach(() => {
  answer = () => Promise.resolve({ name: "Inner", records: fileRecords(inner) });
  useSession.setState({ graphId: "g", graphKey: "/outer.json" });
  doc.reset(fileRecords(file));
  if (isExpanded("nested")) toggleExpanded(["nested"]);
  asked.mockClear();
});

describe("a node that is expanded in place", () => {
  it("reads nothing before, and then the graph of that node alone", async () => {
    expect(asked).not.toHaveBeenCalled();
    await expand();
    expect(asked.mock.calls).toEqual([[{ graphId: "g", path: ["nested"] }]]);
    expect(useInsides.getState()["nested"]?.drawn?.nodes).toEqual(["one", "two"]);
    expect(useAnnounced.getState().text).toContain("graph Inner has 2 nodes, one, two");
  });

  it("lets what is right of it and below give way, and changes nothing in the file", async () => {
    const rects = new Map(scene.rects());
    const records = JSON.stringify(doc.records());
    await expand();
    const size = scene.rect("nested")!;
    const wider = size.width - rects.get("nested")!.width;
    const higher = size.height - rects.get("nested")!.height;
    expect(Math.min(wider, higher)).toBeGreaterThan(40);
    expect(corner("nested")).toEqual({ x: 320, y: 0 });
    expect(corner("before")).toEqual({ x: 0, y: 0 });
    expect(corner("after")).toEqual({ x: 700 + wider, y: 0 });
    expect(corner("below")).toEqual({ x: 320, y: 160 + higher });
    expect(scene.rect("around")).toEqual({ x: 280, y: -60, width: 800 + wider, height: 300 + higher });
    expect(scene.nodeAt({ x: 330 + size.width, y: 10 })).toBe("around");
    expect(scene.nodeAt({ x: 300 + size.width, y: size.height - 5 })).toBe("nested");
    expect(scene.position("after")).toEqual({ x: 700, y: 0 });
    expect(JSON.stringify(doc.records())).toBe(records);

    toggleExpanded(["nested"]);
    expect(new Map(scene.rects())).toEqual(rects);
    expect(useAnnounced.getState().text).toContain("Folded nested");
  });

  it("is arranged as the card that the file has", async () => {
    const before = taskOf(scene, ["before", "nested", "after"]).boxes;
    await expand();
    expect(taskOf(scene, ["before", "nested", "after"]).boxes).toEqual(before);
  });

  it("is dragged, and lets others be dragged, to places of the file", async () => {
    await expand();
    expect(scene.dragged(["after"], { x: 20, y: 8 })).toEqual(new Map([["after", { x: 720, y: 8 }]]));
    expect(scene.dragged(["nested", "after"], { x: 20, y: 8 })).toEqual(
      new Map([
        ["nested", { x: 340, y: 8 }],
        ["after", { x: 720, y: 8 }],
      ]),
    );
    const size = scene.rect("nested")!;
    edit("move", (document) => moveNodes(document, new Map([["nested", { x: 360, y: 40 }]])));
    expect(scene.rect("nested")).toEqual({ ...size, x: 360, y: 40 });
    expect(corner("after").x).toBe(700 + size.width - 216);
    // Only what is moved itself is looked at again.
    const kept = scene.rect("after");
    edit("move", (document) => moveNodes(document, new Map([["below", { x: 400, y: 300 }]])));
    expect(corner("below").y).toBe(300 + size.height - (scene.standing("nested")?.height ?? 0));
    expect(scene.rect("after")).toBe(kept);
  });

  it("lists its nodes in the outline", async () => {
    await expand();
    const insides = new Map([["nested", [{ name: "one", does: "assign" }]]]);
    const rows = new Outline(doc).rows(insides);
    const at = rows.findIndex((row) => row.kind === "inside");
    expect(rows[at]).toMatchObject({ node: "nested", name: "one", level: 2, at: 2, of: 2 });
    expect(rows[at - 2]).toMatchObject({ kind: "node", name: "nested" });
  });

  it("follows its name, its settings and the graph that is shown", async () => {
    await expand();
    asked.mockClear();
    edit("set", {
      ops: [{ id: "node:nested", from: nested, to: { kind: "graph", config: { graph: "b.json" } } }],
    });
    await vi.waitFor(() => expect(asked).toHaveBeenCalled());
    // A node of another kind runs no graph.
    edit("kind", { ops: [{ id: "node:nested", from: doc.get("node:nested") ?? null, to: assign }] });
    expect(useInsides.getState()).toEqual({});
    expect(scene.expandedSize("nested")).toBeUndefined();
    edit("back", { ops: [{ id: "node:nested", from: assign, to: nested }] });
    await vi.waitFor(() => expect(useInsides.getState()["nested"]).toBeDefined());

    renameInExpanded("nested", "other");
    expect(JSON.parse(localStorage.getItem("superstep.expanded") ?? "")).toEqual({
      "/outer.json": { other: true },
    });
    renameInExpanded("other", "nested");
    useSession.setState({ graphId: "h", graphKey: "/else.json" });
    expect(useInsides.getState()).toEqual({});
  });

  it("says why there is nothing to draw", async () => {
    answer = () =>
      Promise.reject({ code: "not-found", message: "Node nested runs no graph that could be shown." });
    await expand();
    expect(useInsides.getState()["nested"]?.problem?.message).toContain("runs no graph");
    expect(scene.expandedSize("nested")?.height).toBeGreaterThan(100);
    expect(useAnnounced.getState().text).toContain("cannot be shown");
  });
});
