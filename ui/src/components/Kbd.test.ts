import { expect, it } from "vitest";
import { Kbd, shortcutKeys } from "./Kbd";

it("writes each key of a shortcut once, a plus too", () => {
  expect(shortcutKeys("Mod+Shift+P", false)).toEqual(["Ctrl", "Shift", "P"]);
  expect(shortcutKeys("Mod++", false)).toEqual(["Ctrl", "+"]);
  expect(shortcutKeys("ArrowLeft", false)).toEqual(["←"]);
  expect(shortcutKeys("Mod+Alt+N", true)).toEqual(["⌘", "⌥", "N"]);
});

it("draws no key for a command without one", () => {
  expect(Kbd({ keys: "" })).toBeNull();
  expect(Kbd({ keys: "Mod+K" })).not.toBeNull();
});
