import { describe, expect, it } from "vitest";
import type { KeyView } from "../../ipc/bindings/KeyView";
import type { ValueView } from "../../ipc/bindings/ValueView";
import { kindOf } from "../parts/format";
import {
  changeText,
  flattenState,
  orderKeys,
  searchValue,
  type StateRow,
  type TreeState,
} from "./state-rows";

const whole = (value: unknown): ValueView => ({
  kind: kindOf(value),
  bytes: 1,
  length: Array.isArray(value) ? value.length : typeof value === "string" ? value.length : 1,
  value,
});
const key = (name: string, value: unknown, more: Partial<KeyView> = {}): KeyView => ({
  key: name,
  declared: "any",
  reducer: "overwrite",
  value: whole(value),
  change: "same",
  writers: [],
  ...more,
});
const closed: TreeState = {
  open: new Set(),
  shown: new Map(),
  loaded: new Map(),
  edits: {},
  tails: new Map(),
  fromStart: new Set(),
  chat: new Set(),
  search: "",
  onlyChanged: false,
};

const draw = (rows: StateRow[]): string[] =>
  rows.map((row) => {
    switch (row.type) {
      case "key":
        return `${row.open ? "▾" : "▸"} ${row.view.key}`;
      case "node":
        return `${"  ".repeat(row.depth)}${row.mark === "added" ? "+" : row.mark === "changed" ? "~" : ""}${row.name}: ${row.kind}`;
      case "changes":
        return `changes ${row.changes.map((change) => `${change.change} ${change.pointer}`).join(", ")}`;
      case "more":
        return `more ${row.shown}/${row.total}${row.remote ? " remote" : ""}`;
      default:
        return row.type;
    }
  });

