import { describe, expect, it } from "vitest";
import { fuzzy, fuzzyFilter } from "./fuzzy";

describe("fuzzy", () => {
  it("finds letters in order only", () => {
    expect(fuzzy("Auto-layout", "al")).not.toBeNull();
    expect(fuzzy("Auto-layout", "la")).not.toBeNull();
    expect(fuzzy("Auto-layout", "xz")).toBeNull();
    expect(fuzzy("Save as", "svas")?.at).toEqual([0, 2, 5, 6]);
  });
  it("puts whole words before letters that are spread about", () => {
    const found = fuzzyFilter(["Reset panels", "Save as", "Save"], "sa", (item) => [item]);
    expect(found.slice(0, 2).sort()).toEqual(["Save", "Save as"]);
  });
  it("keeps the order for an empty query", () => {
    expect(fuzzyFilter(["b", "a"], " ", (item) => [item])).toEqual(["b", "a"]);
  });
  it("finds by a second text when it is really there", () => {
    const items = [
      { name: "Ask", text: "A question to a person, " },
      { name: "Code", text: "Runs JavaScript" },
    ];
    expect(fuzzyFilter(items, "java", (item) => [item.name, item.text])).toEqual([items[1]]);
    expect(fuzzyFilter(items, "qtp", (item) => [item.name, item.text])).toEqual([]);
  });
});
