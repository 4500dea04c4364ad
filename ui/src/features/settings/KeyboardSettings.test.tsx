// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { AppInfo } from "../../ipc/bindings/AppInfo";
import { replaceHost } from "../../ipc/client";
import { formsIds } from "../../lib/testIds";
import { registerCommands } from "../../state/commands";
import { keysOf, setOwnKeys } from "../../state/keymap";
import { followKeys } from "../../state/custom-keys";
import { useSession } from "../../state/session";
import { fakeHost } from "../../test/fakeHost";
import { KeyboardSettings } from "./KeyboardSettings";

followKeys();
let undo = () => {};
beforeEach(async () => {
  const host = fakeHost(new Map());
  replaceHost(host);
  useSession.getState().setAppInfo((await host.rpc("app.info", {})) as AppInfo);
  undo = registerCommands([
    { id: "graph.save", title: "Save", group: "File", run: vi.fn() },
    { id: "graph.open", title: "Open", group: "File", run: vi.fn() },
    { id: "graph.copyPicture", title: "Copy picture", group: "File", run: vi.fn() },
  ]);
  render(<KeyboardSettings />);
});
afterEach(() => {
  cleanup();
  undo();
  setOwnKeys({});
});

const row = (id: string) => within(screen.getByTestId(formsIds.keyboardRow(id)));
const change = (id: string) => fireEvent.click(row(id).getByTestId(formsIds.keyboardChange));
const press = (key: string, more: object = {}) => fireEvent.keyDown(document.body, { key, ...more });

it("takes the keys that are pressed, and resets them", () => {
  change("graph.copyPicture");
  press("Shift", { shiftKey: true });
  expect(
    row("graph.copyPicture").queryByTestId(formsIds.keyboardRecorder),
    "it still listens",
  ).not.toBeNull();
  press("p", { altKey: true });
  expect(keysOf("graph.copyPicture")).toEqual(["Alt+P"]);
  fireEvent.click(row("graph.copyPicture").getByTestId(formsIds.keyboardReset));
  expect(keysOf("graph.copyPicture")).toEqual([]);
  expect(row("graph.copyPicture").getByText("No shortcut")).toBeTruthy();
});

it("says which command has the keys, and takes them only when that is wished", () => {
  change("graph.copyPicture");
  press("s", { ctrlKey: true });
  expect(row("graph.copyPicture").getByRole("alert").textContent).toBe("Used by: Save");
  expect(keysOf("graph.copyPicture")).toEqual([]);
  expect(keysOf("graph.save")).toEqual(["Mod+S"]);
  // Other keys instead.
  press("Enter");
  expect(row("graph.copyPicture").getByRole("alert").textContent).toContain("need this key");
  expect(row("graph.copyPicture").queryByTestId(formsIds.keyboardTake)).toBeNull();
  press("s", { ctrlKey: true });
  fireEvent.click(row("graph.copyPicture").getByTestId(formsIds.keyboardTake));
  expect(keysOf("graph.copyPicture")).toEqual(["Mod+S"]);
  expect(keysOf("graph.save")).toEqual([]);
  fireEvent.click(screen.getByTestId(formsIds.keyboardResetAll));
  expect(keysOf("graph.save")).toEqual(["Mod+S"]);
});

it("leaves everything as it was with Escape, and finds commands by their keys", () => {
  change("graph.save");
  press("Escape");
  expect(row("graph.save").queryByTestId(formsIds.keyboardRecorder)).toBeNull();
  expect(keysOf("graph.save")).toEqual(["Mod+S"]);
  fireEvent.change(screen.getByTestId(formsIds.keyboardSearch), { target: { value: "Ctrl+O" } });
  expect(screen.queryByTestId(formsIds.keyboardRow("graph.open"))).not.toBeNull();
  expect(screen.queryByTestId(formsIds.keyboardRow("graph.copyPicture"))).toBeNull();
});
