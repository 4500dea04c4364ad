// @vitest-environment jsdom
import { EditorView } from "@codemirror/view";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, expect, test } from "vitest";
import type { ItemView } from "../../ipc/bindings/ItemView";
import { replaceHost } from "../../ipc/client";
import { memoryIds } from "../../lib/testIds";
import { runCommand } from "../../state/commands";
import { MemoryDialog } from "./MemoryDialog";

const item = (value: unknown, updatedAt: string): ItemView =>
  ({
    namespace: ["people"],
    key: "ada",
    value: { value, whole: true },
    createdAt: "2026-01-01T00:00:00Z",
    updatedAt,
  }) as unknown as ItemView;

let stored: ItemView;
/** Ends the save that is going on. */
let answer: () => void;

replaceHost({
  kind: "web",
  rpc: (command, request) => {
    switch (command) {
      case "store.namespaces":
        return Promise.resolve({ namespaces: [["people"]], more: false });
      case "store.items":
        return Promise.resolve({ items: [stored], more: false });
      case "store.get":
        return Promise.resolve(stored);
      case "store.outdated":
        return Promise.resolve({ items: 0, more: false });
      case "store.put": {
        const { value } = request as { value: unknown };
        stored = item(value, "2026-01-02T00:00:00Z");
        return new Promise((resolve) => (answer = () => resolve(stored)));
      }
      default:
        return Promise.reject(new Error(`${command} is not expected`));
    }
  },
  subscribe: () => () => {},
  watchConnection: () => () => {},
  setTitle: () => {},
});

// jsdom measures nothing; CodeMirror asks where its cursor is.
Range.prototype.getClientRects = () => [] as unknown as DOMRectList;

const editor = () =>
  EditorView.findFromDOM(screen.getByTestId(memoryIds.value).querySelector<HTMLElement>(".cm-editor")!)!;
const type = (text: string) =>
  act(async () => editor().dispatch({ changes: { from: 0, to: editor().state.doc.length, insert: text } }));

beforeEach(() => {
  cleanup();
  stored = item({ text: "nougat" }, "2026-01-01T00:00:00Z");
});

test("what is typed while a save goes on is not lost by a click beside it", async () => {
  await act(async () => void render(<MemoryDialog />));
  await act(async () => void runCommand("memory.open"));
  await act(async () => void fireEvent.click(screen.getByTestId(memoryIds.item)));
  await screen.findByTestId(memoryIds.value);
  await act(async () => void (await import("../../components/code/editor")));
  await type('{"text": "marzipan"}');
  await act(async () => void fireEvent.click(screen.getByTestId(memoryIds.save)));
  await type("broken");
  await act(async () => answer());
  await act(async () => void fireEvent.click(screen.getByTestId(memoryIds.add)));
  expect(screen.getByRole("button", { name: "Cancel" })).toBeTruthy();
  expect(editor().state.doc.toString()).toBe("broken");
});