describe("the state as rows", () => {
  it("folds keys without a value into one row, which opens", () => {
    const unset = (name: string): KeyView => {
      const { value: _value, ...rest } = key(name, 1);
      return rest;
    };
    const keys = [unset("a"), key("b", 1), unset("c"), { ...unset("d"), change: "removed" as const }];
    const rows = flattenState(keys, closed);
    expect(draw(rows)).toEqual(["▸ d", "▸ b", "unset"]);
    expect(rows.at(-1)).toMatchObject({ names: ["a", "c"] });
    expect(draw(flattenState(keys, { ...closed, open: new Set(["#unset"]) }))).toEqual([
      "▸ d",
      "▸ b",
      "unset",
      "▸ a",
      "▸ c",
    ]);
    // One such key is a row, a search finds them by name, and an edited one has a value.
    expect(draw(flattenState(keys.slice(0, 2), closed))).toEqual(["▸ a", "▸ b"]);
    expect(draw(flattenState(keys, { ...closed, search: "c" }))).toEqual(["▸ c"]);
    const edits = { a: { base: undefined, value: 2, how: "replace" } } as unknown as TreeState["edits"];
    expect(draw(flattenState(keys, { ...closed, edits }))).toEqual(["▸ d", "▸ a", "▸ b", "▸ c"]);
  });

  it("puts what changed first and keeps the order otherwise", () => {
    const keys = [
      key("a", 1),
      key("b", 1, { change: "changed" }),
      key("c", 1),
      key("d", 1, { change: "appended" }),
    ];
    expect(orderKeys(keys).map((view) => view.key)).toEqual(["b", "d", "a", "c"]);
    expect(draw(flattenState(keys, { ...closed, onlyChanged: true }))).toEqual(["▸ b", "▸ d"]);
  });

  it("opens containers level by level", () => {
    const keys = [key("user", { name: "A", tags: ["x"] })];
    expect(draw(flattenState(keys, { ...closed, open: new Set(["/user"]) }))).toEqual([
      "▾ user",
      "  name: string",
      "  tags: array",
    ]);
    expect(draw(flattenState(keys, { ...closed, open: new Set(["/user", "/user/tags"]) }))).toEqual([
      "▾ user",
      "  name: string",
      "  tags: array",
      "    0: string",
    ]);
  });

  it("marks what a list has gained", () => {
    const keys = [key("log", ["a", "b", "c"], { change: "appended", previous: whole(["a"]) })];
    expect(draw(flattenState(keys, { ...closed, open: new Set(["/log"]) }))).toEqual([
      "▾ log",
      "  0: string",
      "  +1: string",
      "  +2: string",
    ]);
    expect(changeText(keys[0]!)).toEqual({ kind: "appended", items: 2 });
  });

  it("shows the new end of a long list first, whether it is here or not", () => {
    const items = Array.from({ length: 40 }, (_, index) => index);
    const open = new Set(["/log"]);
    const view = key("log", items, { change: "appended", previous: { kind: "array", bytes: 1, length: 38 } });
    expect(draw(flattenState([view], { ...closed, open }))).toEqual([
      "▾ log",
      "before",
      "  +38: integer",
      "  +39: integer",
    ]);
    expect(draw(flattenState([view], { ...closed, open, fromStart: new Set(["log"]) }))).toHaveLength(41);
    const remote = { ...view, value: { kind: "array", bytes: 90_000, length: 40, head: "[0" } };
    expect(draw(flattenState([remote], { ...closed, open }))).toEqual(["▾ log", "before", "wait"]);
    const tails = new Map([["log", { value: [38, 39], complete: true, loading: false }]]);
    expect(draw(flattenState([remote], { ...closed, open, tails }))).toEqual([
      "▾ log",
      "before",
      "  +38: integer",
      "  +39: integer",
    ]);
  });

  it("lists what changed inside an object, and marks it in the tree", () => {
    const keys = [
      key(
        "user",
        { name: "B", deep: { x: 1, y: 2 } },
        { change: "changed", previous: whole({ name: "A", deep: { x: 1 } }) },
      ),
    ];
    expect(draw(flattenState(keys, { ...closed, open: new Set(["/user"]) }))).toEqual([
      "▾ user",
      "changes changed /name, added /deep/y",
      "  ~name: string",
      "  ~deep: object",
    ]);
  });

  it("shows long text as a word diff when it changed and as a block when not", () => {
    const long = "word ".repeat(40);
    expect(
      draw(
        flattenState([key("t", `${long}b`, { change: "changed", previous: whole(`${long}a`) })], {
          ...closed,
          open: new Set(["/t"]),
        }),
      ),
    ).toEqual(["▾ t", "diff"]);
    expect(draw(flattenState([key("t", long)], { ...closed, open: new Set(["/t"]) }))).toEqual([
      "▾ t",
      "text",
    ]);
  });

  it("pages long lists, and says when the rest is not here", () => {
    const items = Array.from({ length: 250 }, (_, index) => index);
    const keys = [key("items", items)];
    const open = new Set(["/items"]);
    expect(draw(flattenState(keys, { ...closed, open })).at(-1)).toBe("more 100/250");
    expect(draw(flattenState(keys, { ...closed, open, shown: new Map([["/items", 300]]) }))).toHaveLength(
      251,
    );
    const remote = [
      { ...key("items", items), value: { kind: "array", bytes: 90_000, length: 5000, head: "[0, 1" } },
    ];
    expect(draw(flattenState(remote, { ...closed, open }))).toEqual(["▾ items", "wait"]);
    const loaded = new Map([["items", { value: items.slice(0, 100), complete: false, loading: false }]]);
    expect(draw(flattenState(remote, { ...closed, open, loaded })).at(-1)).toBe("more 100/5000 remote");
  });

  it("shows an edit in place of the value, against what was there", () => {
    const keys = [key("user", { name: "A" })];
    const edits = {
      user: { base: { name: "A" }, value: { name: "Z" }, update: undefined, mode: "replace" as const },
    };
    expect(draw(flattenState(keys, { ...closed, open: new Set(["/user"]), edits }))).toEqual([
      "▾ user",
      "changes changed /name",
      "  ~name: string",
    ]);
  });

  it("shows messages as a conversation on demand", () => {
    const keys = [key("messages", [{ type: "human", content: "Hi" }])];
    expect(
      draw(flattenState(keys, { ...closed, open: new Set(["/messages"]), chat: new Set(["messages"]) })),
    ).toEqual(["▾ messages", "chat"]);
  });
});

describe("search", () => {
  const keys = [
    key("order", { id: 7, lines: [{ sku: "lamp" }, { sku: "chair" }] }),
    key("note", "nothing here"),
    key("lamp", 1),
  ];

  it("finds by text and opens the way to it", () => {
    expect(draw(flattenState(keys, { ...closed, search: "Chair" }))).toEqual([
      "▾ order",
      "  lines: array",
      "    1: object",
      "      sku: string",
    ]);
  });
  it("finds by path and by key", () => {
    expect(draw(flattenState(keys, { ...closed, search: "lines[0].sku" }))).toEqual([
      "▾ order",
      "  lines: array",
      "    0: object",
      "      sku: string",
    ]);
    expect(draw(flattenState(keys, { ...closed, search: "lamp" }))).toContain("▸ lamp");
  });
  it("finds nothing quietly", () => {
    expect(flattenState(keys, { ...closed, search: "zebra" })).toEqual([]);
    expect([...searchValue(undefined, "x", "y")]).toEqual([]);
  });
});
