import Elk from "elkjs/lib/elk.bundled.js";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { GraphDocument } from "../document/document";
import { moveNodes } from "../document/edits";
import { END, START, type Json, type JsonObject } from "../document/types";
import { arrange, type Engine } from "./arrange";
import { intersects, type Rect } from "./geometry";
import { Scene } from "./window";

/** The scene of an example, arranged from top to bottom. */
async function down(name: string): Promise<Scene> {
  const file = new URL(`../../../graphs/${name}/graph.json`, import.meta.url);
  const graph = JSON.parse(readFileSync(file, "utf8")) as Record<string, JsonObject | JsonObject[]>;
  const doc = new GraphDocument();
  const named = (section: string, values: unknown) =>
    Object.entries(values ?? {}).map(([id, value]) => ({ id: `${section}:${id}`, value: value as Json }));
  doc.reset([
    { id: "doc", value: {} },
    ...named("node", graph["nodes"]),
    ...(graph["edges"] as JsonObject[]).map((value, index) => ({ id: `edge:e${index}`, value })),
    ...named("layout", graph["layout"]),
  ]);
  const scene = new Scene(doc);
  const start = () => Promise.resolve(new Elk() as unknown as Engine);
  doc.apply(moveNodes(doc, await arrange(scene, { down: true, start, size: { width: 800, height: 600 } })));
  return scene;
}

it.each(["refund-desk", "research-fan-out", "counter"])("%s runs from top to bottom", async (name) => {
  const scene = await down(name);
  const rects = [...scene.rects()];
  const bottom = ({ y, height }: Rect) => y + height;
  const [start, end] = [scene.rect(START)!, scene.rect(END)!];
  for (const [node, rect] of rects) {
    if (node !== START) expect(rect.y, node).toBeGreaterThan(bottom(start));
    if (node !== END) expect(bottom(rect), node).toBeLessThan(end.y);
  }
  rects.forEach(([a, one], index) => {
    for (const [b, other] of rects.slice(index + 1))
      expect(intersects(one, other), `${a} on ${b}`).toBe(false);
  });
  // Higher than an arrangement in columns would be.
  const all = rects.map(([, rect]) => rect);
  const width = Math.max(...all.map(({ x, width: w }) => x + w)) - Math.min(...all.map(({ x }) => x));
  expect(bottom(end) - start.y).toBeGreaterThan(width / 2);
});
