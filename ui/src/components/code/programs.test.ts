import { describe, expect, it } from "vitest";
import { keySuggestions, memberBefore, nameSuggestions } from "./programs";

describe("what programs can say", () => {
  it("finds where a state key is written", () => {
    expect(memberBefore("return {a: state.dra", "javascript")).toEqual({ typed: "dra", close: "" });
    expect(memberBefore("x = state['", "python")).toEqual({ typed: "", close: "'" });
    expect(memberBefore('y = state.get("dr', "python")).toEqual({ typed: "dr", close: '"' });
    expect(memberBefore("state.get", "python")).toBeNull();
    expect(memberBefore("mystate.a", "javascript")).toBeNull();
    expect(memberBefore("estate = ", "python")).toBeNull();
  });

  it("offers keys with their types, and the names of the language", () => {
    const keys = [{ name: "draft", type: "string", description: "The text." }];
    expect(keySuggestions(keys)).toEqual([
      { label: "draft", detail: "string", info: "The text.", kind: "key" },
    ]);
    const labels = (language: "javascript" | "python") =>
      nameSuggestions(language).map((suggestion) => suggestion.label);
    expect(labels("python")).toEqual(expect.arrayContaining(["interrupt", "get_store", "yield"]));
    expect(labels("python")).not.toContain("console");
    expect(labels("javascript")).toEqual(expect.arrayContaining(["interrupt", "task", "await"]));
  });
});
