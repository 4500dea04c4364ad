// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { replaceHost } from "../ipc/client";
import { fakeHost } from "../test/fakeHost";
import type { AppInfo } from "../ipc/bindings/AppInfo";
import { dispatchKey, registerCommand } from "./commands";
import { KEYMAP, keysOf, matches, scopeOf, setOwnKeys, shortcutOfEvent } from "./keymap";
import { followKeys, resetAllKeys, resetKeys, setKeys, useShownKeys } from "./custom-keys";
import { useSession } from "./session";
import { showSettings, useSettingsAsked } from "./settings";

const kept = vi.fn();
followKeys();
let undo: (() => void)[] = [];

beforeEach(async () => {
  const host = fakeHost(new Map());
  replaceHost({
    ...host,
    rpc: (command, request, signal) => {
      if (command === "settings.set") kept((request as { shortcuts?: object }).shortcuts);
      return host.rpc(command, request, signal);
    },
  });
  useSession.getState().setAppInfo((await host.rpc("app.info", {})) as AppInfo);
  kept.mockClear();
});
afterEach(() => {
  undo.forEach((each) => each());
  undo = [];
  document.body.replaceChildren();
  useSettingsAsked.setState({ tab: null });
  setOwnKeys({});
});

function command(id: string) {
  const run = vi.fn();
  undo.push(registerCommand({ id, title: id, group: "", run }));
  return run;
}

type Pressed = Partial<KeyboardEventInit> & { key: string };
const event = (pressed: Pressed) =>
  new KeyboardEvent("keydown", { cancelable: true, bubbles: true, ...pressed });

function press(pressed: Pressed, target: Element = document.body): void {
  const pressing = event(pressed);
  target.addEventListener("keydown", (each) => void dispatchKey(each as KeyboardEvent), { once: true });
  target.dispatchEvent(pressing);
}

describe("own shortcuts", () => {
  it("count at once, are kept with the settings, and take the place of the ones before", () => {
    const run = command("run.start");
    setKeys("run.start", ["Mod+R"]);
    expect(kept).toHaveBeenLastCalledWith({ "run.start": ["Mod+R"] });
    press({ key: "F5" });
    expect(run).not.toHaveBeenCalled();
    press({ key: "r", ctrlKey: true });
    expect(run).toHaveBeenCalledOnce();
    resetKeys("run.start");
    expect(keysOf("run.start")).toEqual(KEYMAP["run.start"]?.keys);
    press({ key: "F5" });
    expect(run).toHaveBeenCalledTimes(2);
  });

  it("give keys to a command that has none, and none to one that has some", () => {
    const [picture, map] = [command("graph.copyPicture"), command("view.minimap")];
    setKeys("graph.copyPicture", ["Alt+P"]);
    setKeys("view.minimap", []);
    press({ key: "p", altKey: true });
    press({ key: "m" });
    expect(picture).toHaveBeenCalledOnce();
    expect(map).not.toHaveBeenCalled();
  });

  it("are taken from the command that has them, whose other keys stay", () => {
    setKeys("view.minimap", ["F5"]);
    expect(keysOf("run.start")).toEqual(["Mod+Enter"]);
    resetAllKeys();
    expect(keysOf("run.start")).toEqual(["F5", "Mod+Enter"]);
    expect(keysOf("view.minimap")).toEqual(["M"]);
  });

  it("never write into a field, nor take what it does with text", () => {
    const [save, field] = [command("graph.save"), document.createElement("textarea")];
    document.body.append(field);
    for (const keys of ["S", "Shift+S", "Mod+C", "Mod+Shift+Z"])
      expect(scopeOf("graph.save", keys)).toBe("window");
    for (const keys of ["Mod+S", "Alt+S", "F7", "Shift+F7"]) expect(scopeOf("graph.save", keys)).toBe("app");
    setKeys("graph.save", ["S"]);
    press({ key: "s" }, field);
    expect(save).not.toHaveBeenCalled();
    press({ key: "s" });
    expect(save).toHaveBeenCalledOnce();
  });

  it("are written anew on screen when the settings are closed, not while they are open", () => {
    const { turn } = useShownKeys.getState();
    showSettings("keyboard");
    setKeys("run.start", ["Mod+R"]);
    expect(useShownKeys.getState().turn).toBe(turn);
    useSettingsAsked.setState({ tab: null });
    expect(useShownKeys.getState().turn).toBe(turn + 1);
    showSettings("keyboard");
    useSettingsAsked.setState({ tab: null });
    expect(useShownKeys.getState().turn, "nothing was changed").toBe(turn + 1);
  });
});

describe("shortcutOfEvent", () => {
  it.each<[Pressed, string | null]>([
    [{ key: "p", code: "KeyP", ctrlKey: true, shiftKey: true }, "Mod+Shift+P"],
    [{ key: "!", code: "Digit1", shiftKey: true, altKey: true }, "Alt+Shift+1"],
    [{ key: "?", code: "Slash", shiftKey: true }, "?"],
    [{ key: "+", code: "BracketRight", ctrlKey: true }, "Mod++"],
    [{ key: " ", code: "Space", ctrlKey: true }, "Mod+Space"],
    [{ key: "F7", code: "F7", shiftKey: true }, "Shift+F7"],
    [{ key: "ArrowUp", code: "ArrowUp", altKey: true }, "Alt+ArrowUp"],
    [{ key: "ы", code: "KeyS", ctrlKey: true }, "Mod+S"],
    [{ key: "Shift", code: "ShiftLeft", shiftKey: true }, null],
    [{ key: "k", code: "KeyK", metaKey: true }, null],
  ])("%o is %s", (pressed, keys) => {
    expect(shortcutOfEvent(event(pressed))).toBe(keys);
    if (keys !== null) expect(matches(event(pressed), keys), "and is known again").toBe(true);
  });

  it("knows every shortcut of the list by what it is written as", () => {
    for (const { keys } of Object.values(KEYMAP))
      for (const each of keys) expect(each).not.toMatch(/Ctrl|Cmd/);
  });
});
