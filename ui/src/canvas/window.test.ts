import { describe, expect, it } from "vitest";
import { GraphDocument } from "../document/document";
import { addPath, setEdgeForm } from "../document/edge-edits";
import * as edits from "../document/edits";
import { op, reversed } from "../document/patch";
import type { Json } from "../document/types";
import { crosses, intersects, LABEL_X } from "./geometry";
import { shapeOf } from "./line-path";
import { walk } from "./keyboard-navigation";
import { Scene } from "./window";
import { firstView, fitView, windowArea } from "./viewport";

function grid(columns: number, rows: number): GraphDocument {
  const doc = new GraphDocument();
  const records: { id: string; value: Json }[] = [{ id: "doc", value: {} }];
  for (let index = 0; index < columns * rows; index += 1) {
    records.push({ id: `node:n${index}`, value: { kind: "assign", config: { set: { x: "1" } } } });
  }
  for (let index = 1; index < columns * rows; index += 1) {
    records.push({ id: `edge:n${index - 1}->n${index}`, value: { from: `n${index - 1}`, to: `n${index}` } });
  }
  for (let index = 0; index < columns * rows; index += 1) {
    records.push({
      id: `layout:n${index}`,
      value: [(index % columns) * 320, Math.floor(index / columns) * 160],
    });
  }
  records.push(
    { id: "layout:__start__", value: [-200, 0] },
    { id: "layout:__end__", value: [columns * 320, 0] },
  );
  doc.reset(records);
  return doc;
}

