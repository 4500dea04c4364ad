// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { registerCanvasCommands } from "../canvas/canvas-commands";
import { CommandPalette } from "../features/command-palette/CommandPalette";
import {
  actionsOf,
  firstChosen,
  kindEntries,
  rankEntries,
  type Ranked,
} from "../features/command-palette/ranking";
import { registerRevert } from "../features/files/unsaved";
import { FindDialogs } from "../features/find";
import { MemoryDialog } from "../features/memory";
import { RunControls } from "../features/run";
import { SettingsDialog } from "../features/settings";
import { CodeDialog, ExportDialog } from "../features/export";
import { BlockDialog, ExtractDialog } from "../features/structure";
import { TypesDialog } from "../features/state-schema";
import { StorageDialogs } from "../features/storage";
import { TrustDialogs } from "../features/trust";
import { replaceHost } from "../ipc/client";
import { formsIds } from "../lib/testIds";
import { allCommands, followComing, registerCommand, runCommand } from "../state/commands";
import { fakeHost } from "../test/fakeHost";
import type { NodeKind } from "../ipc/bindings/NodeKind";
import { useInbox } from "../debugger/model/inbox";
import { registerPanelCommands } from "./panel-commands";
import { registerShellCommands } from "./shell-commands";
import { MENU } from "./TitleBar";

const graphs = resolve(import.meta.dirname, "../../../graphs");
const examples = readdirSync(graphs).map((id) => {
  const { name, description } = JSON.parse(readFileSync(resolve(graphs, id, "graph.json"), "utf8")) as {
    name: string;
    description?: string;
  };
  return { id: `example:${id}`, title: name, text: description, group: "Open example" };
});

/** What the guide calls a thing, and the command that is meant. */
const GUIDE: readonly (readonly [query: string, command: string])[] = [
  ["new graph", "graph.new"],
  ["examples", "graph.home"],
  ["design", "use.design"],
  ["debug", "use.debug"],
  ["approve", "use.approve"],
  ["inbox", "use.approve"],
  ["add a node", "edit.addNode"],
  ["patterns", "edit.addNode"],
  ["rename", "edit.rename"],
  ["undo", "edit.undo"],
  ["copy", "edit.copy"],
  ["paste", "edit.paste"],
  ["save", "graph.save"],
  ["versions", "graph.versions"],
  ["problems", "tab.problems"],
  ["types of the state", "graph.types"],
  ["export", "graph.export"],
  ["generate code", "graph.code"],
  ["mermaid", "graph.export"],
  ["picture", "graph.copyPicture"],
  ["png", "graph.export"],
  ["subgraph", "graph.extract"],
  ["save as block", "graph.saveBlock"],
  ["library", "graph.saveBlock"],
  ["ungroup", "graph.inline"],
  ["frame", "edit.frame"],
  ["find", "find.open"],
  ["find and replace", "find.replace"],
  ["go to definition", "find.definition"],
  ["find uses", "find.uses"],
  ["usages", "find.uses"],
  ["close tab", "graph.closeTab"],
  ["align left", "align.left"],
  ["upstream", "select.upstream"],
  ["paste with incoming edges", "edit.pasteConnected"],
  ["run", "run.start"],
  ["continue", "run.continue"],
  ["step", "run.step"],
  ["step into", "run.stepInto"],
  ["step out", "run.stepOut"],
  ["stop", "run.stop"],
  ["pause after", "run.pause"],
  ["breakpoint", "debug.breakpoint"],
  ["run to cursor", "debug.runTo"],
  ["models", "run.withInput"],
  ["sample", "run.withInput"],
  ["replay", "run.replay"],
  ["back to now", "debug.backToNow"],
  ["timeline", "tab.timeline"],
  ["messages", "tab.messages"],
  ["stream", "tab.stream"],
  ["state", "tab.state"],
  ["threads", "tab.threads"],
  ["storage", "storage.open"],
  ["size", "storage.open"],
  ["clean up", "storage.open"],
  ["check", "storage.open"],
  ["database", "storage.open"],
  ["memory", "memory.open"],
  ["long-term memory", "memory.open"],
  ["settings", "settings.open"],
  ["python", "settings.open"],
  ["storage and memory", "settings.storage"],
  ["trust", "settings.trust"],
  ["model connections", "settings.connections"],
  ["permissions", "trust.open"],
];

let undo: (() => void)[] = [];
beforeEach(() => {
  replaceHost(fakeHost(new Map()));
  Element.prototype.scrollIntoView = () => {};
  const nothing = {} as Parameters<typeof registerCanvasCommands>[0];
  render(
    <>
      <MemoryDialog />
      <RunControls />
      <SettingsDialog />
      <StorageDialogs />
      <TrustDialogs />
      <ExportDialog />
      <CodeDialog />
      <BlockDialog />
      <ExtractDialog />
      <FindDialogs />
      <TypesDialog />
    </>,
  );
  undo = [
    registerShellCommands(),
    registerPanelCommands(),
    registerCanvasCommands(nothing),
    registerRevert(),
  ];
});
afterEach(() => {
  cleanup();
  undo.forEach((each) => each());
  localStorage.clear();
});

