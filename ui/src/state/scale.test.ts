// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { replaceHost } from "../ipc/client";
import { fakeHost } from "../test/fakeHost";
import { allCommands, dispatchKey, runCommand } from "./commands";
import {
  readScale,
  registerScaleCommands,
  restoreScale,
  scaleBeside,
  SCALES,
  setScale,
  useScale,
} from "./scale";

const drawn = vi.fn((_scale: number) => Promise.resolve());
let undo = () => {};

beforeEach(() => {
  drawn.mockClear();
  useScale.setState({ scale: 1 });
  replaceHost({ ...fakeHost(new Map()), kind: "desktop", setScale: (scale) => drawn(scale) });
  undo = registerScaleCommands();
});
afterEach(() => {
  undo();
  localStorage.clear();
});

const pressed = (key: string, code = key) =>
  new KeyboardEvent("keydown", { key, code, ctrlKey: true, shiftKey: true });

it("reads what was kept, and draws as made where that is no scale", () => {
  expect(SCALES.map((scale) => readScale(String(scale)))).toEqual([...SCALES]);
  for (const broken of [null, "", "7", "0", "NaN", "{"]) expect(readScale(broken)).toBe(1);
  expect(SCALES).toContain(1);
  expect(SCALES.at(-1)).toBe(2);
});

it("goes to the scale beside, and no further than the last", () => {
  expect([scaleBeside(1, 1), scaleBeside(1, -1), scaleBeside(2, 1), scaleBeside(0.8, -1)]).toEqual([
    1.1, 0.9, 2, 0.8,
  ]);
});

it("is changed by commands and keys, kept, and restored", () => {
  expect(runCommand("window.zoomIn")).toBe(true);
  expect([useScale.getState().scale, localStorage.getItem("superstep.scale")]).toEqual([1.1, "1.1"]);
  expect(dispatchKey(pressed("PageUp"))).toBe(true);
  expect(useScale.getState().scale).toBe(1.25);
  expect(dispatchKey(pressed("PageDown"))).toBe(true);
  expect(dispatchKey(pressed(")", "Digit0"))).toBe(true);
  setScale(2);
  expect(runCommand("window.zoomIn"), "it is as large as it gets").toBe(false);
  expect(drawn.mock.calls).toEqual([[1.1], [1.25], [1.1], [1], [2]]);
  restoreScale();
  expect(drawn).toHaveBeenLastCalledWith(2);
});

it("is not there in a browser, which has a zoom of its own", () => {
  undo();
  replaceHost(fakeHost(new Map()));
  undo = registerScaleCommands();
  useScale.setState({ scale: 2 });
  expect(allCommands().filter(({ id }) => id.startsWith("window."))).toEqual([]);
  expect(dispatchKey(pressed("PageUp"))).toBe(false);
  restoreScale();
  expect(drawn).not.toHaveBeenCalled();
});
