// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { ReactFlowProvider, type NodeProps } from "@xyflow/react";
import { afterEach, beforeEach, expect, it } from "vitest";
import { doc, useDocumentState } from "../document/store";
import { replaceHost } from "../ipc/client";
import { shellIds, structureIds } from "../lib/testIds";
import { fakeHost, fileRecords } from "../test/fakeHost";
import { unfoldAll } from "./folds";
import { NoteCard } from "./NoteCard";
import { scene } from "./scene";

const frame = { kind: "note", config: { text: "Twice", frame: true, width: 600, height: 300 } };

beforeEach(() => {
  replaceHost(fakeHost(new Map()));
  doc.reset(
    fileRecords({
      name: "Folding",
      nodes: { part: frame, one: { kind: "assign" }, remark: { kind: "note", config: { text: "x" } } },
      edges: [],
      layout: { __start__: [-200, 0], part: [0, 0], one: [20, 60], remark: [300, 60], __end__: [900, 0] },
    }),
  );
});
afterEach(() => {
  cleanup();
  unfoldAll();
});

it("is a card with its title, its nodes and their problems, and a button that unfolds it", () => {
  const problem = { code: "x", severity: "error" as const, record: "node:one", message: "Set a key." };
  useDocumentState.setState({ diagnostics: [problem as never] });
  render(
    <ReactFlowProvider>
      <NoteCard {...({ id: "part", selected: false } as NodeProps)} />
    </ReactFlowProvider>,
  );
  const card = () => screen.getByTestId(shellIds.node("part"));
  expect(card().textContent).toContain("Twice");
  const button = () => screen.getByTestId(structureIds.foldFrame("part"));
  expect(button().getAttribute("aria-label")).toBe("Fold frame");
  fireEvent.click(button());
  expect(scene.shown("one")).toBe("part");
  expect(card().hasAttribute("data-folded")).toBe(true);
  // Notes are no nodes that run.
  expect(card().textContent).toBe("part1 node, folded");
  expect(card().getAttribute("aria-label")).toContain("1 node, folded");
  expect(screen.getByTitle("Set a key.").getAttribute("data-tone")).toBe("failed");
  fireEvent.click(button());
  expect(card().hasAttribute("data-folded")).toBe(false);
  expect(scene.shown("one")).toBe("one");
});
