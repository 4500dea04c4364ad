import type { ElkNode } from "elkjs/lib/elk-api";
import { describe, expect, it, vi } from "vitest";
import { GraphDocument } from "../document/document";
import { arrange, type Engine } from "./arrange";
import { Scene } from "./window";

function scene(): Scene {
  const doc = new GraphDocument();
  doc.reset([
    { id: "doc", value: {} },
    { id: "node:a", value: { kind: "assign", config: {} } },
  ]);
  return new Scene(doc);
}

const row = (graph: ElkNode) =>
  Promise.resolve({
    ...graph,
    children: (graph.children ?? []).map((child, index) => ({ ...child, x: index * 300, y: 0 })),
  });

function engine(layout: (graph: ElkNode) => Promise<ElkNode>) {
  const made = { layout: vi.fn(layout), terminateWorker: vi.fn() };
  return { made, start: vi.fn(() => Promise.resolve(made as unknown as Engine)) };
}

describe("arrange", () => {
  it("ends its worker when it is aborted, and the next one has a worker of its own", async () => {
    const stuck = engine(() => new Promise<ElkNode>(() => {}));
    const abort = new AbortController();
    const arranged = arrange(scene(), { signal: abort.signal, start: stuck.start });
    await vi.waitFor(() => expect(stuck.made.layout).toHaveBeenCalled());
    abort.abort();
    await expect(arranged).rejects.toThrow("abort");
    expect(stuck.made.terminateWorker).toHaveBeenCalledOnce();

    const next = engine(row);
    await expect(arrange(scene(), { start: next.start })).resolves.toHaveProperty("size", 3);
    expect(next.start).toHaveBeenCalledOnce();
  });

  it("arranges some nodes where they are, with the lines between them only", async () => {
    const doc = new GraphDocument();
    doc.reset([
      { id: "doc", value: {} },
      ...["a", "b", "c"].map((name) => ({ id: `node:${name}`, value: { kind: "assign", config: {} } })),
      { id: "edge:1", value: { from: "a", to: "b" } },
      { id: "edge:2", value: { from: "b", to: "c" } },
      { id: "layout:a", value: [400, 80] },
      { id: "layout:b", value: [480, 200] },
      { id: "layout:c", value: [0, 0] },
    ]);
    const graphs: ElkNode[] = [];
    vi.resetModules();
    // A module without a worker that is kept from the tests before.
    const fresh = await import("./arrange");
    const made = engine((graph) => (graphs.push(graph), row(graph)));
    const places = await fresh.arrange(new Scene(doc), { start: made.start, names: ["a", "b"] });
    expect([...places]).toEqual([
      ["a", { x: 400, y: 80 }],
      ["b", { x: 700, y: 80 }],
    ]);
    expect(graphs[0]?.edges?.map((edge) => edge.id)).toEqual(["1"]);
  });

  it("keeps a worker that has finished for the next time", async () => {
    const first = engine(row);
    await arrange(scene(), { start: first.start });
    const second = engine(row);
    await arrange(scene(), { start: second.start });
    expect(first.start.mock.calls.length + second.start.mock.calls.length).toBeLessThanOrEqual(1);
  });
});
