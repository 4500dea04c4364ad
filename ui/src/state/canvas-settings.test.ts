import { expect, it } from "vitest";
import { gridNow, readSettings } from "./canvas-settings";

it("reads what was kept, and keeps its own default where that is none of its words", () => {
  expect(readSettings('{"drop":"menu","dropShift":"nothing"}')).toMatchObject({
    drop: "menu",
    dropShift: "nothing",
  });
  expect(readSettings('{"drop":"dance"}')).toMatchObject({ drop: "search", dropShift: "menu" });
  for (const broken of [null, "", "{", "[]", "7"])
    expect(readSettings(broken)).toMatchObject({ drop: "search", dropShift: "menu" });
});

it("knows the grids that it offers, and Alt turns the grid round", () => {
  expect(readSettings('{"grid":24}').grid).toBe(24);
  expect(readSettings('{"grid":0}').grid).toBe(0);
  expect(readSettings('{"grid":5}').grid).toBe(4);
  expect([gridNow(8, false), gridNow(8, true), gridNow(0, false), gridNow(0, true)]).toEqual([8, 0, 0, 4]);
});
