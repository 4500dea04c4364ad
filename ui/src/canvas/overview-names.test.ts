import { afterEach, describe, expect, it, vi } from "vitest";
import { GraphDocument } from "../document/document";
import type { Json } from "../document/types";
import { drawOverview, type Paint } from "./overview";
import { MOST_NAMES } from "./overview-names";
import type { Viewport } from "./viewport";
import { Scene } from "./window";

const SIZE = { width: 1440, height: 900 };
const LETTER = 6.1;
const HEIGHT = 12;
const LONG = "a_name_that_has_no_room_between_two_columns";

interface Grid {
  readonly count: number;
  readonly across?: number;
  readonly down?: number;
  readonly edges?: readonly (readonly [from: number, to: number])[];
  readonly nameOf?: (index: number) => string;
}

/** Nodes in rows of twenty. */
function grid({ count, across = 300, down = 120, edges = [], nameOf = (index) => `n${index}` }: Grid): Scene {
  const doc = new GraphDocument();
  const place = (index: number) => [(index % 20) * across, Math.floor(index / 20) * down];
  doc.reset([
    { id: "doc", value: {} },
    ...Array.from({ length: count }, (_, index) => [
      { id: `node:${nameOf(index)}`, value: { kind: "assign", config: {} } as Json },
      { id: `layout:${nameOf(index)}`, value: place(index) as Json },
    ]).flat(),
    ...edges.map(([from, to], index) => ({
      id: `edge:e${index}`,
      value: { from: nameOf(from), to: nameOf(to) } as Json,
    })),
    { id: "layout:__start__", value: [-200, 0] },
    { id: "layout:__end__", value: [20 * across, 0] },
  ]);
  return new Scene(doc);
}

/** Draws a graph on paper that remembers its texts, in letters of one width. */
function draw(
  scene: Scene,
  { zoom = 0.2, selected = [] as readonly string[], pointed = null as string | null } = {},
) {
  const texts: { text: string; x: number; y: number; width: number }[] = [];
  const paper = new Proxy({} as Record<string, unknown>, {
    get: (own, name: string) =>
      name === "measureText"
        ? (text: string) => ({ width: text.length * LETTER })
        : name === "fillText"
          ? (text: string, x: number, y: number) => texts.push({ text, x, y, width: text.length * LETTER })
          : (own[name] ?? vi.fn()),
    set: (own, name: string, value) => {
      own[name] = value;
      return true;
    },
  });
  vi.stubGlobal("window", { devicePixelRatio: 1 });
  const view: Viewport = { x: 60, y: 40, zoom };
  const canvas = { width: 0, height: 0, getContext: () => paper } as unknown as HTMLCanvasElement;
  drawOverview(canvas, scene, view, SIZE, {} as Paint, new Set(selected), undefined, pointed);
  return texts;
}

type Texts = ReturnType<typeof draw>;
const overlaps = (texts: Texts) =>
  texts.flatMap((a, index) =>
    texts
      .slice(index + 1)
      .filter((b) => a.x < b.x + b.width && b.x < a.x + a.width && Math.abs(a.y - b.y) < HEIGHT)
      .map((b) => `${a.text} on ${b.text}`),
  );

afterEach(() => vi.unstubAllGlobals());

describe("names of the far drawing", () => {
  it("do not overlap, whatever their length, and are cut where they have no room", () => {
    const nameOf = (index: number) => (index % 3 === 0 ? `${LONG}_${index}` : `n${index}`);
    for (const zoom of [0.29, 0.2, 0.12, 0.05]) {
      const texts = draw(grid({ count: 200, nameOf }), { zoom });
      expect(overlaps(texts), `at ${zoom}`).toEqual([]);
    }
    const texts = draw(grid({ count: 200, nameOf }), { zoom: 0.29 }).map(({ text }) => text);
    expect(texts).toContain("n1");
    expect(texts.find((text) => text.startsWith("a_name"))).toMatch(/^a_name_\w+…$/);
  });

  it("are drawn for more than 400 nodes in view, up to a limit", () => {
    const scene = grid({ count: 600, down: 140 });
    const texts = draw(scene, { zoom: 0.2 });
    expect(texts.length).toBeGreaterThan(150);
    expect(texts.length).toBeLessThanOrEqual(MOST_NAMES);
    expect(overlaps(texts)).toEqual([]);
  });

  it("are those of selected nodes, Start and End first, whole", () => {
    const scene = grid({ count: 1000, across: 240, down: 70, nameOf: (index) => `${LONG}_${index}` });
    const texts = draw(scene, { zoom: 0.06, selected: [`${LONG}_505`] }).map(({ text }) => text);
    expect(texts[0]).toMatch(/^a_name_that_has_no_room_b\w*…$/);
    expect(texts).toContain("Start");
    expect(texts).toContain("End");
    expect(texts.length, "others have no room").toBeLessThan(30);
  });

  it("are those of hubs where blocks are too close for names", () => {
    const edges = [1, 2, 3, 4, 5, 6].map((to) => [205, 300 + to] as const);
    const texts = draw(grid({ count: 1000, across: 240, down: 70, edges }), { zoom: 0.06 });
    expect(texts.map(({ text }) => text)).toContain("n205");
  });

  it("do not lie on the block over theirs", () => {
    const texts = draw(grid({ count: 200, down: 60 }), { zoom: 0.2 });
    const named = texts.filter(({ text }) => text.startsWith("n"));
    expect(Math.max(...named.map(({ text }) => Number(text.slice(1)))), "of the first row only").toBeLessThan(
      20,
    );
  });

  it("are shown whole for the node under the pointer, within the view", () => {
    const scene = grid({ count: 40, nameOf: (index) => `${LONG}_${index}` });
    const pointed = `${LONG}_19`;
    expect(draw(scene).some(({ text }) => text === pointed)).toBe(false);
    const last = draw(scene, { pointed }).at(-1);
    expect(last?.text).toBe(pointed);
    expect(last!.x + last!.width).toBeLessThanOrEqual(SIZE.width);
  });

  it("are those of Start and of a first node close to it, both", () => {
    const doc = new GraphDocument();
    doc.reset([
      { id: "doc", value: {} },
      { id: "node:classify", value: { kind: "assign", config: {} } },
      { id: "layout:__start__", value: [40, 200] },
      { id: "layout:classify", value: [160, 192] },
      { id: "layout:__end__", value: [484, 200] },
    ]);
    const scene = new Scene(doc);
    for (let zoom = 0.29; zoom > 0.2; zoom -= 0.0123)
      expect(
        draw(scene, { zoom })
          .map(({ text }) => text)
          .sort(),
        `at ${zoom}`,
      ).toEqual(["End", "Start", "classify"]);
  });
});
