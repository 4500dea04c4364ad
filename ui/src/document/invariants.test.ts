import { describe, expect, it } from "vitest";
import {
  addInvariant,
  allInvariants,
  invariantsOf,
  keepInvariants,
  removeInvariant,
  setInvariant,
} from "./invariants";
import { GraphDocument } from "./document";
import { setField } from "./edits";
import { renameKey } from "./key-edits";
import { reversed } from "./patch";
import type { Json } from "./types";

function document(): GraphDocument {
  const doc = new GraphDocument();
  const records: [string, Json][] = [
    ["doc", { format: "superstep/1", invariants: [{ must: "state.total >= 0" }] }],
    ["key:total", { type: "integer", invariants: [{ must: "new > old", when_broken: "fail" }] }],
    ["node:pay", { kind: "assign", invariants: [{ must: "state.total < 9", message: "Small" }, 7] }],
    ["edge:pay->?", { from: "pay", to: "__end__" }],
  ];
  doc.reset(records.map(([id, value]) => ({ id, value })));
  return doc;
}

describe("invariants of a document", () => {
  it("are read in order, also those that are not right", () => {
    const all = allInvariants(document());
    expect(all.map(({ id, must, whenBroken }) => [id, must, whenBroken])).toEqual([
      ["doc#1", "state.total >= 0", "tell"],
      ["key:total#1", "new > old", "fail"],
      ["node:pay#1", "state.total < 9", "tell"],
      ["node:pay#2", "", "tell"],
    ]);
    expect(invariantsOf("edge:x", undefined)).toHaveLength(0);
  });

  it("are added, edited and removed by patches that undo", () => {
    const doc = document();
    const records = doc.records();
    const done = [
      doc.apply(addInvariant(doc, "node:pay", "true")),
      doc.apply(setInvariant(doc, "node:pay", 0, "message", "")),
      doc.apply(setInvariant(doc, "node:pay", 0, "when_broken", "pause")),
      doc.apply(removeInvariant(doc, "node:pay", 1)),
    ];
    expect(doc.get("node:pay")).toEqual({
      kind: "assign",
      invariants: [{ must: "state.total < 9", when_broken: "pause" }, { must: "true" }],
    });
    for (const patch of done.toReversed()) doc.apply(reversed(patch));
    expect(doc.records(), "undo brings everything back").toEqual(records);
    doc.apply(removeInvariant(doc, "node:pay", 1));
    doc.apply(removeInvariant(doc, "node:pay", 0));
    expect(doc.get("node:pay"), "the field goes with the last one").toEqual({ kind: "assign" });
  });

  it("are the same list until one changes", () => {
    const doc = document();
    const now = keepInvariants(doc);
    const first = now();
    doc.apply(setField(doc, "edge:pay->?", "/description", "Later"));
    expect(now()).toBe(first);
    const check = () => expect(now()).toEqual(allInvariants(doc));
    doc.apply(setField(doc, "node:pay", "/title", "Payment"));
    check();
    const added = doc.apply(addInvariant(doc, "edge:pay->?", "true"));
    check();
    expect(now()).toHaveLength(5);
    doc.apply(reversed(added));
    check();
    doc.apply(removeInvariant(doc, "key:total", 0));
    check();
    doc.apply(renameKey(doc, "total", "sum", []));
    check();
    doc.reset([{ id: "doc", value: {} }]);
    expect(now()).toEqual([]);
  });

  it("follow a state key that is renamed", () => {
    const doc = document();
    doc.apply(renameKey(doc, "total", "sum", []));
    expect(allInvariants(doc).map(({ id, must }) => [id, must])).toEqual([
      ["doc#1", "state.sum >= 0"],
      ["key:sum#1", "new > old"],
      ["node:pay#1", "state.sum < 9"],
      ["node:pay#2", ""],
    ]);
  });
});
