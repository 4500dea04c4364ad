// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { doc } from "../../document/store";
import type { GraphDocument } from "../../document/document";
import { addPath, setEdgeForm } from "../../document/edge-edits";
import { connect, deleteThings, renameNode, setField } from "../../document/edits";
import { moveLine } from "../../document/order";
import { op, type Patch, reversed } from "../../document/patch";
import { END, START, type Json } from "../../document/types";
import { dispatchKey, registerCommand } from "../../state/commands";
import { useSession } from "../../state/session";
import { OutlinePanel } from "./OutlinePanel";
import { Outline, rowsOf } from "./rows";

Object.defineProperty(window, "PointerEvent", { value: MouseEvent, configurable: true });
const NODES = 10_000;
const edge = (from: string, to: string) => ({ id: `edge:${from}->${to}`, value: { from, to } });
const name = (index: number) => `n${index}`;

beforeEach(() => {
  // jsdom lays nothing out: a panel of a usual height.
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(600);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(260);
  doc.reset([
    { id: "doc", value: {} },
    ...Array.from({ length: NODES }, (_, index) => ({
      id: `node:${name(index)}`,
      value: { kind: "assign", config: {} },
    })),
    edge(START, name(0)),
    ...Array.from({ length: NODES - 1 }, (_, index) => edge(name(index), name(index + 1))),
    edge(name(NODES - 1), END),
  ]);
  useSession.getState().select({});
});
afterEach(cleanup);

const rows = () => screen.getAllByRole("treeitem");
const press = (key: string) => fireEvent.keyDown(document.activeElement ?? document.body, { key });

describe("the outline of a graph of 10,000 nodes", () => {
  it("mounts the rows in view only, and says how many there are", () => {
    render(<OutlinePanel />);
    expect(rows().length).toBeLessThan(100);
    expect(rows()[0]?.getAttribute("aria-setsize")).toBe(String(NODES + 1));
  });

  it("is walked with the keyboard, and Enter selects what it is on", () => {
    render(<OutlinePanel />);
    rows()[0]?.focus();
    press("ArrowDown");
    expect(document.activeElement?.textContent).toContain(name(0));
    press("ArrowRight");
    expect(document.activeElement?.getAttribute("aria-level")).toBe("1");
    press("End");
    expect(document.activeElement?.textContent).toContain("End");
    press("Enter");
    expect(useSession.getState().selection.edges).toEqual([`${name(NODES - 1)}->${END}`]);
    press("Home");
    expect(document.activeElement?.textContent).toContain("Start");
  });

  it("deletes a node and goes on at the row that takes its place", () => {
    render(<OutlinePanel />);
    rows()[0]?.focus();
    for (const key of ["ArrowDown", "ArrowRight", "Delete"]) press(key);
    expect(doc.has(`node:${name(0)}`)).toBe(false);
    expect(rows()).toContain(document.activeElement);
  });
});

it("rows of a route, a condition and a join say what leads there", () => {
  doc.reset([
    { id: "doc", value: {} },
    ...["a", "b", "c"].map((each) => ({ id: `node:${each}`, value: { kind: "assign", config: {} } })),
    { id: "edge:1", value: { from: START, to: "a" } },
    { id: "edge:2", value: { from: "a", route: "state.x", paths: { yes: "b" }, default: END } },
    { id: "edge:3", value: { from: "b", to: "c", when: "state.y" } },
    { id: "edge:4", value: { from: ["b", "a"], to: "c" } },
  ]);
  expect(
    rowsOf(doc).map((row) =>
      row.kind === "node" || row.kind === "inside"
        ? row.name
        : `${row.kind === "edge" ? row.target : "?"} ${row.mark}`,
    ),
  ).toEqual([
    START,
    "a ",
    "a",
    "b yes",
    `${END} else`,
    "c waits for b",
    "b",
    "c state.y",
    "c waits for a",
    "c",
  ]);
});

