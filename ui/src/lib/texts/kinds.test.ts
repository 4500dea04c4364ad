import { describe, expect, it } from "vitest";
import listed from "./kinds.json";
import { zh } from "./zh";
import { kindAliases, kinds } from "./zh/kinds";

/** The last mark of a sentence; none after labels. */
const marks: Readonly<Record<string, string>> = { ".": "。", "?": "？" };

/** Everything between backticks: what stands in a file or is typed, in every language. */
const codeIn = (text: string) => text.match(/`[^`]*`/g) ?? [];

describe("the Chinese texts of node kinds", () => {
  it("are there for every English one, and for no others", () => {
    expect(Object.keys(kinds).sort()).toEqual([...listed].sort());
    for (const [english, text] of Object.entries(kinds)) expect(text, english).not.toBe("");
  });

  it("keep the code and the last mark of the English ones", () => {
    for (const [english, text] of Object.entries(kinds)) {
      for (const code of codeIn(english)) expect(text, english).toContain(code);
      expect(/[。？]$/.exec(text)?.[0], english).toBe(marks[english.at(-1)!]);
    }
  });

  it("are said for what the workbench says, and search words are not", () => {
    expect(zh.rust("Runs another graph.")).toBe(kinds["Runs another graph."]);
    for (const kind of Object.keys(kindAliases)) expect(zh.rust(kind), kind).toBeUndefined();
  });

  it("find a kind by words of their own", () => {
    for (const [kind, words] of Object.entries(kindAliases)) {
      expect(words.length, kind).toBeGreaterThanOrEqual(3);
      expect(new Set(words).size, kind).toBe(words.length);
    }
  });
});
