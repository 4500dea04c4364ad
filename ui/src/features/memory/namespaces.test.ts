import { expect, test } from "vitest";
import { idOf, lineOf, placeOf, placeText } from "./namespaces";

test("a namespace is read back from its text, whatever its labels hold", () => {
  for (const namespace of [["people", "ada"], ["a/b", "c\\d"], ["one"], ["\\", "/"], ["äöü", "日本"]])
    expect(placeOf(placeText(namespace))).toEqual(namespace);
  expect(placeText(["people", "ada"])).toBe("people/ada");
});

test("empty labels and space around them are dropped", () => {
  expect(placeOf(" people / ada //")).toEqual(["people", "ada"]);
  expect(placeOf("")).toEqual([]);
  expect(placeOf("end\\")).toEqual(["end\\"]);
});

test("two items of one key are distinguished by their namespaces", () => {
  expect(idOf({ namespace: ["a", "b"], key: "k" })).not.toBe(idOf({ namespace: ["a"], key: "k" }));
});

test("a large value is shown by its beginning", () => {
  expect(lineOf({ kind: "object", bytes: 9000, length: 1, head: '{"long":' })).toBe('{"long":');
  expect(lineOf({ kind: "object", bytes: 9, length: 1, value: { a: 1 } })).toBe("{a: 1}");
});