describe("Scene", () => {
  it("finds the nodes and lines near a view, and only those", () => {
    const doc = grid(100, 100);
    const scene = new Scene(doc);
    const area = windowArea({ x: -8000, y: -4000, zoom: 1 }, { width: 1200, height: 800 });
    const found = scene.nodesIn(area);
    expect(found.length).toBeGreaterThan(10);
    expect(found.length).toBeLessThan(80);
    const near = [...scene.rects()].filter(([, rect]) => intersects(rect, area)).map(([name]) => name);
    expect(
      near.filter((name) => !found.includes(name)),
      "nothing in view is left out",
    ).toEqual([]);
    expect(scene.linesIn(area).length).toBeLessThan(200);
    expect(scene.nodeAt({ x: 8010, y: 4010 })).toBe("n2525");
  });

  it("follows patches: it is as if it were built again", () => {
    const doc = grid(6, 4);
    const scene = new Scene(doc);
    const steps = [
      (d: GraphDocument) => edits.moveNodes(d, new Map([["n3", { x: 5000, y: 20 }]])),
      (d: GraphDocument) => edits.renameNode(d, "n5", "five", []),
      (d: GraphDocument) => edits.deleteThings(d, { nodes: ["n7", "n8"] }),
      (d: GraphDocument) => setEdgeForm(d, "n0->n1", "route"),
      (d: GraphDocument) => addPath(d, "n0->n1", "other", "n10"),
      (d: GraphDocument) => edits.connect(d, "n20", "n2"),
      (d: GraphDocument) =>
        edits.addNode(d, { name: "new", kind: "assign", config: {}, position: { x: 10, y: 900 } }),
    ];
    const check = () => {
      const fresh = new Scene(doc);
      expect(new Map([...scene.rects()].sort())).toEqual(new Map([...fresh.rects()].sort()));
      expect([...scene.lines().keys()].sort()).toEqual([...fresh.lines().keys()].sort());
      const strip = (all: Scene) =>
        [...all.lines().values()]
          .map(({ lane: _lane, inset: _inset, ...line }) => line)
          .sort((a, b) => (a.id < b.id ? -1 : 1));
      expect(strip(scene)).toEqual(strip(fresh));
      expect(scene.bounds()).toEqual(fresh.bounds());
    };
    const done = steps.map((step) => {
      const patch = doc.apply(step(doc));
      check();
      return patch;
    });
    for (const patch of done.reverse()) doc.apply(reversed(patch));
    check();
  });

  it("follows a move of very many nodes, with their lines and what stands on their cards", () => {
    const doc = grid(30, 20);
    const cards = new Map([["assign", ["/set"]]]);
    const scene = new Scene(doc);
    scene.setCards(cards);
    const check = () => {
      const fresh = new Scene(doc);
      fresh.setCards(cards);
      expect(new Map([...scene.rects()].sort())).toEqual(new Map([...fresh.rects()].sort()));
      expect(new Map([...scene.lines()].sort())).toEqual(new Map([...fresh.lines()].sort()));
      const whole = scene.extent() ?? expect.fail("the graph has no extent");
      expect(scene.linesIn(whole).length).toBe(scene.lines().size);
    };
    const places = (by: number) =>
      new Map(doc.names("node").map((name, index) => [name, { x: index * by, y: index * 40 }]));
    doc.apply(edits.moveNodes(doc, places(300)));
    check();
    const config = { set: { x: "1", y: "2", z: "3" } };
    const grown = doc.apply(edits.setField(doc, "node:n3", "/config", config));
    doc.apply(edits.moveNodes(doc, places(310)));
    check();
    doc.apply(reversed(grown));
    // Edges and failures that lead elsewhere, one by one, before all is moved.
    doc.apply(setEdgeForm(doc, "n0->n1", "route"));
    doc.apply(addPath(doc, "n0->n1", "retry", "n9"));
    doc.apply(edits.setField(doc, "node:n2", "/fallback", { to: "n8" }));
    doc.apply(edits.moveNodes(doc, places(-20)));
    check();
    const gone = doc.apply(edits.deleteThings(doc, { nodes: ["n4"] }));
    doc.apply(edits.moveNodes(doc, places(300)));
    check();
    // A node without a place is placed beside its neighbours, also when others have been moved.
    doc.apply(reversed(gone));
    doc.apply({ ops: [op("layout:n5", doc.get("layout:n5"), undefined)] });
    check();
    doc.apply(edits.moveNodes(doc, places(290)));
    check();
    scene.setCards(new Map());
    cards.clear();
    check();
  });

  it("takes lines as they were when very many nodes are back in their places", () => {
    const doc = grid(30, 20);
    const scene = new Scene(doc);
    const linesOf = (all: Scene) => new Map([...all.lines()].sort());
    const whole = () => scene.linesIn(scene.extent() ?? expect.fail("the graph has no extent"));
    const first = linesOf(scene);
    const places = new Map(doc.names("node").map((name, index) => [name, { x: index * 300, y: index * 40 }]));
    const moved = doc.apply(edits.moveNodes(doc, places));
    const second = linesOf(scene);
    expect(second).toEqual(linesOf(new Scene(doc)));
    // Moved by itself and back in between.
    doc.apply(reversed(doc.apply(edits.moveNodes(doc, new Map([["n7", { x: -900, y: 0 }]])))));
    doc.apply(reversed(moved));
    for (const [id, line] of scene.lines()) expect(line).toBe(first.get(id));
    expect(new Set(whole())).toEqual(new Set(scene.lines().values()));
    doc.apply(moved);
    for (const [id, line] of linesOf(scene)) expect(line).toEqual(second.get(id));
    // What is changed meanwhile is not taken back with the places, whenever it is changed.
    const check = () => {
      expect(linesOf(scene)).toEqual(linesOf(new Scene(doc)));
      expect(new Set(whole())).toEqual(new Set(scene.lines().values()));
    };
    doc.apply(edits.connect(doc, "n9", "n2"));
    doc.apply(reversed(moved));
    check();
    doc.apply(setEdgeForm(doc, "n0->n1", "route"));
    doc.apply(addPath(doc, "n0->n1", "other", "n10"));
    doc.apply(moved);
    check();
    doc.apply(edits.deleteThings(doc, { nodes: ["n4"] }));
    doc.apply(edits.moveNodes(doc, new Map([...places].map(([name, { x, y }]) => [name, { x: y, y: x }]))));
    check();
  });

  it("leads a loop round the nodes that are in its way", () => {
    const doc = grid(4, 1);
    doc.apply(edits.connect(doc, "n3", "n0"));
    const scene = new Scene(doc);
    const line = scene.line("n3->n0");
    expect(line?.lane).not.toBeNull();
    for (const rect of scene.rects().values()) {
      const lane = line?.lane ?? 0;
      expect(lane > rect.y && lane < rect.y + rect.height, "the lane crosses no node").toBe(false);
    }
  });

  it("spreads labels of one node and keeps the rest of the lines in their middle", () => {
    const doc = grid(3, 3);
    const when = (to: string) => ({ from: "n3", to, when: "state.x" });
    doc.apply({
      ops: ["n1", "n7", "n5"].map((to) => ({ id: `edge:r${to}`, from: null, to: when(to) })),
    });
    const scene = new Scene(doc);
    const fan = (to: string) => scene.linesOf(`r${to}`)[0]?.fan ?? 0;
    expect(new Set(["n1", "n5", "n7"].map(fan)).size).toBe(3);
    expect(fan("n1") < fan("n7")).toBe(true);
  });

  it("gives every label of a route a port on the card, which grows and shrinks with them", () => {
    const doc = grid(3, 3);
    const scene = new Scene(doc);
    const { height } = scene.sizeOf("n3");
    const route = { from: "n3", route: "state.x", paths: { up: "n1", down: "n7" }, default: "n5" };
    const done = doc.apply({ ops: [{ id: "edge:r", from: null, to: route }] });
    const rect = scene.rect("n3");
    expect(rect?.height).toBeGreaterThan(height);
    const ys = scene.linesOf("r").map((line) => line.portY);
    expect(new Set(ys).size).toBe(3);
    expect(ys.every((y) => y > height && y < (rect?.height ?? 0))).toBe(true);
    expect(scene.linesOf("r").map((line) => line.port)).toEqual(["=up", "=down", "default"]);
    doc.apply(reversed(done));
    expect(scene.rect("n3")?.height).toBe(height);
  });

  it("places nodes without a position beside the others, and never on top of each other", () => {
    const doc = new GraphDocument();
    doc.reset([
      { id: "doc", value: {} },
      ...["a", "b", "c"].map((name) => ({ id: `node:${name}`, value: { kind: "x" } as Json })),
      { id: "edge:1", value: { from: "__start__", to: "a" } },
      { id: "edge:2", value: { from: "a", to: "b" } },
      { id: "edge:3", value: { from: "a", to: "c" } },
    ]);
    const scene = new Scene(doc);
    const rects = [...scene.rects().values()];
    rects.forEach((a, i) => rects.slice(i + 1).forEach((b) => expect(intersects(a, b)).toBe(false)));
    expect(scene.position("a").x).toBeLessThan(scene.position("b").x);
  });

  it("leaves room for the conditions behind a node without a position", () => {
    const doc = new GraphDocument();
    const long = "state.number_of_attempts < state.limit";
    doc.reset([
      { id: "doc", value: {} },
      ...["a", "b"].map((name) => ({ id: `node:${name}`, value: { kind: "x" } as Json })),
      { id: "edge:1", value: { from: "__start__", to: "a" } },
      { id: "edge:2", value: { from: "a", to: "b", when: long } },
      { id: "edge:3", value: { from: "b", to: "__end__", when: long } },
    ]);
    const scene = new Scene(doc);
    const [line] = scene.linesOf("2");
    const card = scene.rect("a")!;
    const end = card.x + card.width + LABEL_X + line!.labelWidth;
    expect(line!.labelWidth).toBeGreaterThan(100);
    expect(end).toBeLessThan(scene.position("b").x);
    const last = scene.rect("b")!;
    expect(last.x + last.width + LABEL_X + line!.labelWidth).toBeLessThan(scene.position("__end__").x);
  });
});

