import { describe, expect, it } from "vitest";
import type { FoundFile } from "../../ipc/bindings/FoundFile";
import type { NodeKind } from "../../ipc/bindings/NodeKind";
import { FAKE_KINDS } from "../../test/fakeHost";
import { foundRows, lineAround, nodeHits, NO_FILTERS, passes, type Around, type Filters } from "./rows";

const kinds: NodeKind[] = [
  {
    ...(FAKE_KINDS[0] as NodeKind),
    kind: "model",
    configSchema: {
      type: "object",
      properties: {
        prompt: { title: "Prompt", "x-editor": "template" },
        tools: {
          title: "Tools",
          items: { oneOf: [{ properties: { body: { title: "Program", "x-editor": "code" } } }] },
        },
      },
    },
  },
];
const match = { index: 0, line: 1, before: "  a ", text: "x", after: " b" };
const file = (graphId: string | undefined, path: string): FoundFile => ({
  ...(graphId === undefined ? {} : { graphId }),
  path,
  place: path,
  name: path,
  version: "1",
  matches: [
    { ...match, record: "node:ask", kind: "model", pointer: "/config/prompt" },
    { ...match, record: "node:ask", kind: "model", pointer: "/config/tools/1/body", index: 1 },
    { ...match, record: "node:off", kind: "model", pointer: "/title", disabled: true },
    { ...match, record: "edge:a->b", pointer: "/when" },
    { ...match, record: "key:total", named: true },
  ],
});
const around: Around = {
  kinds,
  graphId: "g",
  isInvalid: (record) => record === "node:ask",
  isUnused: (record) => record === "node:b",
  isChanged: (record) => record === "node:c",
};
const brief = (rows: ReturnType<typeof foundRows>) =>
  rows.map((row) =>
    row.kind === "hit"
      ? `  ${row.hit.label} ${row.hit.where}`
      : row.kind === "file"
        ? row.file.name
        : row.hits[0]?.record,
  );

describe("foundRows", () => {
  it("are grouped by graph and record, with the field as the form calls it", () => {
    expect(
      brief(foundRows([file("g", "one"), file(undefined, "two")], NO_FILTERS, around)).slice(0, 10),
    ).toEqual([
      "one",
      "node:ask",
      "  Prompt prompts",
      "  Tools · 2 · Program code",
      "node:off",
      "  Title names",
      "edge:a->b",
      "  Condition expressions",
      "key:total",
      "  Name names",
    ]);
  });

  it("name no graph when only the one that is shown was searched", () => {
    expect(brief(foundRows([file("g", "one")], NO_FILTERS, around))[0]).toBe("node:ask");
  });

  it("pass the filters together; problems are known of the shown graph only", () => {
    const both = [file("g", "one"), file(undefined, "two")];
    const code = { ...NO_FILTERS, where: "code" } as const;
    expect(foundRows(both, code, around).filter((row) => row.kind === "hit")).toHaveLength(2);
    const invalid = { ...code, nodes: "invalid" } as const;
    expect(foundRows(both, invalid, around).filter((row) => row.kind === "hit")).toHaveLength(1);
    expect(brief(foundRows(both, { ...NO_FILTERS, nodes: "disabled" }, around))).toContain("node:off");
    expect(foundRows(both, { ...NO_FILTERS, kind: "code" }, around)).toEqual([]);
  });
});

describe("lineAround", () => {
  it("cuts the line out of a text", () => {
    expect(lineAround("one\n  two three\nfour", 6, 9)).toEqual({
      before: "",
      text: "two",
      after: " three",
      line: 2,
    });
  });
});

it("filters nodes that no run comes to, and those that changed since the commit", () => {
  const names = (nodes: Filters["nodes"]) =>
    nodeHits(
      ["a", "b", "c", "ask"].map((name) => ({ name, kind: "assign", disabled: false })),
      { graphId: "g", path: null },
    )
      .filter((hit) => passes(hit, { ...NO_FILTERS, nodes }, around))
      .map(({ record }) => record);
  expect(names("unused")).toEqual(["node:b"]);
  expect(names("changed")).toEqual(["node:c"]);
  expect(names("invalid")).toEqual(["node:ask"]);
});
