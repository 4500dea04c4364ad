import { describe, expect, it } from "vitest";
import { diffDocuments, joinSides, proposedChoices } from "./diff";
import type { DocumentRecord } from "./document";

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
    expect(diff.moved).toEqual(["ask"]);
  });

  it("names the fields of a change, and not the order of members", () => {
    expect(diff.records[0]?.fields).toEqual([
      { pointer: "/config/prompt", before: "Hi", after: "Hello" },
      { pointer: "/config/limits/a~1b", after: 1 },
    ]);
  });

  it("finds nothing between equal graphs", () => {
    expect(diffDocuments(before, structuredClone(before))).toEqual({ records: [], moved: [] });
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
