import { describe, expect, it } from "vitest";
import { mentioned, useTestStates } from "./test-states";

describe("keys that a node speaks of", () => {
  it("finds them in fields, expressions and templates, as whole words", () => {
    const config = { into: "answer", prompt: "Pay {{ state.amount }}?", set: { total: "state.price * 2" } };
    const names = ["amount", "mount", "answer", "total", "price", "other"];
    expect(mentioned(config, names)).toEqual(["amount", "answer", "total", "price"]);
  });
  it("knows names that are not English", () => {
    expect(mentioned({ into: "金額" }, ["金額", "金"])).toEqual(["金額"]);
  });
  it("finds nothing in nothing", () => {
    expect(mentioned(undefined, ["a"])).toEqual([]);
  });
});

describe("what was typed", () => {
  it("is kept for each node of each graph", () => {
    useTestStates.getState().keep("g\na", { x: 1 });
    useTestStates.getState().keep("g\nb", { x: 2 });
    expect(useTestStates.getState().states).toEqual({ "g\na": { x: 1 }, "g\nb": { x: 2 } });
  });
});