it("rows are the same list until something that they show is another one", () => {
  const router = (label: string, note: string) => ({
    kind: "router",
    config: { ways: [{ label }], into: "way", note },
  });
  doc.reset([
    { id: "doc", value: {} },
    { id: "node:choose", value: router("left", "") },
    { id: "node:a", value: { kind: "assign", config: {} } },
    { id: "edge:1", value: { from: START, to: "choose" } },
    { id: "layout:a", value: [0, 0] },
  ]);
  const outline = new Outline(doc);
  const stop = outline.follow();
  const set = (id: string, to: Json | undefined) => doc.apply({ ops: [op(id, doc.get(id), to)] });
  let before = outline.rows();
  const steps: [string, Json | undefined, boolean][] = [
    ["layout:a", [40, 80], false],
    ["node:choose", router("left", "Which way?"), false],
    ["node:a", { kind: "assign", config: { set: { x: "1" } } }, false],
    ["node:choose", router("right", "Which way?"), true],
    ["edge:2", { from: "choose", route: "state.way", paths: { right: "a" } }, true],
    ["node:a", { kind: "assign", config: {}, fallback: { to: END } }, true],
    ["node:b", { kind: "assign", config: {} }, true],
    ["layout:b", [1, 1], false],
    ["node:b", undefined, true],
  ];
  for (const [id, to, changes] of steps) {
    set(id, to);
    const now = outline.rows();
    expect(now !== before, `${id} ${JSON.stringify(to)}`).toBe(changes);
    expect(now).toEqual(rowsOf(doc));
    before = now;
  }
  stop();
  set("node:c", { kind: "assign", config: {} });
  expect(outline.rows(), "without following it looks at the version").toEqual(rowsOf(doc));
});

it("rows follow what is done to a graph as if they were read again", () => {
  const names = ["a", "b", "c", "d"];
  doc.reset([
    { id: "doc", value: {} },
    ...names.map((each) => ({ id: `node:${each}`, value: { kind: "assign", config: {} } })),
    edge(START, "a"),
    edge("a", "b"),
    edge("a", "c"),
    edge("b", "d"),
    { id: "edge:join", value: { from: ["b", "c"], to: "d" } },
  ]);
  const outline = new Outline(doc);
  outline.rows();
  const stop = outline.follow();
  const steps: ((document: GraphDocument) => Patch)[] = [
    (document) => moveLine(document, "a->c", "", -1),
    (document) => setEdgeForm(document, "a->b", "route"),
    (document) => addPath(document, "a->b", "other", "d"),
    (document) => connect(document, "d", "a"),
    (document) => renameNode(document, "d", "last", []),
    (document) => deleteThings(document, { paths: [{ edge: "a->b", part: "other" }] }),
    (document) => deleteThings(document, { nodes: ["c"] }),
    (document) => deleteThings(document, { edges: [`${START}->a`] }),
    (document) => setField(document, "node:b", "/fallback", { to: "last" }),
    (document) => deleteThings(document, { nodes: ["a", "last"] }),
  ];
  const check = (what: string) => {
    expect(outline.rows(), what).toEqual(rowsOf(doc));
    for (const [index, row] of outline.rows().entries()) expect(outline.placeOf(row.id)).toBe(index);
    expect(outline.placeOf("node:gone")).toBeUndefined();
  };
  const done = steps.map((step, index) => {
    const patch = doc.apply(step(doc));
    check(`step ${index}`);
    return patch;
  });
  for (const [index, patch] of [...done.entries()].reverse()) {
    doc.apply(reversed(patch));
    check(`step ${index} taken back`);
  }
  // Several changes before they are read.
  for (const patch of done.slice(0, 6)) doc.apply(patch);
  check("six steps at once");
  stop();
});

describe("what leaves a node that chooses", () => {
  beforeEach(() =>
    doc.reset([
      { id: "doc", value: {} },
      {
        id: "node:choose",
        value: { kind: "router", config: { ways: [{ label: "left" }, { label: "right" }], into: "way" } },
      },
      ...["a", "b"].map((each) => ({ id: `node:${each}`, value: { kind: "assign", config: {} } })),
      { id: "edge:1", value: { from: START, to: "choose" } },
      { id: "edge:2", value: { from: "choose", route: "state.way", paths: { left: "a" } } },
      { id: "edge:3", value: { from: "choose", to: "b" } },
    ]),
  );
  const shown = () => rows().map((row) => row.textContent);

  it("lists its edges and then the ways that lead nowhere yet", () => {
    render(<OutlinePanel />);
    expect(screen.getByTestId("outline-way-choose-right").textContent).toContain("Not connected");
    expect(screen.getByTestId("outline-way-choose-right").getAttribute("aria-setsize")).toBe("3");
  });

  it("renames a way in place, in the settings and in the route", () => {
    render(<OutlinePanel />);
    act(() => screen.getByTestId("outline-edge-2").focus());
    press("F2");
    const input = screen.getByRole("textbox");
    fireEvent.change(input, { target: { value: "west" } });
    fireEvent.keyDown(input, { key: "Enter" });
    expect(doc.get("edge:2")).toMatchObject({ paths: { west: "a" } });
    expect(doc.get("node:choose")).toMatchObject({
      config: { ways: [{ label: "west" }, { label: "right" }] },
    });
  });

  it("changes the order of edges, and keeps the focus on the one that moved", () => {
    render(<OutlinePanel />);
    act(() => screen.getByTestId("outline-edge-3").focus());
    fireEvent.keyDown(document.activeElement!, { key: "ArrowUp", altKey: true });
    expect(doc.names("edge")).toEqual(["1", "3", "2"]);
    expect(document.activeElement).toBe(screen.getByTestId("outline-edge-3"));
    expect(shown().join()).toMatch(/b.*a/);
  });

  it("disables with D, and says so", () => {
    render(<OutlinePanel />);
    act(() => screen.getByTestId("outline-node-a").focus());
    press("d");
    expect(doc.get("node:a")).toMatchObject({ disabled: true });
    expect(screen.getByTestId("outline-node-a").textContent).toContain("Disabled");
  });
});

