import { describe, expect, it } from "vitest";
import { GraphDocument } from "../document/document";
import type { Json } from "../document/types";
import { intersects, portOf, type Rect } from "./geometry";
import { COUNT, countAt, shapeOf } from "./line-path";
import { startOf } from "./lines";
import { Scene } from "./window";

type Places = Readonly<Record<string, readonly [x: number, y: number]>>;

function sceneOf(places: Places, edges: readonly Json[]): Scene {
  const doc = new GraphDocument();
  const layout = { __start__: [-2000, 0], __end__: [2000, 0], ...places };
  doc.reset([
    { id: "doc", value: {} },
    ...Object.keys(places).map((name) => ({
      id: `node:${name}`,
      value: { kind: "assign", config: {} } as Json,
    })),
    ...edges.map((value, index) => ({ id: `edge:e${index}`, value })),
    ...Object.entries(layout).map(([name, place]) => ({ id: `layout:${name}`, value: [...place] as Json })),
  ]);
  return new Scene(doc);
}

const into = (to: string, ...froms: string[]): Json[] => froms.map((from) => ({ from, to }));

/** The boxes of the counts by the source of their line, and of the label of that. */
function countsOf(scene: Scene) {
  return [...scene.lines().values()].map((line) => {
    const start = startOf(line, scene.rect(line.from)!);
    const end = portOf(scene.rect(line.to)!, "in");
    const { label, labelWidth: width } = shapeOf(line, start, end, false);
    const words: Rect = { x: label.x, y: label.y - 10, width, height: 20 };
    return { name: `${line.from} ${line.part}`, words, box: { ...countAt(line, start, end), ...COUNT } };
  });
}

/** Counts that lie on another one, on a label or on a card. */
function covered(scene: Scene): string[] {
  const counts = countsOf(scene);
  return counts.flatMap(({ name, box, words }, index) => [
    ...counts
      .slice(index + 1)
      .filter((other) => intersects(box, other.box))
      .map((other) => `${name} on ${other.name}`),
    ...(words.width > 0 && intersects(box, words) ? [`${name} on its label`] : []),
    ...[...scene.rects()].filter(([, rect]) => intersects(box, rect)).map(([card]) => `${name} on ${card}`),
  ]);
}

const CASES: readonly (readonly [string, Places, readonly Json[]])[] = [
  ["from above and below", { a: [0, 0], b: [0, 160], to: [300, 80] }, into("to", "a", "b")],
  ["from one side", { a: [0, 0], b: [0, 80], c: [0, 160], to: [300, 320] }, into("to", "a", "b", "c")],
  [
    "from one side and far away",
    { a: [0, 0], b: [0, 80], c: [0, 160], to: [1200, 500] },
    into("to", "a", "b", "c"),
  ],
  ["from below", { a: [0, 200], b: [0, 280], to: [300, 0] }, into("to", "a", "b")],
  [
    "that lead back to one node",
    { to: [0, 0], a: [300, 0], b: [600, 0], c: [900, 0] },
    into("to", "a", "b", "c"),
  ],
  ["that pass one card", { a: [-300, 0], b: [-300, 70], card: [0, 20], to: [400, 30] }, into("to", "a", "b")],
  [
    "of two ways of a choice to one node",
    { a: [0, 0], to: [320, 40], else: [320, 140] },
    [{ from: "a", route: "state.x", paths: { yes: "to", no: "to" }, default: "else" }],
  ],
  [
    "with a label beside its line",
    { a: [0, 0], to: [300, 90] },
    [{ from: "a", to: "to", when: "state.message|length > 3" }],
  ],
];

describe("counts of lines", () => {
  for (const [what, places, edges] of CASES)
    it(`lie apart, and on no card or label: ${what}`, () => {
      const scene = sceneOf(places, edges);
      expect(countsOf(scene).length).toBeGreaterThanOrEqual(edges.length);
      expect(covered(scene)).toEqual([]);
    });

  it("lie on the sides that the lines come from", () => {
    const [a, b] = countsOf(sceneOf({ a: [0, 0], b: [0, 160], to: [300, 80] }, into("to", "a", "b")));
    expect(a!.box.y + COUNT.height, "over the port").toBeLessThan(102);
    expect(b!.box.y, "under it").toBeGreaterThan(102);
  });
});
