// @vitest-environment jsdom
import { beforeEach, expect, it } from "vitest";
import { doc } from "../document/store";
import { openGraph } from "../document/open-graph";
import type { GraphView } from "../ipc/bindings/GraphView";
import { replaceHost } from "../ipc/client";
import { useSession } from "../state/session";
import { fakeHost } from "../test/fakeHost";
import { selectionActions } from "./CanvasMenu";
import { setCanvas } from "./store";

beforeEach(() => {
  replaceHost(fakeHost(new Map()));
  setCanvas({ lines: [] });
  openGraph({
    graphId: "g",
    name: "G",
    rev: 0,
    savedRev: 0,
    records: [
      { id: "doc", value: { name: "G" } },
      { id: "node:a", value: { kind: "assign", config: {} } },
      { id: "node:b", value: { kind: "assign", config: {} } },
      { id: "node:n", value: { kind: "note", config: { text: "x", color: "green" } } },
      { id: "edge:a->b", value: { from: "a", to: "b" } },
    ],
    diagnostics: [],
    leads: {},
  } as unknown as GraphView);
});

const select = (selection: { nodes?: string[]; edges?: string[] }) => useSession.getState().select(selection);
const titles = () => selectionActions().map((action) => action.title);

it("offers the forms of the selected edge by name, and makes them", () => {
  select({ edges: ["a->b"] });
  expect(titles()).toContain("Follow this edge: When a condition holds");
  expect(titles(), "it has this form already").not.toContain("Follow this edge: Always");
  selectionActions()
    .find((action) => action.id === "form-when")
    ?.run();
  expect(doc.get("edge:a->b")).toHaveProperty("when");
  expect(titles()).toContain("Follow this edge: Always");
});

it("offers what the menu of a node has beside commands, and the colours of a note", () => {
  select({ nodes: ["a"] });
  expect(selectionActions().map((action) => action.id)).toEqual(
    expect.arrayContaining(["before", "after", "conditional", "probe"]),
  );
  select({ nodes: ["n"] });
  expect(titles()).toContain("Colour: Blue");
  expect(titles()).not.toContain("Colour: Green");
});

it("offers nothing for several things, or for none", () => {
  select({ nodes: ["a", "b"] });
  expect(titles()).toEqual([]);
  select({});
  expect(titles()).toEqual([]);
});
