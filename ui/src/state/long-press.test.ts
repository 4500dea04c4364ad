// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { followLongPresses } from "./long-press";

const opened = vi.fn();
let stop = () => {};
let place: HTMLElement;

beforeEach(() => {
  vi.useFakeTimers();
  document.body.innerHTML = "<div><button>one</button><input></div>";
  place = document.querySelector("div")!;
  place.addEventListener("contextmenu", (event) => opened(event.clientX, event.clientY));
  opened.mockClear();
  stop = followLongPresses();
});
afterEach(() => {
  stop();
  vi.useRealTimers();
});

const finger = (type: string, on: Element, x = 5, y = 5, pointerType = "touch", button = 0) => {
  const event = new MouseEvent(type, { bubbles: true, cancelable: true, clientX: x, clientY: y, button });
  Object.defineProperty(event, "pointerType", { value: pointerType });
  on.dispatchEvent(event);
};
const button = () => document.querySelector("button")!;

it("opens the menu where the finger rests", () => {
  finger("pointerdown", button(), 7, 9);
  finger("pointermove", button(), 10, 9);
  vi.advanceTimersByTime(600);
  expect(opened.mock.calls).toEqual([[7, 9]]);
});

it("opens the menu where a pen rests, and leaves the button on its side to the browser", () => {
  finger("pointerdown", button(), 7, 9, "pen");
  finger("pointermove", button(), 9, 8, "pen");
  vi.advanceTimersByTime(600);
  expect(opened.mock.calls).toEqual([[7, 9]]);
  finger("pointerup", button(), 9, 8, "pen");
  opened.mockClear();
  finger("pointerdown", button(), 7, 9, "pen", 2);
  vi.advanceTimersByTime(600);
  finger("pointerup", button(), 7, 9, "pen", 2);
  expect(opened, "the browser's own event opens it").not.toHaveBeenCalled();
  finger("pointerdown", button(), 7, 9, "pen");
  finger("pointermove", button(), 40, 9, "pen");
  vi.advanceTimersByTime(600);
  finger("pointerup", button(), 40, 9, "pen");
  expect(opened, "a stroke is none").not.toHaveBeenCalled();
});

it("opens none for a tap, a drag, two fingers, a mouse, and in a field", () => {
  finger("pointerdown", button());
  finger("pointerup", button());
  vi.advanceTimersByTime(600);
  finger("pointerdown", button());
  finger("pointermove", button(), 30);
  vi.advanceTimersByTime(600);
  finger("pointerup", button());
  finger("pointerdown", button());
  finger("pointerdown", button(), 40);
  vi.advanceTimersByTime(600);
  finger("pointerup", button());
  finger("pointerup", button());
  finger("pointerdown", button(), 5, 5, "mouse");
  vi.advanceTimersByTime(600);
  finger("pointerdown", document.querySelector("input")!);
  vi.advanceTimersByTime(600);
  expect(opened).not.toHaveBeenCalled();
});

it("ends with what followed it", () => {
  stop();
  finger("pointerdown", button());
  vi.advanceTimersByTime(600);
  expect(opened).not.toHaveBeenCalled();
});
