import { expect, test } from "vitest";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { diffDocuments } from "../../document/diff";
import type { Json } from "../../document/types";
import { staleNodes } from "./stale";

const records = (graph: Record<string, Json>) => Object.entries(graph).map(([id, value]) => ({ id, value }));
const base: Record<string, Json> = {
  doc: { name: "G" },
  "node:a": { kind: "assign", config: { set: { n: "1" } } },
  "node:b": { kind: "model", config: { prompt: "Hi" }, title: "Ask" },
  "node:c": { kind: "assign", config: {} },
  "edge:a->b": { from: "a", to: "b" },
  "edge:b->c": { from: "b", to: "c" },
  "layout:a": [0, 0],
};
const none = () => new Set<string>();

const since = (change: Record<string, Json | null>) => {
  const after = { ...base, ...change };
  const now = Object.fromEntries(Object.entries(after).filter(([, value]) => value !== null));
  const { records: changed } = diffDocuments(records(base), records(now as Record<string, Json>));
  return Object.fromEntries(staleNodes(changed, [], none));
};

test("settings and edges that changed since the run make their node stale", () => {
  expect(since({ "node:b": { kind: "model", config: { prompt: "Ho" }, title: "Ask" } })).toEqual({
    b: { settings: ["/config/prompt"], edges: false, keys: [] },
  });
  expect(since({ "edge:b->c": { from: "b", to: "c", when: "state.n > 1" } })).toEqual({
    c: { settings: [], edges: true, keys: [] },
  });
  expect(since({ "edge:a->c": { from: "a", to: "c" } })).toHaveProperty("c.edges", true);
  expect(since({ "edge:a->b": null })).toHaveProperty("b.edges", true);
  expect(since({ "edge:b->c": { from: "b", route: "state.n", paths: { x: "a", y: "c" } } })).toEqual({
    a: { settings: [], edges: true, keys: [] },
    c: { settings: [], edges: true, keys: [] },
  });
});

test("what runs the same is not stale: a name for people, a place, a node that came or went", () => {
  expect(since({ "node:b": { kind: "model", config: { prompt: "Hi" }, title: "Ask again" } })).toEqual({});
  expect(since({ "layout:a": [9, 9] })).toEqual({});
  expect(since({ "node:d": { kind: "assign", config: {} }, "edge:c->d": { from: "c", to: "d" } })).toEqual(
    {},
  );
  expect(since({ "node:c": null, "edge:b->c": null })).toEqual({});
});

test("a secret that was taken out of the stored version is no change", () => {
  const hidden = [{ id: "node:b", value: { kind: "http", config: { key: "[secret]", url: "a" } } }];
  const now = (url: string) => [{ id: "node:b", value: { kind: "http", config: { key: "sk-1", url } } }];
  expect(staleNodes(diffDocuments(hidden, now("a")).records, [], none).size).toBe(0);
  expect(staleNodes(diffDocuments(hidden, now("b")).records, [], none).get("b")?.settings).toEqual([
    "/config/url",
  ]);
});

const step = (
  id: string,
  source: string,
  next: string[],
  more: Partial<CheckpointView> = {},
): CheckpointView => ({
  id,
  at: "",
  source,
  step: 0,
  next,
  updated: [],
  questions: 0,
  failed: 0,
  ...more,
});
const reads = (node: string) => new Set({ a: ["n"], b: ["n", "days"], c: ["text"] }[node] ?? []);

test("an edit of a key makes stale what read it before, until it runs again", () => {
  const way = [
    step("i", "input", ["a"]),
    step("1", "loop", ["b"]),
    step("2", "loop", ["c"]),
    step("e", "update", ["b"], { updated: ["days", "branch:to:b"], asNode: "a" }),
    step("3", "loop", ["c"]),
  ];
  expect([...staleNodes([], way.slice(0, 4), reads)]).toEqual([
    ["b", { settings: [], edges: false, keys: ["days"] }],
  ]);
  expect(staleNodes([], way.slice(0, 3), reads).size, "before the edit").toBe(0);
  expect(staleNodes([], way, reads).size, "it ran again with it").toBe(0);
});

test("the node as which an edit was made returned it; the others that read the key are stale", () => {
  const way = [
    step("i", "input", ["a"]),
    step("1", "loop", ["b"]),
    step("2", "loop", []),
    step("e", "update", [], { updated: ["n"], asNode: "b" }),
  ];
  expect([...staleNodes([], way, reads).keys()]).toEqual(["a"]);
});
