// @vitest-environment jsdom
import { afterEach, describe, expect, it, vi } from "vitest";
import { dispatchKey, followComing, followFocus, registerCommand, runCommand } from "./commands";

describe("commands", () => {
  const undo: (() => void)[] = [];
  afterEach(() => undo.splice(0).forEach((each) => each()));

  const press = (key: string, ctrlKey = true) =>
    new KeyboardEvent("keydown", { key, ctrlKey, cancelable: true });

  const settings = (run: () => void, enabled = () => true) =>
    undo.push(registerCommand({ id: "settings.open", title: "Settings", group: "App", run, enabled }));

  /** Commands that come when `arrive` is called. */
  function toCome() {
    let arrive = () => {};
    let come: Promise<void> | null = new Promise((done) => {
      arrive = () => {
        come = null;
        done();
      };
    });
    const asked = vi.fn(() => come);
    undo.push(followComing(asked));
    return { asked, arrive: () => arrive() };
  }

  it("gives a list its keys while it is open, and the window when it is closing", () => {
    const run = vi.fn();
    undo.push(registerCommand({ id: "edit.undo", title: "Undo", group: "Edit", run }));
    document.body.innerHTML = `<div id="popup" data-open><div role="listbox"><input id="field"><div id="option" tabindex="-1"></div></div></div>`;
    const [popup, option, field] = ["popup", "option", "field"].map((id) => document.getElementById(id)!);
    const pressed = (at = option) => {
      const key = new KeyboardEvent("keydown", { key: "z", ctrlKey: true, cancelable: true, bubbles: true });
      let taken = false;
      document.addEventListener("keydown", (event) => (taken = dispatchKey(event)), { once: true });
      at!.dispatchEvent(key);
      return taken;
    };
    expect(pressed()).toBe(false);
    expect(pressed(field)).toBe(false);
    popup!.removeAttribute("data-open");
    popup!.setAttribute("data-closed", "");
    expect(pressed()).toBe(true);
    expect(pressed(field), "as do its fields").toBe(true);
    expect(run).toHaveBeenCalledTimes(2);
  });

  it("gives the keys of a closing palette to where the focus goes back to", () => {
    const run = vi.fn();
    undo.push(registerCommand({ id: "view.minimap", title: "Minimap", group: "View", run }), followFocus());
    document.body.innerHTML = `<div data-canvas tabindex="0"></div><button id="panel"></button>
      <div id="palette" role="dialog"><input></div><div id="list" role="listbox"><input></div>`;
    const at = (selector: string) => document.querySelector<HTMLElement>(selector)!;
    const pressed = (field: HTMLElement) => {
      const key = new KeyboardEvent("keydown", { key: "m", cancelable: true, bubbles: true });
      let taken = false;
      document.addEventListener("keydown", (event) => (taken = dispatchKey(event)), { once: true });
      field.dispatchEvent(key);
      return taken;
    };
    const field = at("#palette input");
    for (const [from, taken] of [
      ["[data-canvas]", true],
      ["#panel", false],
    ] as const) {
      at("#palette").removeAttribute("data-closed");
      at(from).focus();
      field.focus();
      expect(pressed(field), "while it is open").toBe(false);
      at("#palette").setAttribute("data-closed", "");
      expect(pressed(field), from).toBe(taken);
    }
    // With nothing in focus before, and a list of a dialog that stays.
    at("#palette").removeAttribute("data-closed");
    field.blur();
    field.focus();
    const item = at("#list input");
    at("#palette").setAttribute("data-closed", "");
    expect(pressed(field)).toBe(true);
    at("#palette").removeAttribute("data-closed");
    item.focus();
    at("#list").setAttribute("data-closed", "");
    expect(pressed(item)).toBe(false);
  });

  it("gives Tab to the canvas where nothing has the focus, and not where what had it was removed", () => {
    const run = vi.fn();
    undo.push(registerCommand({ id: "edit.addNode", title: "Add", group: "Edit", run }), followFocus());
    document.body.innerHTML = `<div data-canvas tabindex="0"></div><aside><button id="a"></button><button id="b"></button></aside>`;
    const tab = () => {
      const key = new KeyboardEvent("keydown", { key: "Tab", cancelable: true, bubbles: true });
      let taken = false;
      document.addEventListener("keydown", (event) => (taken = dispatchKey(event)), { once: true });
      (document.activeElement ?? document.body).dispatchEvent(key);
      return taken;
    };
    expect(tab(), "a window in which nothing was touched").toBe(true);
    document.getElementById("a")!.focus();
    document.getElementById("a")!.remove();
    expect(document.activeElement).toBe(document.body);
    expect(tab(), "goes on from where it was").toBe(false);
    document.querySelector<HTMLElement>("[data-canvas]")!.focus();
    expect(tab()).toBe(true);
    document.body.insertAdjacentHTML("beforeend", `<div role="dialog"><input id="c" /></div>`);
    document.getElementById("c")!.focus();
    document.getElementById("c")!.parentElement!.remove();
    expect(tab(), "a popup that is gone leads back to the canvas").toBe(true);
  });

  it("waits for commands that are yet to come, asked for by name and by key", async () => {
    const { asked, arrive } = toCome();
    expect(runCommand("settings.open")).toBe(true);
    const key = press(",");
    expect(dispatchKey(key)).toBe(true);
    expect(key.defaultPrevented).toBe(true);
    expect(asked).toHaveBeenCalledTimes(2);

    const run = vi.fn();
    settings(run);
    expect(run).not.toHaveBeenCalled();
    arrive();
    await Promise.resolve();
    expect(run).toHaveBeenCalledTimes(2);
    expect(dispatchKey(press(","))).toBe(true);
    expect(run).toHaveBeenCalledTimes(3);
  });

  it("keeps no key for a command that is there and cannot be run", async () => {
    const { asked, arrive } = toCome();
    const run = vi.fn();
    settings(run, () => false);
    expect(dispatchKey(press(","))).toBe(false);
    arrive();
    await Promise.resolve();
    expect(run).not.toHaveBeenCalled();
    expect(asked).not.toHaveBeenCalled();
  });

  it("leaves a key to the page when nothing brings its command", () => {
    const key = press(",");
    expect(dispatchKey(key)).toBe(false);
    expect(key.defaultPrevented).toBe(false);
  });
});
