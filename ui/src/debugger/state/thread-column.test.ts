// @vitest-environment jsdom
import { beforeEach, expect, it } from "vitest";
import { forgetThreadColumns, keyExpression, showThreadColumn, threadColumn } from "./thread-column";
import { addWatch, changeWatch, renameInWatches } from "./watches";

beforeEach(() => {
  localStorage.clear();
  forgetThreadColumns();
});

it("is kept for its graph and found again after a reload, until it is taken away", () => {
  showThreadColumn("one", "state.n");
  forgetThreadColumns();
  expect([threadColumn("one"), threadColumn("two")]).toEqual(["state.n", null]);
  showThreadColumn("one", null);
  forgetThreadColumns();
  expect(threadColumn("one")).toBeNull();
  expect(localStorage.length).toBe(0);
});

it("follows its watch, and a key that is renamed, and goes with the watch", () => {
  addWatch("one", "state.n > 1");
  showThreadColumn("one", "state.n > 1");
  changeWatch("one", "state.n > 1", "state.n > 2");
  expect(threadColumn("one")).toBe("state.n > 2");
  renameInWatches("one", "n", "count");
  expect(threadColumn("one")).toBe("state.count > 2");
  changeWatch("one", "state.count > 2", "");
  expect(threadColumn("one")).toBeNull();
});

it("is written for any name of a key", () => {
  expect(["n", "odd key"].map(keyExpression)).toEqual(["state.n", 'state["odd key"]']);
});
