import { describe, expect, it } from "vitest";
import {
  appendedCount,
  changesBetween,
  likeness,
  readablePath,
  sameJson,
  valueAt,
  withValueAt,
  wordDiff,
} from "./diff";

const draw = (before: string, after: string) =>
  wordDiff(before, after)
    .map((piece) =>
      piece.kind === "same" ? piece.text : piece.kind === "added" ? `{+${piece.text}+}` : `[-${piece.text}-]`,
    )
    .join("");

describe("word diff", () => {
  it("marks only the words that changed", () => {
    expect(draw("the quick brown fox", "the slow brown fox")).toBe("the [-quick-]{+slow+} brown fox");
  });
  it("marks what was added at the end", () => {
    expect(draw("Hello", "Hello there, you")).toBe("Hello{+ there, you+}");
  });
  it("handles empty sides and equal texts", () => {
    expect(draw("", "new")).toBe("{+new+}");
    expect(draw("old", "")).toBe("[-old-]");
    expect(draw("same", "same")).toBe("same");
    expect(wordDiff("", "")).toEqual([]);
  });
  it("gives back both texts whatever it marks", () => {
    const before = "One, two; three four.\n\nFive 六 sieben — eight";
    const after = "One two; 3 four!\nFive 六 acht — eight nine";
    const pieces = wordDiff(before, after);
    expect(
      pieces
        .filter((piece) => piece.kind !== "added")
        .map((piece) => piece.text)
        .join(""),
    ).toBe(before);
    expect(
      pieces
        .filter((piece) => piece.kind !== "removed")
        .map((piece) => piece.text)
        .join(""),
    ).toBe(after);
  });
  it("tells how much two texts have in common", () => {
    expect(likeness(wordDiff("a b c d", "a b c e"))).toBeCloseTo(0.75);
    expect(likeness(wordDiff("one two", "three four"))).toBe(0);
    expect(likeness(wordDiff("same", "same"))).toBe(1);
  });
  it("does not hang on two long texts that share nothing", { timeout: 30_000 }, () => {
    const before = Array.from({ length: 100_000 }, (_, index) => `a${index}`).join(" ");
    const after = Array.from({ length: 100_000 }, (_, index) => `b${index}`).join(" ");
    expect(wordDiff(before, after).map((piece) => piece.kind)).toEqual(["removed", "added"]);
  });
});

describe("differences of JSON values", () => {
  it("sees a list that only grew", () => {
    expect(appendedCount([1, { a: 2 }], [1, { a: 2 }, 3, 4])).toBe(2);
    expect(appendedCount([1], [2, 3])).toBeUndefined();
    expect(appendedCount([1], [1])).toBeUndefined();
  });
  it("goes as deep as both sides have the same shape", () => {
    expect(changesBetween({ a: { b: [1, 2] }, c: 1 }, { a: { b: [1, 3, 4] }, d: 2 })).toEqual([
      { pointer: "/a/b/1", change: "changed", before: 2, after: 3 },
      { pointer: "/a/b/2", change: "added", after: 4 },
      { pointer: "/c", change: "removed", before: 1 },
      { pointer: "/d", change: "added", after: 2 },
    ]);
  });
  it("tells a list from an object, and null from absent", () => {
    expect(changesBetween([], {})).toEqual([{ pointer: "", change: "changed", before: [], after: {} }]);
    expect(changesBetween({ a: null }, {})).toEqual([{ pointer: "/a", change: "removed", before: null }]);
    expect(sameJson({ a: undefined }, {})).toBe(false);
  });
});

describe("paths", () => {
  it("reads and writes by JSON Pointer with escaped parts", () => {
    const root = { "a/b": [{ "~x": 1 }], keep: {} };
    expect(valueAt(root, "/a~1b/0/~0x")).toBe(1);
    const changed = withValueAt(root, "/a~1b/0/~0x", 2) as typeof root;
    expect(changed).toEqual({ "a/b": [{ "~x": 2 }], keep: {} });
    expect(changed.keep).toBe(root.keep);
    expect(root["a/b"][0]?.["~x"]).toBe(1);
  });
  it("prints a pointer as people write paths", () => {
    expect(readablePath("/messages/3/content")).toBe("messages[3].content");
    expect(readablePath("/a b/x")).toBe('["a b"].x');
  });
});
