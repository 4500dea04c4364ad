import { describe, expect, it } from "vitest";
import { namedAt } from "./symbol";

const records = new Set(["key:total", "key:due date", "node:ask", "node:total"]);
const at = (text: string, word: string) =>
  namedAt(text, text.indexOf(word) + 1, (record) => records.has(record));

describe("namedAt", () => {
  it("tells keys from nodes by what stands before", () => {
    expect(at("state.total + 1", "total")).toEqual({ what: "key", name: "total" });
    expect(at("goto: 'ask'", "ask")).toEqual({ what: "node", name: "ask" });
    expect(at("state.ask", "ask")).toBeNull();
  });

  it("takes names with spaces from quotes", () => {
    expect(at('state["due date"]', "date")).toEqual({ what: "key", name: "due date" });
  });

  it("finds nothing in other words", () => {
    expect(at("lower(totals)", "totals")).toBeNull();
    expect(namedAt("", 0, () => true)).toBeNull();
  });
});
