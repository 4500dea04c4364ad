/**
 * No wire lies behind a card, through a label of another one or over a port that is not its own: measured on the path as it
 * is drawn, in the graphs that people see first and in the one that is hardest to draw.
 */
import Elk from "elkjs/lib/elk.bundled.js";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { GraphDocument } from "../document/document";
import { moveNodes, type Point } from "../document/edits";
import { allPorts } from "../document/ports";
import type { Json } from "../document/types";
import { arrange } from "./arrange";
import { portOf } from "./geometry";
import { boxOf } from "./line-boxes";
import { cornersOf, shapeOf } from "./line-path";
import { type Line, startOf } from "./lines";
import { grown, labelBox, touch, withBadges } from "./wire-labels";
import { Scene } from "./window";

const ROOT = resolve(import.meta.dirname, "../../..");

interface Box {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
}

function open(file: string): Scene {
  const graph = JSON.parse(readFileSync(file, "utf8")) as {
    nodes: Record<string, Json>;
    edges: Json[];
    layout?: Record<string, Json>;
  };
  const doc = new GraphDocument();
  doc.reset([
    { id: "doc", value: {} },
    ...Object.entries(graph.nodes).map(([name, value]) => ({ id: `node:${name}`, value })),
    ...graph.edges.map((value, index) => ({ id: `edge:e${index}`, value })),
    ...Object.entries(graph.layout ?? {}).map(([name, value]) => ({ id: `layout:${name}`, value })),
  ]);
  const scene = new Scene(doc);
  scene.setCards(cardsOfKinds());
  return scene;
}

