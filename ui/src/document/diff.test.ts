import { describe, expect, it } from "vitest";
import { byName, diffDocuments, joinSides, mergedInto, proposedChoices, unionOf } from "./diff";
import { GraphDocument, type DocumentRecord } from "./document";

const before: DocumentRecord[] = [
  { id: "doc", value: { format: "superstep/1", name: "Desk" } },
  { id: "key:order", value: { type: "string" } },
  { id: "node:ask", value: { kind: "model", config: { prompt: "Hi", limits: { most: 3 } } } },
  { id: "node:gone", value: { kind: "code", config: {} } },
  { id: "edge:ask->gone", value: { from: "ask", to: "gone" } },
  { id: "layout:ask", value: [0, 0] },
  { id: "layout:gone", value: [1, 1] },
];

const after: DocumentRecord[] = [
  { id: "doc", value: { name: "Desk", format: "superstep/1" } },
  { id: "key:order", value: { type: "string" } },
  { id: "node:ask", value: { kind: "model", config: { prompt: "Hello", limits: { most: 3, "a/b": 1 } } } },
  { id: "node:new", value: { kind: "code", config: {} } },
  { id: "edge:ask->new", value: { from: "ask", to: "new" } },
  { id: "layout:ask", value: [50, 0] },
  { id: "layout:new", value: [9, 9] },
];

describe("diffDocuments", () => {
  const diff = diffDocuments(before, after);

  it("lists records that came, went and changed, and moved nodes apart", () => {
    expect(diff.records.map(({ id, change }) => `${change} ${id}`)).toEqual([
      "changed node:ask",
      "removed node:gone",
      "removed edge:ask->gone",
      "added node:new",
      "added edge:ask->new",
    ]);
  });

  it("keeps the layout apart, and which nodes were only moved", () => {
    expect(diff.layout.map(({ id, change }) => `${change} ${id}`)).toEqual([
      "changed layout:ask",
      "removed layout:gone",
      "added layout:new",
    ]);
    expect(diff.moved).toEqual(["ask"]);
    const shifted = before.map((record) =>
      record.id === "layout:ask" ? { ...record, value: [9, 9] } : record,
    );
    expect(diffDocuments(before, shifted)).toMatchObject({ records: [], moved: ["ask"] });
  });

  it("names the fields of a change, and not the order of members", () => {
    expect(diff.records[0]?.fields).toEqual([
      { pointer: "/config/prompt", before: "Hi", after: "Hello" },
      { pointer: "/config/limits/a~1b", after: 1 },
    ]);
  });

  it("lists an object by its members only so deep as is asked for", () => {
    const nested = (value: number) => [
      { id: "node:ask", value: { a: { b: { c: { d: { e: { f: { g: value } } } } } } } },
    ];
    const pointers = (deepest?: number) =>
      diffDocuments(nested(1), nested(2), deepest).records[0]?.fields.map(({ pointer }) => pointer);
    expect(pointers()).toEqual(["/a/b/c/d/e/f"]);
    expect(pointers(Number.POSITIVE_INFINITY)).toEqual(["/a/b/c/d/e/f/g"]);
    expect(pointers(0)).toEqual([""]);
  });

  it("finds nothing between equal graphs", () => {
    expect(diffDocuments(before, structuredClone(before))).toEqual({ records: [], layout: [], moved: [] });
  });

  it("is the other way round when the graphs are", () => {
    const back = diffDocuments(after, before);
    expect(back.records.map(({ id, change }) => [id, change]).toSorted()).toEqual(
      diff.records
        .map(({ id, change }) => [
          id,
          change === "added" ? "removed" : change === "removed" ? "added" : change,
        ])
        .toSorted(),
    );
  });
});

describe("the sides of a conflict", () => {
  const side = (prompt: string, more: DocumentRecord[] = []): DocumentRecord[] => [
    { id: "doc", value: { name: "Desk" } },
    { id: "node:ask", value: { kind: "model", config: { prompt } } },
    ...more,
  ];
  const extra: DocumentRecord[] = [
    { id: "node:new", value: { kind: "code" } },
    { id: "layout:new", value: [4, 4] },
  ];

  it("are joined by what is chosen, with the places of their nodes", () => {
    const ours = side("ours");
    const theirs = side("theirs", extra);
    const ids = (records: readonly DocumentRecord[]) => records.map(({ id }) => id);
    expect(joinSides(ours, theirs, new Map())).toEqual(ours);
    const both = joinSides(ours, theirs, new Map([["node:new", "theirs"] as const]));
    expect(ids(both)).toEqual(["doc", "node:ask", "node:new", "layout:new"]);
    expect(both[1]).toEqual(ours[1]);
    expect(joinSides(ours, theirs, new Map([["node:ask", "theirs"] as const]))[1]).toEqual(theirs[1]);
  });

  it("leave a record out that the chosen side has not", () => {
    const ours = side("x", extra);
    const joined = joinSides(ours, side("x"), new Map([["node:new", "theirs"] as const]));
    expect(joined.map(({ id }) => id)).toEqual(["doc", "node:ask"]);
  });

  it("propose the side that changed when the graph before both is known", () => {
    const chosen = proposedChoices(side("same"), side("new", extra), side("same"));
    expect(Object.fromEntries(chosen)).toEqual({ "node:ask": "theirs", "node:new": "theirs" });
    expect(proposedChoices(side("a"), side("b"), side("c")).size).toBe(0);
  });
});

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
  it("differ by what was added, changed and removed, listed by section and name", () => {
    // The order of the file is not that of the names.
    const diff = diffDocuments(older.toReversed(), newer);
    expect(
      byName(diff.records).map(({ id, change, fields }) => [id, change, ...fields.map((at) => at.pointer)]),
    ).toEqual([
      ["key:n", "changed", "/type"],
      ["node:a", "changed", "/config/question"],
      ["node:b", "removed"],
      ["node:c", "added"],
      ["edge:a-b", "removed"],
    ]);
    expect(diff.layout.map(({ id, change }) => [id, change])).toEqual([
      ["layout:a", "changed"],
      ["layout:c", "added"],
    ]);
    expect(byName(diff.records)[1]?.fields[0]?.before).toBe("Pay?");
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

describe("mergedInto", () => {
  const graph = (title: string, ...more: DocumentRecord[]): DocumentRecord[] => [
    { id: "doc", value: { format: "superstep/1", name: "Desk" } },
    { id: "node:a", value: { kind: "assign", title } },
    { id: "node:b", value: { kind: "assign" } },
    ...more,
  ];
  const edge: DocumentRecord = { id: "edge:a->b", value: { from: "a", to: "b" } };
  const added: DocumentRecord = { id: "node:c", value: { kind: "assign" } };

  it("makes the open document what only one side changed, added or removed", () => {
    const [ours, theirs, base] = [graph("Ours", edge), graph("Base", added), graph("Base", edge)];
    const document = new GraphDocument();
    document.reset(ours);
    document.apply(
      mergedInto(document.records(), joinSides(ours, theirs, proposedChoices(ours, theirs, base))),
    );
    expect(document.get("node:a")).toEqual({ kind: "assign", title: "Ours" });
    expect(document.get("node:c")).toEqual({ kind: "assign" });
    expect(document.get("edge:a->b")).toBeUndefined();
  });

  it("does nothing where both are alike", () => {
    expect(mergedInto(graph("One", edge), graph("One", edge)).ops).toEqual([]);
  });
});
