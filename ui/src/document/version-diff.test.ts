import { describe, expect, it } from "vitest";
import type { DocumentRecord } from "./document";
import { compareRecords, fieldOf, unionOf } from "./version-diff";

const older: DocumentRecord[] = [
  { id: "doc", value: { name: "Desk" } },
  { id: "key:n", value: { type: "number" } },
  { id: "node:a", value: { kind: "ask", config: { question: "Pay?", choices: ["yes"] } } },
  { id: "node:b", value: { kind: "assign" } },
  { id: "edge:a-b", value: { from: "a", to: "b" } },
  { id: "layout:a", value: [0, 0] },
];
const newer: DocumentRecord[] = [
  { id: "doc", value: { name: "Desk" } },
  { id: "key:n", value: { type: "string" } },
  { id: "node:a", value: { kind: "ask", config: { question: "Pay it?", choices: ["yes"] } } },
  { id: "node:c", value: { kind: "assign" } },
  { id: "layout:a", value: [40, 0] },
  { id: "layout:c", value: [80, 0] },
];

describe("two versions of a document", () => {
  it("differ by what was added, changed and removed, and their layout apart", () => {
    const diff = compareRecords(older, newer);
    expect(diff.content.map(({ id, mark, fields }) => [id, mark, ...fields])).toEqual([
      ["key:n", "changed", "type"],
      ["node:a", "changed", "config.question"],
      ["node:b", "removed"],
      ["node:c", "added"],
      ["edge:a-b", "removed"],
    ]);
    expect(diff.layout.map(({ id, mark }) => [id, mark])).toEqual([
      ["layout:a", "changed"],
      ["layout:c", "added"],
    ]);
    expect(fieldOf(diff.content[1]?.before, "config.question")).toBe("Pay?");
  });

  it("are the same when only their layout differs", () => {
    const moved = older.map((record) => (record.id === "layout:a" ? { ...record, value: [9, 9] } : record));
    expect(compareRecords(older, moved).content).toEqual([]);
  });

  it("are drawn together, with what is new beside what was there", () => {
    const { records, marks } = unionOf(older, newer);
    expect(records.map(({ id }) => id)).toEqual([...older.map(({ id }) => id), "node:c", "layout:c"]);
    expect(records.find(({ id }) => id === "layout:a")?.value).toEqual([0, 0]);
    expect(records.find(({ id }) => id === "layout:c")?.value, "not over the older node").toEqual([80, 180]);
    expect(marks.get("node:c")).toBe("added");
  });

  it("are drawn with both ways of an edge that leads elsewhere", () => {
    const to = (target: string) => [{ id: "edge:1", value: { from: "a", to: target } }];
    const { records, marks } = unionOf(to("b"), to("c"));
    expect(records.map(({ id, value }) => [id, (value as { to: string }).to, marks.get(id)])).toEqual([
      ["edge:1", "b", "removed"],
      ["edge:1 now", "c", "added"],
    ]);
  });
});
