import { describe, expect, it } from "vitest";
import { FAKE_KINDS } from "../test/fakeHost";
import { GraphDocument } from "./document";
import { renameNode } from "./edits";
import { renameKey } from "./key-edits";
import { reversed, type Patch } from "./patch";
import type { Json, JsonObject } from "./types";
import { deleteVariant, keepVariant, renameVariant, takeVariant, variantsOf } from "./variants";

const node: JsonObject = {
  kind: "assign",
  title: "Price",
  config: { set: { total: "state.price" } },
  retry: 2,
};

function open(): GraphDocument {
  const doc = new GraphDocument();
  doc.reset([
    { id: "doc", value: { name: "Desk" } },
    { id: "key:price", value: { type: "number" } },
    { id: "key:total", value: { type: "number" } },
    { id: "node:price", value: node },
  ]);
  return doc;
}

const record = (doc: GraphDocument) => doc.get("node:price") as JsonObject;
const configure = (doc: GraphDocument, config: Json) =>
  doc.apply({ ops: [{ id: "node:price", from: record(doc), to: { ...record(doc), config } }] });
const half = { set: { total: "state.price / 2" } };

/** The node with its settings kept as "full" and then as "half". */
function kept(): GraphDocument {
  const doc = open();
  doc.apply(keepVariant(doc, "price", "full"));
  configure(doc, half);
  doc.apply(keepVariant(doc, "price", "half"));
  return doc;
}

describe("variants of a node's settings", () => {
  it("are kept, taken and say what is in use", () => {
    const doc = kept();
    expect(variantsOf(record(doc))).toEqual({ names: ["full", "half"], taken: "half", changed: false });
    doc.apply(takeVariant(doc, "price", "full"));
    expect(record(doc)).toMatchObject({ config: node["config"], title: "Price", retry: 2 });
    configure(doc, { set: {} });
    expect(variantsOf(record(doc))).toEqual({ names: ["full", "half"], taken: "full", changed: true });
    doc.apply(keepVariant(doc, "price", "full"));
    expect(variantsOf(record(doc))).toMatchObject({ names: ["full", "half"], changed: false });
  });

  it("keep the kind that the settings are of", () => {
    const doc = kept();
    doc.apply({
      ops: [{ id: "node:price", from: record(doc), to: { ...record(doc), kind: "code", config: {} } }],
    });
    doc.apply(takeVariant(doc, "price", "half"));
    expect(record(doc)).toMatchObject({ kind: "assign", config: half });
  });

  it("are renamed and deleted, and leave no field behind", () => {
    const doc = kept();
    doc.apply(renameVariant(doc, "price", "half", "sale"));
    expect(variantsOf(record(doc))).toMatchObject({ names: ["full", "sale"], taken: "sale" });
    doc.apply(deleteVariant(doc, "price", "sale"));
    expect(variantsOf(record(doc))).toMatchObject({ names: ["full"], taken: null });
    doc.apply(deleteVariant(doc, "price", "full"));
    expect(record(doc)).toEqual({ ...node, config: half });
  });

  it("are undone as any edit", () => {
    const doc = kept();
    const before = record(doc);
    const patch: Patch = takeVariant(doc, "price", "full");
    doc.apply(patch);
    doc.apply(reversed(patch));
    expect(record(doc)).toEqual(before);
    expect(takeVariant(doc, "price", "none").ops).toEqual([]);
  });

  it("follow renamed state keys, and come along with a renamed node", () => {
    const doc = kept();
    doc.apply(renameKey(doc, "price", "cost", FAKE_KINDS));
    doc.apply(renameKey(doc, "total", "sum", FAKE_KINDS));
    doc.apply(renameNode(doc, "price", "pricing", FAKE_KINDS));
    doc.apply(takeVariant(doc, "pricing", "full"));
    expect(doc.get("node:pricing")).toMatchObject({ config: { set: { sum: "state.cost" } } });
  });

  it("survive a file that holds anything", () => {
    expect(variantsOf({ kind: "assign", "x-variants": [1], "x-variant": 3 })).toEqual({
      names: [],
      taken: null,
      changed: false,
    });
    expect(variantsOf(undefined).names).toEqual([]);
  });
});
