// @vitest-environment jsdom
import type { ElkNode } from "elkjs/lib/elk-api";
import Elk from "elkjs/lib/elk.bundled.js";
import { beforeEach, describe, expect, it } from "vitest";
import { GraphDocument } from "../document/document";
import { moveNodes } from "../document/edits";
import { reversed } from "../document/patch";
import { arrange, type Engine } from "./arrange";
import { notePlaced, placesToKeep, renamePlaced } from "./by-hand";
import { intersects } from "./geometry";
import { Scene } from "./window";

const elk = new Elk();
const start = () => Promise.resolve({ layout: (graph: ElkNode) => elk.layout(graph) } as unknown as Engine);

/** A chain of six nodes, none of them placed but those that are named. */
function chain(placed: Readonly<Record<string, [number, number]>> = {}): Scene {
  const doc = new GraphDocument();
  const names = ["a", "b", "c", "d", "e", "f"];
  const ends = ["__start__", ...names, "__end__"];
  doc.reset([
    { id: "doc", value: {} },
    ...names.map((name) => ({ id: `node:${name}`, value: { kind: "assign", config: {} } })),
    ...ends.slice(1).map((to, index) => ({ id: `edge:${index}`, value: { from: ends[index] ?? "", to } })),
    ...Object.entries(placed).map(([name, value]) => ({ id: `layout:${name}`, value })),
  ]);
  return new Scene(doc);
}

/** Arranges all, as the command does at first. */
async function arranged(): Promise<Scene> {
  const scene = chain();
  scene.doc.apply(moveNodes(scene.doc, await arrange(scene, { start })));
  return scene;
}

function overlaps(scene: Scene): string[] {
  const rects = [...scene.rects()];
  return rects.flatMap(([one, a], index) =>
    rects.slice(index + 1).flatMap(([other, b]) => (intersects(a, b) ? [`${one} on ${other}`] : [])),
  );
}

beforeEach(() => localStorage.clear());

describe("arranging", () => {
  it("keeps a node where a person put it, and lets the others give way", async () => {
    const scene = await arranged();
    const before = new Map([...scene.rects()].map(([name]) => [name, scene.position(name)]));
    // Over the place of another one.
    const put = { x: scene.position("e").x + 20, y: scene.position("e").y + 8 };
    scene.doc.apply(moveNodes(scene.doc, new Map([["b", put]])));
    notePlaced(scene.doc, ["b"]);
    const stays = placesToKeep(scene.doc);
    expect([...stays]).toEqual([["b", put]]);
    const places = await arrange(scene, { start, stays });
    expect(places.has("b")).toBe(false);
    expect(places.size).toBe(7);
    scene.doc.apply(moveNodes(scene.doc, places));
    expect(scene.position("b")).toEqual(put);
    expect(overlaps(scene)).toEqual([]);
    for (const name of ["__start__", "a", "c", "d", "f"])
      expect(scene.position(name)).toEqual(before.get(name));

    // All means all.
    scene.doc.apply(moveNodes(scene.doc, await arrange(scene, { start })));
    expect(scene.position("b")).toEqual(before.get("b"));
    expect([...placesToKeep(scene.doc)]).toEqual([]);
  });

  it("forgets a move that was taken back, and remembers it when it is made again", async () => {
    const scene = await arranged();
    const patch = moveNodes(scene.doc, new Map([["c", { x: 40, y: 400 }]]));
    scene.doc.apply(patch);
    notePlaced(scene.doc, ["c"]);
    scene.doc.apply(reversed(patch));
    expect(placesToKeep(scene.doc).size).toBe(0);
    scene.doc.apply(patch);
    expect([...placesToKeep(scene.doc).keys()]).toEqual(["c"]);
    renamePlaced("c", "other");
    expect(placesToKeep(scene.doc).size).toBe(0);
  });

  it("arranges only what is new where the others are placed, beside what it is connected with", async () => {
    const placed = await arranged();
    const at = (name: string): [number, number] => {
      const { x, y } = placed.position(name);
      return [x + 1000, y - 300];
    };
    const names = ["__start__", "a", "b", "c", "d", "f", "__end__"];
    const scene = chain(Object.fromEntries(names.map((name) => [name, at(name)])));
    const stays = placesToKeep(scene.doc);
    expect([...stays.keys()].sort()).toEqual([...names].sort());
    const places = await arrange(scene, { start, stays });
    const [x, y] = at("e");
    expect([...places]).toEqual([["e", { x, y }]]);
  });

  it("gives a graph that nobody has placed an arrangement of all", () => {
    expect(placesToKeep(chain().doc).size).toBe(0);
  });
});
