import { expect, it } from "vitest";
import { readSettings } from "./canvas-settings";

it("reads what was kept, and keeps its own default where that is none of its words", () => {
  expect(readSettings('{"drop":"menu","dropShift":"nothing"}')).toMatchObject({
    drop: "menu",
    dropShift: "nothing",
  });
  expect(readSettings('{"drop":"dance"}')).toMatchObject({ drop: "search", dropShift: "menu" });
  for (const broken of [null, "", "{", "[]", "7"])
    expect(readSettings(broken)).toMatchObject({ drop: "search", dropShift: "menu" });
});
