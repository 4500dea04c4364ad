import { describe, expect, it } from "vitest";
import { nodeList, preview, readableError } from "./format";

describe("how things are written", () => {
  it("takes the message out of a stored error", () => {
    expect(readableError("CodeError('it\\'s not\\nthere')")).toBe("it's not\nthere");
    expect(readableError('ValueError("no")')).toBe("no");
    expect(readableError("just text (with brackets)")).toBe("just text (with brackets)");
    expect(readableError("E()")).toBe("E()");
  });
  it("cuts long values without walking all of them", () => {
    expect(preview({ a: [1, { b: "x" }], c: null })).toBe('{a: [1, {b: "x"}], c: null}');
    expect(
      preview(
        Array.from({ length: 100_000 }, (_, index) => index),
        20,
      ),
    ).toHaveLength(20);
  });
  it("names nodes and counts repeats", () => {
    expect(nodeList(["work", "work", "__end__"])).toBe("work ×2, End");
  });
});
