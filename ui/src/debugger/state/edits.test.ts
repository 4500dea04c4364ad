import { beforeEach, describe, expect, it } from "vitest";
import { asUpdate, toUpdate, useEdits } from "./edits";

const place = { threadId: "t", checkpointId: "c" };
const edits = () => useEdits.getState();

beforeEach(() => edits().clear());

describe("collecting edits", () => {
  it("collects edits of several keys and of parts of one key", () => {
    edits().edit(place, "user", { name: "A", age: 1 }, "/name", "B");
    edits().edit(place, "user", { name: "A", age: 1 }, "/age", 2);
    edits().edit(place, "total", 5, "", 6);
    const pending = edits().pending;
    expect(pending && toUpdate(pending, { user: "merge", total: "overwrite" })).toEqual({
      values: { user: { name: "B", age: 2 }, total: 6 },
      overwrite: ["user"],
    });
  });

  it("forgets an edit that is again what it was", () => {
    edits().edit(place, "total", 5, "", 6);
    edits().edit(place, "total", 5, "", 5);
    expect(edits().pending).toBeNull();
  });

  it("starts over when another moment is edited", () => {
    edits().edit(place, "total", 5, "", 6);
    edits().edit({ ...place, checkpointId: "d" }, "name", "x", "", "y");
    expect(Object.keys(edits().pending?.keys ?? {})).toEqual(["name"]);
    expect(edits().pending?.checkpointId).toBe("d");
  });

  it("sends an update instead of a replacement when the reducer is to be used, and back", () => {
    edits().edit(place, "log", ["a"], "", ["a", "b"]);
    edits().setMode("log", "reduce", "append");
    let pending = edits().pending;
    expect(pending && toUpdate(pending, { log: "append" })).toEqual({
      values: { log: ["b"] },
      overwrite: [],
    });
    edits().setMode("log", "replace", "append");
    pending = edits().pending;
    expect(pending && toUpdate(pending, { log: "append" })).toEqual({
      values: { log: ["a", "b"] },
      overwrite: ["log"],
    });
  });

  it("reverts one key and keeps the rest", () => {
    edits().edit(place, "a", 1, "", 2);
    edits().edit(place, "b", 1, "", 2);
    edits().setAsNode("review");
    edits().revert("a");
    expect(edits().pending).toMatchObject({ asNode: "review", keys: { b: { value: 2 } } });
  });
});

describe("what the reducer must be given", () => {
  it.each([
    ["append", ["a"], ["a", "b"], ["b"]],
    ["append", ["a"], ["x"], ["x"]],
    ["add", 3, 5, 2],
    ["add", undefined, 5, 5],
    ["merge", { a: 1, b: 2 }, { a: 1, b: 3 }, { b: 3 }],
    ["union", ["a"], ["a", "b"], ["b"]],
    ["add_messages", [{ id: "1", content: "x" }], [{ id: "1", content: "y" }], [{ id: "1", content: "y" }]],
    ["max", 1, 4, 4],
  ])("%s", (reducer, base, value, update) => {
    expect(asUpdate(reducer, base, value)).toEqual(update);
  });
});
