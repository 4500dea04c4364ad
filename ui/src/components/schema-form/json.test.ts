import { expect, it } from "vitest";
import { getPointer, sameJson } from "./json";

it("compares without regard to key order", () => {
  expect(sameJson({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 })).toBe(true);
  expect(sameJson({ a: undefined }, {})).toBe(true);
  expect(sameJson([1], { 0: 1 })).toBe(false);
});

it("reads pointers with escapes", () => {
  expect(getPointer({ "a/b": { "~": [5] } }, "/a~1b/~0/0")).toBe(5);
  expect(getPointer({ a: 1 }, "/a/b")).toBeUndefined();
});
