// @vitest-environment jsdom
import { act, fireEvent, render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import type { ItemView } from "../../ipc/bindings/ItemView";
import { replaceHost } from "../../ipc/client";
import { memoryIds } from "../../lib/testIds";
import { runCommand } from "../../state/commands";
import { MemoryDialog } from "./MemoryDialog";

const item: ItemView = {
  namespace: ["people", "ada"],
  key: "diet",
  value: { kind: "object", bytes: 24, length: 1, value: { text: "eats no meat" } },
  createdAt: "2026-01-01T00:00:00Z",
  updatedAt: "2026-01-01T00:00:00Z",
};
/** Answers of searches, in order. */
const answers: ((items: ItemView[]) => void)[] = [];

replaceHost({
  kind: "web",
  rpc: (command) => {
    switch (command) {
      case "store.namespaces":
        return Promise.resolve({ namespaces: [["people", "ada"]], more: false });
      case "store.items":
        return new Promise((resolve) => answers.push((items) => resolve({ items, more: false })));
      case "store.outdated":
        return Promise.resolve({ items: 0, more: false });
      default:
        return Promise.reject(new Error(`${command} is not expected`));
    }
  },
  subscribe: () => () => {},
  watchConnection: () => () => {},
  setTitle: () => {},
});

test("the list and the focus in it stay while a search is read", async () => {
  await act(async () => void render(<MemoryDialog />));
  await act(async () => void runCommand("memory.open"));
  await act(async () => answers.splice(0).forEach((answer) => answer([item])));
  const list = screen.getByRole("listbox");
  list.focus();
  const searched = answers.length;
  await act(async () => {
    fireEvent.change(screen.getByTestId(memoryIds.search), { target: { value: "meat" } });
    await new Promise((done) => setTimeout(done, 300));
  });
  expect(answers.length).toBeGreaterThan(searched);
  expect(screen.getByRole("listbox")).toBe(list);
  expect(document.activeElement).toBe(list);
  await act(async () => answers.splice(0).forEach((answer) => answer([])));
  expect(screen.queryByRole("listbox")).toBeNull();
});
