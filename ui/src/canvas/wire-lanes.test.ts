import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { GraphDocument } from "../document/document";
import type { Json } from "../document/types";
import { shapeOf } from "./line-path";
import { curveAt, portOf } from "./geometry";
import { Scene } from "./window";
import { startOf } from "./lines";

/** One node with four ways, of which two lead back through others that stand above and below it, and one onto itself. */
function knot(): Scene {
  const doc = new GraphDocument();
  const node = (name: string, x: number, y: number) => [
    { id: `node:${name}`, value: { kind: "assign", config: {} } as Json },
    { id: `layout:${name}`, value: [x, y] as Json },
  ];
  doc.reset([
    { id: "doc", value: {} },
    ...node("loop", 440, 192),
    ...node("above", 440, 20),
    ...node("below", 440, 420),
    ...node("next", 760, 192),
    {
      id: "edge:r",
      value: {
        from: "loop",
        route: "state.x",
        paths: { above: "above", below: "below", done: "next", again: "loop" },
      },
    },
    { id: "edge:a", value: { from: "above", to: "loop" } },
    { id: "edge:b", value: { from: "below", to: "loop" } },
    { id: "edge:c", value: { from: "next", to: "loop", when: "state.y" } },
    { id: "layout:__start__", value: [0, 200] },
    { id: "layout:__end__", value: [1100, 200] },
  ]);
  return new Scene(doc);
}

interface Segment {
  readonly line: string;
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

/** The straight parts of every line that goes round, without the rounded corners. */
function segments(scene: Scene): Segment[] {
  return [...scene.lines().values()].flatMap((line) => {
    const from = scene.rect(line.from);
    const to = scene.rect(line.to);
    if (!from || !to || line.lane === null) return [];
    const { path } = shapeOf(line, startOf(line, from), portOf(to, "in"), false);
    const points = [...path.matchAll(/(-?[\d.]+),(-?[\d.]+)/g)].map((each) => [
      Number(each[1]),
      Number(each[2]),
    ]);
    return points.slice(1).map(([x2 = 0, y2 = 0], index) => {
      const [x1 = 0, y1 = 0] = points[index] ?? [];
      return { line: line.id, x1, y1, x2, y2 };
    });
  });
}

const overlap = (a1: number, a2: number, b1: number, b2: number) =>
  Math.min(Math.max(a1, a2), Math.max(b1, b2)) - Math.max(Math.min(a1, a2), Math.min(b1, b2));

describe("lanes", () => {
  it("keep lines that lead back off each other and off the cards", () => {
    const scene = knot();
    const all = segments(scene);
    expect(new Set(all.map((each) => each.line)).size).toBe(6);
    for (const a of all)
      for (const b of all) {
        if (a.line >= b.line) continue;
        const upright = a.x1 === a.x2 && b.x1 === b.x2 && Math.abs(a.x1 - b.x1) < 4;
        if (upright) expect(overlap(a.y1, a.y2, b.y1, b.y2), `${a.line} on ${b.line}`).toBeLessThan(1);
        const level = a.y1 === a.y2 && b.y1 === b.y2 && Math.abs(a.y1 - b.y1) < 4;
        // Lines into one port meet in its last stretch.
        if (level && scene.line(a.line)?.to !== scene.line(b.line)?.to)
          expect(overlap(a.x1, a.x2, b.x1, b.x2), `${a.line} on ${b.line}`).toBeLessThan(1);
      }
    for (const each of all)
      for (const [name, rect] of scene.rects()) {
        const inX = overlap(each.x1, each.x2, rect.x + 2, rect.x + rect.width - 2);
        const inY = overlap(each.y1, each.y2, rect.y + 2, rect.y + rect.height - 2);
        expect(inX >= 0 && inY >= 0, `${each.line} behind ${name}`).toBe(false);
      }
  });

  it("are the same however the graph came to be", () => {
    const scene = knot();
    const { doc } = scene;
    const fresh = new Scene(doc);
    doc.apply({ ops: [{ id: "layout:next", from: [760, 192], to: [760, 400] }] });
    doc.apply({ ops: [{ id: "layout:next", from: [760, 400], to: [760, 192] }] });
    for (const [id, line] of fresh.lines()) expect(scene.line(id)).toEqual(line);
  });

  it("are found in every example", () => {
    for (const name of ["knowledge-agent", "refund-desk", "research-fan-out", "counter"]) {
      const graph = JSON.parse(
        readFileSync(new URL(`../../../graphs/${name}/graph.json`, import.meta.url), "utf8"),
      ) as { nodes: Record<string, Json>; edges: Json[]; layout: Record<string, Json> };
      const doc = new GraphDocument();
      doc.reset([
        { id: "doc", value: {} },
        ...Object.entries(graph.nodes).map(([id, value]) => ({ id: `node:${id}`, value })),
        ...graph.edges.map((value, index) => ({ id: `edge:${index}`, value })),
        ...Object.entries(graph.layout).map(([id, value]) => ({ id: `layout:${id}`, value })),
      ]);
      const back = [...new Scene(doc).lines().values()].filter((line) => line.lane !== null);
      expect(back.length, name).toBeGreaterThan(0);
      expect(back.every((line) => line.inset >= 0 && line.outset >= 0)).toBe(true);
    }
  });
});

describe("a line that leads back between two cards that stand close to each other", () => {
  for (const [gap, ways] of [
    [30, ["again", "ok"]],
    [24, ["again"]],
    [40, ["again", "ok", "more"]],
  ] as const)
    it(`stays between them, ${ways.length} of them in ${gap} px`, () => {
      const doc = new GraphDocument();
      const node = (name: string, x: number, y: number) => [
        { id: `node:${name}`, value: { kind: "assign", config: {} } as Json },
        { id: `layout:${name}`, value: [x, y] as Json },
      ];
      doc.reset([
        { id: "doc", value: {} },
        ...node("intake", 0, 0),
        ...node("work", 214 + gap, 0),
        ...node("check", 640, 0),
        { id: "edge:1", value: { from: "intake", to: "work" } },
        { id: "edge:2", value: { from: "work", to: "check" } },
        {
          id: "edge:r",
          value: {
            from: "check",
            route: "state.x",
            paths: Object.fromEntries(ways.map((way) => [way, "work"])),
          },
        },
        { id: "layout:__start__", value: [-200, 7] },
        { id: "layout:__end__", value: [1100, 7] },
      ]);
      const scene = new Scene(doc);
      const upright = segments(scene).filter(({ x1, x2, y1, y2 }) => x1 === x2 && Math.abs(y1 - y2) > 10);
      const [intake, work] = [scene.rect("intake"), scene.rect("work")];
      const into = upright.filter(({ x1 }) => x1 < (work?.x ?? 0));
      expect(into).toHaveLength(ways.length);
      for (const { x1 } of into) expect(x1).toBeGreaterThan((intake?.x ?? 0) + (intake?.width ?? 0) + 3);
      expect(new Set(into.map(({ x1 }) => x1)).size, "each has a place of its own").toBe(ways.length);
    });
});

it("lines into one port are apart 60 px before it", () => {
  const to = { x: 600, y: 0 };
  const apart = (dy: number) => {
    // Where the line from another height is beside the straight one.
    for (let part = 1; part >= 0; part -= 0.001) {
      const at = curveAt({ x: 0, y: dy }, to, part);
      if (Math.abs(at.y) >= 8) return to.x - at.x;
    }
    return Infinity;
  };
  expect(apart(100)).toBeLessThan(60);
  expect(apart(-160)).toBeLessThan(60);
});
