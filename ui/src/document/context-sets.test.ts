import { describe, expect, it } from "vitest";
import {
  contextSetsOf,
  deleteContextSet,
  keepContextSet,
  putContextField,
  removeContextField,
  renameContextField,
  renameContextSet,
} from "./context-sets";
import { GraphDocument } from "./document";
import { reversed } from "./patch";
import type { JsonObject } from "./types";

const broken = { name: "no values" };

function open(head: JsonObject = {}): GraphDocument {
  const doc = new GraphDocument();
  doc.reset([{ id: "doc", value: { name: "Desk", context: { user: { type: "string" } }, ...head } }]);
  return doc;
}

describe("sets of context values", () => {
  it("are kept, replaced, renamed and deleted in the document, and undone", () => {
    const doc = open({ recursion_limit: 5 });
    const before = doc.get("doc");
    const done = [doc.apply(keepContextSet(doc, "Ada", { user: "ada" }))];
    done.push(doc.apply(keepContextSet(doc, "Bob", { user: "bob" })));
    done.push(doc.apply(keepContextSet(doc, "Ada", { user: "a" })));
    done.push(doc.apply(renameContextSet(doc, "Bob", "Robert")));
    expect(contextSetsOf(doc.head)).toEqual([
      { name: "Ada", values: { user: "a" } },
      { name: "Robert", values: { user: "bob" } },
    ]);
    for (const name of ["Ada", "Robert"]) done.push(doc.apply(deleteContextSet(doc, name)));
    expect(doc.get("doc"), "no empty list is left").toEqual(before);
    for (const patch of done.reverse()) doc.apply(reversed(patch));
    expect(JSON.stringify(doc.get("doc"))).toBe(JSON.stringify(before));
  });

  it("leave entries that are none as they are", () => {
    const doc = open({ context_sets: [broken, { name: "Ada", values: { user: "a" }, "x-note": 1 }] });
    doc.apply(renameContextSet(doc, "Ada", "Eve"));
    doc.apply(keepContextSet(doc, "Eve", { user: "e" }));
    expect(doc.head["context_sets"]).toEqual([broken, { name: "Eve", values: { user: "e" }, "x-note": 1 }]);
    doc.apply(deleteContextSet(doc, "Eve"));
    expect(doc.head["context_sets"]).toEqual([broken]);
  });

  it("follow a field that is renamed or removed", () => {
    const doc = open({ context_sets: [{ name: "Ada", values: { user: "ada", level: 2 } }] });
    doc.apply(putContextField(doc, "level", { type: "integer" }));
    doc.apply(renameContextField(doc, "user", "person"));
    expect(doc.head["context"]).toEqual({ person: { type: "string" }, level: { type: "integer" } });
    expect(contextSetsOf(doc.head)[0]?.values).toEqual({ person: "ada", level: 2 });
    doc.apply(removeContextField(doc, "level"));
    doc.apply(removeContextField(doc, "person"));
    expect(doc.head).toEqual({ name: "Desk", context_sets: [{ name: "Ada", values: {} }] });
  });
});
