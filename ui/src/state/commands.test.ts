// @vitest-environment jsdom
import { afterEach, describe, expect, it, vi } from "vitest";
import { dispatchKey, followAbsent, registerCommand, runCommand } from "./commands";

describe("commands", () => {
  const undo: (() => void)[] = [];
  afterEach(() => undo.splice(0).forEach((each) => each()));

  const press = (key: string, ctrlKey = true) =>
    new KeyboardEvent("keydown", { key, ctrlKey, cancelable: true });

  it("says which commands are absent when they are run, by name and by key", () => {
    const absent = vi.fn(() => true);
    undo.push(followAbsent(absent));
    expect(runCommand("settings.open")).toBe(true);
    const key = press(",");
    expect(dispatchKey(key)).toBe(true);
    expect(key.defaultPrevented).toBe(true);
    expect(absent.mock.calls).toEqual([[["settings.open"]], [["settings.open"]]]);

    const run = vi.fn();
    undo.push(registerCommand({ id: "settings.open", title: "Settings", group: "App", run }));
    expect(dispatchKey(press(","))).toBe(true);
    expect(runCommand("settings.open")).toBe(true);
    expect(run).toHaveBeenCalledTimes(2);
    expect(absent).toHaveBeenCalledTimes(2);
  });

  it("keeps no key for a command that is there and cannot be run", () => {
    const absent = vi.fn(() => true);
    undo.push(followAbsent(absent));
    const run = vi.fn();
    const command = { id: "settings.open", title: "Settings", group: "App", run, enabled: () => false };
    undo.push(registerCommand(command));
    expect(dispatchKey(press(","))).toBe(false);
    expect(run).not.toHaveBeenCalled();
    expect(absent).not.toHaveBeenCalled();
  });

  it("leaves a key to the page when nothing brings its command", () => {
    const key = press(",");
    expect(dispatchKey(key)).toBe(false);
    expect(key.defaultPrevented).toBe(false);
  });
});
