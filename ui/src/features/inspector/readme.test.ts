import { describe, expect, it } from "vitest";
import { withoutTitle } from "./readme";

describe("a README", () => {
  it("loses a title that is the graph's name", () => {
    for (const title of ["# Desk", "  # desk ", "\n\n# Desk ##", "#\tDesk"]) {
      expect(withoutTitle(`${title}\nbody\n`, "Desk")).toBe("body\n");
    }
    expect(withoutTitle("# Desk", "Desk")).toBe("");
    for (const other of ["## Desk\nbody", "#Desk\nbody", "# Other\nbody", "Desk\nbody", ""]) {
      expect(withoutTitle(other, "Desk")).toBe(other);
    }
  });

  it("of any kind is looked at in no time", () => {
    const long = 200_000;
    for (const text of [
      `# a${" ".repeat(long)}b`,
      `${" ".repeat(long)}# b`,
      `${"\n".repeat(long)}x`,
      `#${" ".repeat(long)}`,
      `# ${"#".repeat(long)} b`,
      `# ${"a #".repeat(long)}`,
    ]) {
      const began = performance.now();
      expect(withoutTitle(text, "a")).toBe(text);
      expect(performance.now() - began).toBeLessThan(200);
    }
  });
});
