// @vitest-environment jsdom
import { beforeEach, expect, it } from "vitest";
import { addWatch, changeWatch, MOST_WATCHES, renameInWatches, useWatches, watchesOf } from "./watches";

/** Forgets what the window knows, as a reload does. */
const reload = () => useWatches.setState({ of: {} }, true);
beforeEach(() => {
  localStorage.clear();
  reload();
});

it("are kept for their graph and found again after a reload", () => {
  addWatch("one", " state.n ");
  addWatch("one", "state.n");
  addWatch("one", "");
  addWatch("two", "state.total");
  reload();
  expect(watchesOf("one")).toEqual(["state.n"]);
  expect(watchesOf("two")).toEqual(["state.total"]);
});

it("keep their place when they change, and go when they are emptied or doubled", () => {
  for (const text of ["a", "b", "c"]) addWatch("one", text);
  changeWatch("one", "b", "b + 1");
  expect(watchesOf("one")).toEqual(["a", "b + 1", "c"]);
  changeWatch("one", "b + 1", "c");
  expect(watchesOf("one")).toEqual(["a", "c"]);
  changeWatch("one", "a", " ");
  changeWatch("one", "c", "");
  expect(watchesOf("one")).toEqual([]);
  expect(localStorage.length).toBe(0);
});

it("are bounded, and what is kept may be anything", () => {
  for (let at = 0; at <= MOST_WATCHES; at += 1)
    expect(addWatch("one", `state.k${at}`)).toBe(at < MOST_WATCHES);
  localStorage.setItem("superstep.watches.two", '{"no": "list"}');
  localStorage.setItem("superstep.watches.three", "not JSON");
  localStorage.setItem("superstep.watches.four", '[1, "state.n", null]');
  expect(["two", "three", "four"].map(watchesOf)).toEqual([[], [], ["state.n"]]);
});

it("follow a new name of a state key", () => {
  for (const text of ["state.total * 2", "state.totals", "state['total']"]) addWatch("one", text);
  renameInWatches("one", "total", "sum");
  reload();
  expect(watchesOf("one")).toEqual(["state.sum * 2", "state.totals", "state['sum']"]);
});