describe("several rows", () => {
  beforeEach(() =>
    doc.reset([
      { id: "doc", value: {} },
      ...["a", "b", "c", "d"].map((each) => ({ id: `node:${each}`, value: { kind: "assign", config: {} } })),
      edge(START, "a"),
      edge("a", "b"),
      edge("b", "c"),
      edge("c", "d"),
    ]),
  );
  const press = (key: string, how: { shiftKey?: boolean; ctrlKey?: boolean } = {}) =>
    fireEvent.keyDown(document.activeElement!, { key, ...how });
  const selected = () => useSession.getState().selection.nodes;
  const go = (node: string) => act(() => screen.getByTestId(`outline-node-${node}`).focus());

  it("are chosen freely with Space, and the tree says that several may be", () => {
    render(<OutlinePanel />);
    expect(screen.getByRole("tree").getAttribute("aria-multiselectable")).toBe("true");
    go("a");
    press(" ");
    for (let steps = 0; steps < 4; steps += 1) press("ArrowDown", { ctrlKey: true });
    expect(document.activeElement, "Ctrl walks and selects nothing").toBe(
      screen.getByTestId("outline-node-c"),
    );
    expect(selected()).toEqual(["a"]);
    press(" ", { ctrlKey: true });
    expect(selected()).toEqual(["a", "c"]);
    expect(screen.getByTestId("outline-node-c").getAttribute("aria-selected")).toBe("true");
    press(" ");
    expect(selected()).toEqual(["a"]);
  });

  it("are taken in and let go with Shift and the arrows, beside what was chosen before", () => {
    render(<OutlinePanel />);
    go("a");
    press(" ");
    go("c");
    press(" ");
    press("ArrowDown", { shiftKey: true });
    expect(selected()).toEqual(["a", "c", "d"]);
    press("ArrowUp", { shiftKey: true });
    expect(selected()).toEqual(["a", "c"]);
    press("ArrowUp", { shiftKey: true });
    expect(selected()).toEqual(["a", "c", "b"]);
    go("a");
    press("Enter");
    expect(selected(), "Enter is about one").toEqual(["a"]);
    press("ArrowDown", { shiftKey: true });
    expect(selected()).toEqual(["a", "b"]);
  });

  it("are disabled and deleted together from any of them", () => {
    render(<OutlinePanel />);
    go("b");
    press(" ");
    press("ArrowDown", { shiftKey: true });
    press("d");
    expect(doc.get("node:b")).toMatchObject({ disabled: true });
    expect(doc.get("node:c")).toMatchObject({ disabled: true });
    press("Delete");
    expect(doc.names("node")).toEqual(["a", "d"]);
  });

  it("have the shortcuts of a selection, and moving has keys of its own", () => {
    const done: string[] = [];
    const undo = ["graph.extract", "edit.frame", "align.left", "nudge.left", "edit.addNode"].map((id) =>
      registerCommand({ id, title: id, group: "", run: () => void done.push(id) }),
    );
    const onKey = (event: KeyboardEvent) => void dispatchKey(event);
    window.addEventListener("keydown", onKey);
    render(<OutlinePanel />);
    go("a");
    press("g", { ctrlKey: true });
    press("F", { ctrlKey: true, shiftKey: true });
    fireEvent.keyDown(document.activeElement!, { key: "ArrowLeft", altKey: true, shiftKey: true });
    press("ArrowLeft", { ctrlKey: true, shiftKey: true });
    press("Tab");
    expect(done, "Tab leaves the list").toEqual(["graph.extract", "edit.frame", "align.left", "nudge.left"]);
    window.removeEventListener("keydown", onKey);
    undo.forEach((each) => each());
  });
});
