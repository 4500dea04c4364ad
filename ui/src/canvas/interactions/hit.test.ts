import { describe, expect, it } from "vitest";
import { meantLine } from "./hit";

const hit = (id: string, distance: number, length: number) => ({ id, distance, length });

describe("the line that a click means", () => {
  const straight = hit("ask>end", 1, 200);
  const round = hit("router>end", 0.5, 900);
  it.each([
    ["the nearest of those that lie apart", [straight, hit("other", 7, 50)], null, "ask>end"],
    ["the one that is straight where another joins it", [round, straight], null, "ask>end"],
    ["the next where the same place is clicked again", [round, straight], "ask>end", "router>end"],
    ["the first again after the last", [round, straight], "router>end", "ask>end"],
    ["nothing where there is none", [], null, null],
  ])("is %s", (_name, hits, selected, meant) => expect(meantLine(hits, selected)).toBe(meant));
});