describe("views", () => {
  const size = { width: 1000, height: 600 };

  it("mounts the same part for views that differ by less than a cell", () => {
    const a = windowArea({ x: -30, y: -10, zoom: 1 }, size);
    const b = windowArea({ x: -70, y: -10, zoom: 1 }, size);
    expect(a).toEqual(b);
    expect(windowArea({ x: -400, y: -10, zoom: 1 }, size)).not.toEqual(a);
  });

  it("fits bounds into the view", () => {
    const view = fitView({ x: 100, y: 100, width: 4000, height: 500 }, size);
    expect(100 * view.zoom + view.x).toBeGreaterThanOrEqual(47);
    expect(4100 * view.zoom + view.x).toBeLessThanOrEqual(953);
  });

  it("begins a graph that is too large to be read at its start", () => {
    const view = firstView({ x: 100, y: 0, width: 20000, height: 300 }, size);
    expect(view.zoom).toBeGreaterThan(0.5);
    expect(100 * view.zoom + view.x).toBeCloseTo(40);
  });
});

describe("lines", () => {
  it("begin and end at the ports, whatever is between", () => {
    const doc = grid(3, 2);
    doc.apply(setEdgeForm(doc, "n0->n1", "each"));
    doc.apply(edits.connect(doc, "n2", "n0"));
    const scene = new Scene(doc);
    for (const line of scene.lines().values()) {
      const shape = shapeOf(line, { x: 10, y: 20 }, { x: 300, y: 40 }, false);
      expect(shape.path.startsWith("M10,20")).toBe(true);
      expect(shape.path.endsWith("300,40")).toBe(true);
      expect(shape.path).not.toMatch(/NaN|undefined/);
    }
  });

  it("are cut by a stroke that meets them, also at a corner", () => {
    const [a, b] = [
      { x: 0, y: 0 },
      { x: 10, y: 0 },
    ];
    expect(crosses(a, b, { x: 5, y: -5 }, { x: 5, y: 5 })).toBe(true);
    expect(crosses(a, b, { x: 5, y: -5 }, { x: 5, y: 0 })).toBe(true);
    expect(crosses(a, b, { x: 5, y: 1 }, { x: 5, y: 5 })).toBe(false);
  });
});

