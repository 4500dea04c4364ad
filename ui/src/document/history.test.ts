import { beforeEach, describe, expect, it } from "vitest";
import { GraphDocument } from "./document";
import { History } from "./history";
import { op, type Patch } from "./patch";

let now = 0;
let doc: GraphDocument;
let history: History;

function change(to: number, merge: string | null = null, name = `to ${to}`): void {
  const from = doc.get("node:a");
  history.record(name, doc.apply({ ops: [op("node:a", from, { n: to })] }), merge);
}

function take(step: { patch: Patch } | null): void {
  if (step) doc.apply(step.patch);
}

const value = () => (doc.get("node:a") as { n: number }).n;

beforeEach(() => {
  now = 0;
  doc = new GraphDocument();
  doc.reset([
    { id: "doc", value: {} },
    { id: "node:a", value: { n: 0 } },
  ]);
  history = new History({ mergeMillis: 1000 }, () => now);
});

describe("History", () => {
  it("undoes and redoes by name", () => {
    change(1);
    change(2);
    expect(history.undoName).toBe("to 2");
    take(history.undo());
    expect(value()).toBe(1);
    expect(history.redoName).toBe("to 2");
    take(history.redo());
    expect(value()).toBe(2);
  });

  it("forgets what could be redone when something new is done", () => {
    change(1);
    take(history.undo());
    change(5);
    expect(history.redo()).toBeNull();
  });

  it("makes one step of typing into one field, until a pause or the end of the field", () => {
    for (let n = 1; n <= 5; n += 1) change(n, "node:a/n");
    expect(history.length).toBe(1);
    now += 5000;
    change(6, "node:a/n");
    expect(history.length).toBe(2);
    history.seal();
    change(7, "node:a/n");
    expect(history.length).toBe(3);
    take(history.undo());
    take(history.undo());
    expect(value()).toBe(5);
    take(history.undo());
    expect(value()).toBe(0);
  });

  it("has nothing to undo when typing was typed back", () => {
    change(1, "f");
    change(0, "f");
    expect(history.length).toBe(0);
  });

  it("bails to a mark without leaving a redo", () => {
    change(1);
    const mark = history.mark();
    change(2);
    change(3);
    const back = history.bail(mark);
    expect(back).not.toBeNull();
    if (back) doc.apply(back);
    expect(value()).toBe(1);
    expect(history.undoName).toBe("to 1");
    expect(history.redoName).toBeNull();
    expect(history.bail(history.mark())).toBeNull();
  });

  it("squashes a gesture into one step", () => {
    const mark = history.mark();
    change(1);
    change(2);
    history.squash(mark, "drag");
    expect(history.length).toBe(1);
    expect(history.undoName).toBe("drag");
    take(history.undo());
    expect(value()).toBe(0);
  });

  it("drops the oldest steps at its limit and keeps marks true", () => {
    history = new History({ steps: 3 }, () => now);
    for (let n = 1; n <= 6; n += 1) change(n);
    expect(history.length).toBe(3);
    const mark = history.mark();
    change(7);
    const back = history.bail(mark);
    if (back) doc.apply(back);
    expect(value()).toBe(6);
    // Steps 5 and 6 are left: the seventh pushed the fourth out.
    for (let n = 0; n < 10; n += 1) take(history.undo());
    expect(value()).toBe(4);
  });

  it("brings back a deleted node with its edges and its place", () => {
    doc.apply({
      ops: [
        op("node:b", undefined, { n: 1 }),
        op("edge:a->b", undefined, { from: "a", to: "b" }),
        op("layout:b", undefined, [1, 2]),
      ],
    });
    const before = doc.records();
    const patch = doc.apply({
      ops: [
        op("edge:a->b", { from: "a", to: "b" }, undefined),
        op("layout:b", [1, 2], undefined),
        op("node:b", { n: 1 }, undefined),
      ],
    });
    history.record("delete", patch);
    expect(doc.has("node:b")).toBe(false);
    take(history.undo());
    expect(doc.records()).toEqual(before);
  });

  it("is kept and loaded as plain values, with what can be redone", () => {
    for (let n = 1; n <= 4; n += 1) change(n);
    take(history.undo());
    const kept: unknown = JSON.parse(JSON.stringify(history.kept()));
    const again = new History();
    again.load(kept);
    expect(again.steps).toEqual(history.steps);
    take(again.redo());
    expect(value()).toBe(4);
    for (let n = 3; n >= 0; n -= 1) {
      take(again.undo());
      expect(value()).toBe(n);
    }
  });

  it("keeps the newest 500 steps, and what fits in 5 MB", () => {
    for (let n = 1; n <= 600; n += 1) change(n);
    const { undo } = history.kept();
    expect([undo.length, undo.at(-1)?.name]).toEqual([500, "to 600"]);
    const from = doc.get("node:a");
    const text = "x".repeat(3 * 1024 * 1024);
    history.record("large", doc.apply({ ops: [op("node:a", from, { n: 1, text })] }));
    history.record("larger", doc.apply({ ops: [op("node:a", doc.get("node:a"), { n: 2, text: "" })] }));
    const names = history.kept().undo.map((step) => step.name);
    expect(names, "the one before is too much, and the older ones do not fit without it").toEqual(["larger"]);
  });

  it("takes nothing from what is no list of steps", () => {
    for (const kept of [null, 3, {}, { undo: "no" }, { undo: [{ name: 1 }] }]) {
      history.load(kept);
      expect(history.isEmpty).toBe(true);
    }
    history.load({ undo: [{ name: "broken" }, { name: "good", ops: [] }] });
    expect(history.steps.undo).toEqual(["good"]);
  });
});
