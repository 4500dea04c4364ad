import { describe, expect, it } from "vitest";
import { duration, nodeList, preview, readableError } from "./format";

describe("how things are written", () => {
  it("writes durations so that they can be compared", () => {
    expect(
      [0.2, 12, 1240, 12_400, 75_000, 3_720_000].map((millis) => duration(millis).replaceAll("\u202f", " ")),
    ).toEqual(["<1 ms", "12 ms", "1.24 s", "12.4 s", "1 min 15 s", "1 h 02 min"]);
  });
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
