/**
 * What the workbench's arrangement is measured by: the boxes and links of the examples, and how good ELK places them. The
 * file is read by the tests of `crates/workbench/src/arranging`; SUPERSTEP_WRITE_LAYOUTS=1 writes it.
 */
import Elk from "elkjs/lib/elk.bundled.js";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { GraphDocument } from "../document/document";
import type { Json, JsonObject } from "../document/types";
import { boxesAndLinks, elkGraph, taskOf } from "./arrange";
import { figuresOf } from "./layout-figures";
import { Scene } from "./window";

const ROOT = resolve(import.meta.dirname, "../../..");
const FILE = resolve(ROOT, "crates/workbench/src/arranging/examples.json");

/** The records of a graph file. */
function open(file: string): Scene {
  const graph = JSON.parse(readFileSync(file, "utf8")) as Record<string, JsonObject | JsonObject[]>;
  const doc = new GraphDocument();
  const named = (section: string, values: unknown) =>
    Object.entries(values ?? {}).map(([name, value]) => ({ id: `${section}:${name}`, value: value as Json }));
  doc.reset([
    { id: "doc", value: {} },
    ...named("node", graph["nodes"]),
    ...(graph["edges"] as JsonObject[]).map((value, index) => ({ id: `edge:e${index}`, value })),
    ...named("layout", graph["layout"]),
  ]);
  return new Scene(doc);
}

it("the examples' boxes, links and ELK's figures are those that the workbench is measured by", async () => {
  const elk = new Elk();
  const found: JsonObject = {};
  for (const name of readdirSync(resolve(ROOT, "graphs")).sort()) {
    const file = resolve(ROOT, "graphs", name, "graph.json");
    if (!existsSync(file)) continue;
    const scene = open(file);
    const task = taskOf(scene, [...scene.rects().keys()]);
    const { boxes, links } = boxesAndLinks(task);
    const placed = await elk.layout(elkGraph(task));
    const at = (index: number): { x?: number; y?: number } => placed.children?.[index] ?? {};
    const wires = links.map(({ from, to, port }) => ({
      from: { x: (at(from).x ?? 0) + (boxes[from]?.width ?? 0), y: (at(from).y ?? 0) + port },
      to: { x: at(to).x ?? 0, y: (at(to).y ?? 0) + (boxes[to]?.port ?? 0) },
    }));
    const cards = boxes.map(({ width, height }, index) => ({
      x: at(index).x ?? 0,
      y: at(index).y ?? 0,
      width,
      height,
    }));
    found[name] = { boxes, links, elk: figuresOf(wires, cards) } as unknown as JsonObject;
  }
  expect(Object.keys(found).length).toBeGreaterThanOrEqual(11);
  if (process.env["SUPERSTEP_WRITE_LAYOUTS"] === "1")
    writeFileSync(FILE, `${JSON.stringify(found, null, 1)}\n`);
  expect(JSON.parse(readFileSync(FILE, "utf8")), "SUPERSTEP_WRITE_LAYOUTS=1 writes them").toEqual(found);
}, 60_000);
