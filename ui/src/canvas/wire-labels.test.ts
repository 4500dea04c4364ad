import { describe, expect, it } from "vitest";
import { GraphDocument } from "../document/document";
import { moveNodes } from "../document/edits";
import type { Json } from "../document/types";
import { LABEL_HEIGHT, portOf } from "./geometry";
import { shapeOf } from "./line-path";
import { startOf } from "./lines";
import { BADGES } from "./wire-labels";
import { Scene } from "./window";

type Place = readonly [number, number];
type Edge = readonly [from: string, to: string, when?: string];

function graph(places: Record<string, Place>, edges: readonly Edge[]): GraphDocument {
  const doc = new GraphDocument();
  const layout = { __start__: [-200, 0], __end__: [700, 0], ...places };
  doc.reset([
    { id: "doc", value: {} },
    ...Object.keys(places)
      .filter((name) => !name.startsWith("__"))
      .map((name) => ({ id: `node:${name}`, value: { kind: "assign", config: {} } as Json })),
    ...edges.map(([from, to, when]) => ({
      id: `edge:${from}->${to}`,
      value: { from, to, ...(when !== undefined && { when }) } as Json,
    })),
    ...Object.entries(layout).map(([name, place]) => ({ id: `layout:${name}`, value: [...place] as Json })),
  ]);
  return doc;
}

function labelsOf(scene: Scene) {
  return [...scene.lines().values()].flatMap((line) => {
    const from = scene.rect(line.from);
    const to = scene.rect(line.to);
    if (line.labelWidth === 0 || !from || !to) return [];
    const { label, labelWidth: width } = shapeOf(line, startOf(line, from), portOf(to, "in"), false);
    return [{ id: line.id, x: label.x, y: label.y - LABEL_HEIGHT / 2, width, height: LABEL_HEIGHT }];
  });
}

/** What lies on what: labels on cards and the badges over them, and on each other. */
function covered(scene: Scene): string[] {
  const labels = labelsOf(scene);
  const touch = (a: (typeof labels)[number], b: Omit<typeof a, "id">) =>
    a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
  return [
    ...labels.flatMap((label) =>
      [...scene.rects()]
        .filter(([, rect]) => touch(label, { ...rect, y: rect.y - BADGES, height: rect.height + BADGES }))
        .map(([name]) => `${label.id} on ${name}`),
    ),
    ...labels.flatMap((label, index) =>
      labels
        .slice(index + 1)
        .filter((other) => touch(label, other))
        .map((other) => `${label.id} on ${other.id}`),
    ),
  ];
}

const LONG = "state.message|length > 3";

describe("labels of lines", () => {
  it("stand close over a line that goes over a card, where the card or its badges would cover them", () => {
    const doc = graph({ first: [120, -8], write: [400, -8] }, [["first", "__end__", LONG]]);
    const scene = new Scene(doc);
    expect(covered(scene)).toEqual([]);
    const [line] = scene.linesOf("first->__end__");
    const [label] = labelsOf(scene);
    expect(line?.pass).not.toBeNull();
    const off = line!.pass!.y - (label!.y + LABEL_HEIGHT / 2);
    expect(off, "over the line").toBeGreaterThanOrEqual(0);
    expect(off, "next to it").toBeLessThan(1.5 * LABEL_HEIGHT);
  });

  it("stand over or under a line that is shorter than they are", () => {
    const scene = new Scene(graph({ a: [0, 0], b: [260, 0] }, [["a", "b", LONG]]));
    expect(covered(scene)).toEqual([]);
    const [label] = labelsOf(scene);
    const [a, b] = [scene.rect("a")!, scene.rect("b")!];
    expect(label!.x + label!.width / 2).toBe((a.x + a.width + b.x) / 2);
    expect(Math.abs(label!.y + LABEL_HEIGHT / 2 - 22), "near it").toBeLessThan(60);
  });

  it("stay behind their port where there is room, and go back there when there is room again", () => {
    const doc = graph({ first: [120, -8], write: [400, 200] }, [["first", "__end__", LONG]]);
    const scene = new Scene(doc);
    const beside = () => scene.linesOf("first->__end__")[0]!.beside;
    expect(beside()).toBeNull();
    doc.apply(moveNodes(doc, new Map([["write", { x: 400, y: -8 }]])));
    expect(beside(), "a card that is no end of the line comes in its way").not.toBeNull();
    expect([...scene.lines()]).toEqual([...new Scene(doc).lines()]);
    doc.apply(moveNodes(doc, new Map([["write", { x: 400, y: 200 }]])));
    expect(beside()).toBeNull();
  });

  it("keep away from the badges over a card that stands under them", () => {
    const doc = graph({ first: [120, -8], write: [400, 200] }, [["first", "__end__", LONG]]);
    const scene = new Scene(doc);
    const bottom = labelsOf(scene)[0]!.y + LABEL_HEIGHT;
    const move = (y: number) => doc.apply(moveNodes(doc, new Map([["write", { x: 400, y }]])));
    for (const y of [bottom + BADGES + 1, bottom + BADGES - 1, bottom + 4]) {
      move(y);
      expect(covered(scene), `a card ${y - bottom} under the label`).toEqual([]);
      expect([...scene.lines()], "as in a scene that begins so").toEqual([...new Scene(doc).lines()]);
    }
  });

  it("are on no card and on no other label in a crowd", () => {
    const names = Array.from({ length: 12 }, (_, index) => `n${index}`);
    const places = Object.fromEntries(
      names.map((name, index) => [name, [(index % 4) * 260, Math.floor(index / 4) * 110] as const]),
    );
    const edges = names.flatMap((from, index) =>
      [1, 4, 5, -3].flatMap((off): Edge[] => {
        const to = names[index + off];
        return to === undefined ? [] : [[from, to, `state.n${index} > ${off}`]];
      }),
    );
    const scene = new Scene(graph({ ...places, __end__: [1200, 0] }, edges));
    expect(labelsOf(scene).length).toBe(edges.length);
    expect(covered(scene)).toEqual([]);
  });

  it("are tied to their line where a card keeps them far from it, and only there", () => {
    const tethers = (doc: GraphDocument) => {
      const scene = new Scene(doc);
      return [...scene.lines().values()].map((line) => {
        const [from, to] = [startOf(line, scene.rect(line.from)!), portOf(scene.rect(line.to)!, "in")];
        const shape = shapeOf(line, from, to, false);
        return {
          line: line.id,
          label: shape.label.y,
          width: shape.labelWidth,
          x: shape.label.x,
          tether: shape.tether,
        };
      });
    };
    const near = graph({ a: [0, 0], b: [460, 0] }, [["a", "b", "state.x"]]);
    expect(tethers(near).filter(({ tether }) => tether !== null)).toEqual([]);
    // Too narrow for its words: they stand over both cards.
    const narrow = tethers(graph({ a: [0, 0], b: [260, 0] }, [["a", "b", LONG]])).find(({ line }) =>
      line.startsWith("a->b"),
    )!;
    const [from, to] = narrow.tether!;
    expect(from.x).toBe(to.x);
    expect(from.x).toBeCloseTo(narrow.x + narrow.width / 2);
    expect(Math.abs(from.y - narrow.label), "from the edge of its box").toBe(LABEL_HEIGHT / 2);
    expect(Math.abs(to.y - from.y), "to the line").toBeGreaterThan(LABEL_HEIGHT);
  });
});