describe("walking", () => {
  it("follows lines to the right and left, and looks around up and down", () => {
    const doc = grid(3, 3);
    const scene = new Scene(doc);
    expect(walk(scene, "n3", "right")).toBe("n4");
    expect(walk(scene, "n4", "left")).toBe("n3");
    expect(walk(scene, "n4", "down")).toBe("n7");
    expect(walk(scene, "n4", "up")).toBe("n1");
    expect(walk(scene, null, "down")).not.toBeNull();
  });
});

describe("ways of a failure and bounds in the scene", () => {
  const graph = () => {
    const doc = new GraphDocument();
    doc.reset([
      { id: "doc", value: {} },
      { id: "node:pay", value: { kind: "assign", config: {} } },
      { id: "node:check", value: { kind: "assign", config: {} } },
      { id: "node:mend", value: { kind: "assign", config: {} } },
      { id: "edge:pay->check", value: { from: "pay", to: "check" } },
      { id: "edge:check->pay", value: { from: "check", to: "pay" } },
      { id: "layout:pay", value: [0, 0] },
      { id: "layout:check", value: [400, 0] },
      { id: "layout:mend", value: [400, 200] },
      { id: "layout:__start__", value: [-200, 0] },
      { id: "layout:__end__", value: [800, 0] },
    ]);
    return doc;
  };

  it("draws a failure as a line from a port of its own, and follows it", () => {
    const doc = graph();
    const scene = new Scene(doc);
    const low = scene.rect("pay")?.height ?? 0;
    expect(scene.linesOf("on-error:pay")).toEqual([]);
    doc.apply(edits.setField(doc, "node:pay", "/fallback", { to: "mend" }));
    const [line] = scene.linesOf("on-error:pay");
    expect(line).toMatchObject({ form: "error", from: "pay", to: "mend", port: "!error" });
    expect(scene.rect("pay")?.height, "its port has a row of its own").toBeGreaterThan(low);
    doc.apply(edits.moveNodes(doc, new Map([["mend", { x: 400, y: 600 }]])));
    expect(scene.linesIn({ x: 300, y: 500, width: 50, height: 100 }).map(({ id }) => id)).toContain(
      "on-error:pay",
    );
    expect([...scene.lines()].toSorted()).toEqual([...new Scene(doc).lines()].toSorted());
    doc.apply(edits.deleteThings(doc, { edges: ["on-error:pay"] }));
    expect(scene.linesOf("on-error:pay")).toEqual([]);
    expect(scene.rect("pay")?.height).toBe(low);
  });

  it("does nothing for settings that only the node's card shows", () => {
    const doc = grid(6, 4);
    const scene = new Scene(doc);
    scene.setCards(new Map([["assign", ["/set"]]]));
    for (const name of doc.names("node")) scene.ports(name);
    const before = scene.version;
    const set = (config: Json) => doc.apply(edits.setField(doc, "node:n3", "/config", config));
    set({ set: { x: "2" } });
    set({ set: { x: "3" }, note: "Quiet." });
    expect(scene.version).toBe(before);
    const low = scene.rect("n3")?.height ?? 0;
    set({ set: { x: "3", y: "4" } });
    expect(scene.rect("n3")?.height, "a row more").toBeGreaterThan(low);
    expect(scene.version).toBeGreaterThan(before);
    set({ set: { x: "3" } });
    expect(scene.rect("n3")?.height).toBe(low);
    const shown = scene.version;
    doc.apply(edits.setField(doc, "node:n3", "/kind", "note"));
    expect(scene.version, "another kind").toBeGreaterThan(shown);
  });

  it("says on the line that leads back how often a run may come there", () => {
    const doc = graph();
    const scene = new Scene(doc);
    doc.apply(edits.setMaxVisits(doc, "pay", 5));
    expect(scene.linesOf("check->pay")[0]?.bound).toBe(5);
    expect(scene.boundShown("pay")).toBe(true);
    doc.apply(edits.setMaxVisits(doc, "check", 3));
    expect(scene.linesOf("pay->check")[0]?.bound, "it leads on, not back").toBeNull();
    expect(scene.boundShown("check"), "so its card says it").toBe(false);
    doc.apply(edits.setMaxVisits(doc, "pay", undefined));
    expect(scene.linesOf("check->pay")[0]?.bound).toBeNull();
  });
});