const entries = (): Ranked[] => [...actionsOf(allCommands()), ...examples];

it("every entry of the main menu is a command", () => {
  const known = new Set(allCommands().map((command) => command.id));
  expect(MENU.flat().filter(({ id }) => !known.has(id))).toEqual([]);
});

describe("the command palette", () => {
  it.each(GUIDE)("finds %s of the guide first", (query, command) => {
    const found = rankEntries(entries(), query, []);
    expect(
      found[0]?.id,
      `first of ${found
        .slice(0, 4)
        .map((entry) => entry.title)
        .join(" | ")}`,
    ).toBe(command);
    expect(firstChosen(found, query)).toBe(0);
  });

  it.each(["answer", "reply"])("leads to the question that waits by %s, and not to a new node", (query) => {
    const kind = {
      kind: "ask",
      title: "Ask",
      icon: "x",
      aliases: ["answer", "reply"],
    } as unknown as NodeKind;
    const enabled = allCommands().filter((command) => command.enabled?.() !== false);
    expect(enabled.map(({ id }) => id)).not.toContain("run.answer");
    useInbox.setState({ waiting: 1 });
    const all = [
      ...actionsOf(allCommands().filter((each) => each.enabled?.() !== false)),
      ...kindEntries([kind]),
    ];
    expect(rankEntries(all, query, [])[0]?.id).toBe("run.answer");
    useInbox.setState({ waiting: 0 });
  });

  it("lists what destroys last, also when it was used last, and does not choose it", () => {
    const found = rankEntries(entries(), "", ["graph.revert"]);
    expect(found.at(-1)?.id).toBe("graph.revert");
    expect(found[0]?.destructive).not.toBe(true);
  });

  it("chooses what destroys only when its name is typed", () => {
    const revert = entries().filter((entry) => entry.id === "graph.revert");
    for (const query of ["", "d", "dis", "file", "dcgf", "back to the"]) {
      const found = rankEntries(revert, query, []);
      expect(firstChosen(found, query), query).toBe(-1);
    }
    expect(rankEntries(entries(), "discard", [])[0]?.id).toBe("graph.revert");
    expect(firstChosen(rankEntries(entries(), "go back to the file", []), "go back to the file")).toBe(-1);
  });

  it("runs nothing by Enter when only something destructive fits", async () => {
    const destroy = vi.fn();
    undo.push(
      registerCommand({ id: "x", title: "Purge everything", group: "x", destructive: true, run: destroy }),
    );
    vi.stubGlobal("requestAnimationFrame", (run: () => void) => setTimeout(run, 0));
    render(<CommandPalette />);
    runCommand("palette.open");
    const input = await screen.findByRole("combobox");
    fireEvent.change(input, { target: { value: "pgevy" } });
    expect(screen.getByTestId(formsIds.commandEntry("x"))).toBeTruthy();
    fireEvent.keyDown(input, { key: "Enter" });
    await new Promise((done) => setTimeout(done, 20));
    expect(destroy).not.toHaveBeenCalled();
    fireEvent.keyDown(input, { key: "ArrowDown" });
    fireEvent.keyDown(input, { key: "Enter" });
    await vi.waitFor(() => expect(destroy).toHaveBeenCalledOnce());
  });

  it("holds Enter until the commands that are yet to come are there", async () => {
    let come: Promise<void> | null = null;
    let arrive = () => {};
    come = new Promise((done) => {
      arrive = done;
    });
    undo.push(followComing(() => come));
    const other = vi.fn();
    const meant = vi.fn();
    undo.push(registerCommand({ id: "x", title: "Zinc or zirconia", group: "x", run: other }));
    vi.stubGlobal("requestAnimationFrame", (run: () => void) => setTimeout(run, 0));
    render(<CommandPalette />);
    runCommand("palette.open");
    const input = await screen.findByRole("combobox");
    fireEvent.change(input, { target: { value: "zirconia" } });
    fireEvent.keyDown(input, { key: "Enter" });
    await new Promise((done) => setTimeout(done, 20));
    expect(other).not.toHaveBeenCalled();

    undo.push(registerCommand({ id: "y", title: "Zirconia", group: "x", run: meant }));
    come = null;
    arrive();
    await vi.waitFor(() => expect(meant).toHaveBeenCalledOnce());
    expect(other).not.toHaveBeenCalled();
    expect(screen.queryByRole("combobox")).toBeNull();
  });
});