/** Which settings the kinds show on their cards, read where the kinds are. */
function cardsOfKinds(): ReadonlyMap<string, readonly string[]> {
  const folder = resolve(ROOT, "crates/nodes/src/kinds");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((each) =>
    each.endsWith(".rs"),
  );
  return new Map(
    files.flatMap((file) => {
      const text = readFileSync(resolve(folder, file), "utf8");
      const kind = /\bkind: "(\w+)"/.exec(text)?.[1];
      const card = /\bcard: &\[([^\]]*)\]/.exec(text)?.[1];
      if (kind === undefined || card === undefined) return [];
      return [[kind, [...card.matchAll(/"([^"]+)"/g)].map((each) => each[1] ?? "")] as const];
    }),
  );
}

/** Points of a path, some three pixels from each other. */
function pointsOf(path: string): Point[] {
  const points: Point[] = [];
  let at: Point = { x: 0, y: 0 };
  const along = (count: number, place: (part: number) => Point) => {
    for (let index = 1; index <= count; index += 1) points.push(place(index / count));
  };
  for (const [, command = "", rest = ""] of path.matchAll(/([MLCQ])([^MLCQ]*)/g)) {
    const numbers = [...rest.matchAll(/-?[\d.]+(?:e-?\d+)?/g)].map(Number);
    const pairs: Point[] = [];
    for (let index = 0; index + 1 < numbers.length; index += 2)
      pairs.push({ x: numbers[index] ?? 0, y: numbers[index + 1] ?? 0 });
    const [begin, end] = [at, pairs.at(-1) ?? at];
    const count = Math.max(1, Math.ceil(Math.hypot(end.x - begin.x, end.y - begin.y) / 3));
    const mix = (a: Point, b: Point, part: number) => ({
      x: a.x + (b.x - a.x) * part,
      y: a.y + (b.y - a.y) * part,
    });
    const bezier = (of: readonly Point[], part: number): Point =>
      of.length === 1
        ? (of[0] ?? begin)
        : bezier(
            of.slice(1).map((next, index) => mix(of[index] ?? next, next, part)),
            part,
          );
    if (command === "M") points.push(end);
    else along(count, (part) => bezier([begin, ...pairs], part));
    at = end;
  }
  return points;
}

const within = ({ x, y }: Point, box: Box) => x > box.minX && x < box.maxX && y > box.minY && y < box.maxY;

type Drawing = "near" | "far";

/** What wires lie on that are not theirs. The middle drawing has the places of the near one; the far one has no labels. */
function faults(scene: Scene, drawing: Drawing): string[] {
  const found = new Set<string>();
  const named = ({ from, to, part }: Line) => `${from}>${to}${part === "" ? "" : ` (${part})`}`;
  const shapes = [...scene.lines().values()].flatMap((line) => {
    const [from, to] = [scene.rect(line.from), scene.rect(line.to)];
    if (!from || !to) return [];
    const [start, end] = [startOf(line, from), portOf(to, "in")];
    const shape = shapeOf(line, start, end, false);
    const corners = cornersOf(line, start, end).map(({ x, y }) => `${x},${y}`);
    const path = drawing === "near" ? shape.path : `M${corners.join(" L")}`;
    return [{ line, shape, points: pointsOf(path) }];
  });
  const cards = [...scene.rects()].filter(([name]) => !scene.liesBehind(name));
  const labels = shapes.flatMap(({ line, shape }) =>
    drawing === "far" || line.label === null || line.port !== null
      ? []
      : [{ line, box: grown(labelBox(shape.label, shape.labelWidth), -1) }],
  );
  for (const { line, box } of labels)
    for (const [name, rect] of cards)
      if (touch(box, withBadges(grown(boxOf(rect), -1))))
        found.add(`the label of ${named(line)} on ${name} or its badges`);
  const ports = cards.flatMap(([name, rect]) => [
    { name, port: "in", at: portOf(rect, "in") },
    ...(allPorts(scene.ports(name)).length === 0 ? [{ name, port: null, at: portOf(rect, "out") }] : []),
    ...allPorts(scene.ports(name)).map(({ id }) => ({
      name,
      port: id as string | null,
      at: scene.portPoint(name, id) ?? portOf(rect, "out"),
    })),
  ]);
  for (const { line, points } of shapes) {
    const clear = points.slice(2, -2);
    for (const [name, rect] of cards) {
      // The sides of a card at its own end are where the wire begins and ends.
      const inner = grown(boxOf(rect), name === line.from || name === line.to ? -3 : -1);
      if (clear.some((point) => within(point, inner))) found.add(`${named(line)} behind ${name}`);
    }
    for (const { line: other, box } of labels)
      if (other.id !== line.id && clear.some((point) => within(point, box)))
        found.add(`${named(line)} through the label of ${named(other)}`);
    for (const { name, port, at } of ports) {
      const own = port === "in" ? line.to === name : line.from === name;
      if (own) continue;
      if (clear.some(({ x, y }) => Math.hypot(x - at.x, y - at.y) < 5))
        found.add(`${named(line)} over the port ${port ?? "out"} of ${name}`);
    }
  }
  return [...found].sort();
}

const allFaults = (scene: Scene) => [
  ...faults(scene, "near"),
  ...faults(scene, "far").map((fault) => `far: ${fault}`),
];

const GRAPHS = [
  ...readdirSync(resolve(ROOT, "graphs"))
    .sort()
    .map((name) => [name, resolve(ROOT, "graphs", name, "graph.json")] as const)
    .filter(([, file]) => existsSync(file)),
  ["nasty", resolve(ROOT, "tests/e2e/fixtures/nasty/graph.json")] as const,
];

describe("wires", () => {
  it("are measured in the eleven examples and the nasty graph", () => {
    expect(GRAPHS.length).toBeGreaterThanOrEqual(12);
  });

  for (const [name, file] of GRAPHS) {
    it(`lie on nothing that is not theirs: ${name}`, () => {
      const scene = open(file);
      expect(scene.lines().size).toBeGreaterThan(1);
      expect(allFaults(scene)).toEqual([]);
    });

    it.for([{ size: { width: 1360, height: 700 } }, { down: true }])(
      `nor when they are arranged (%j): ${name}`,
      async (how) => {
        const scene = open(file);
        const places = await arrange(scene, { ...how, start: () => Promise.resolve(new Elk() as never) });
        scene.doc.apply(moveNodes(scene.doc, places));
        expect(allFaults(scene)).toEqual([]);
      },
    );
  }
});
