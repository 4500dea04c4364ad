import { describe, expect, it } from "vitest";
import listed from "./problems.json";
import { zh } from "./zh";
import { kinds } from "./zh/kinds";
import { problems } from "./zh/problems";

/** Everything between backticks: what stands in a file or is typed, in every language. */
const codeIn = (text: string) => text.match(/`[^`]*`/g) ?? [];

describe("the Chinese texts of problems", () => {
  it("are there for every English one, and for no others", () => {
    expect(Object.keys(problems).sort()).toEqual([...listed].sort());
    for (const [english, text] of Object.entries(problems)) expect(text, english).not.toBe("");
  });

  it("keep the code of the English ones", () => {
    for (const [english, text] of Object.entries(problems))
      for (const code of codeIn(english)) expect(text, english).toContain(code);
  });

  it("are Chinese, with no English words but code and names", () => {
    const plain = (text: string) => text.replace(/`[^`]*`|"[^"]*"|\{\w+\}/g, "");
    for (const [english, text] of Object.entries(problems)) {
      if (!/[a-z]{3}/i.test(plain(english))) continue;
      expect(text, english).toMatch(/[\u4e00-\u9fff]/);
      expect(text, english).not.toMatch(/[\u4e00-\u9fff][,;!?]|\. ?[\u4e00-\u9fff]/);
    }
  });

  it("say the same as those of kinds where the English is one", () => {
    for (const [english, text] of Object.entries(problems))
      if (english in kinds) expect(kinds[english], english).toBe(text);
    expect(zh.rust("Delete one of them.")).toBe(problems["Delete one of them."]);
  });
});
