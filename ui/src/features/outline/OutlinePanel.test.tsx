// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { doc } from "../../document/store";
import { END, START } from "../../document/types";
import { useSession } from "../../state/session";
import { OutlinePanel } from "./OutlinePanel";
import { rowsOf } from "./rows";

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
  expect(rowsOf(doc).map((row) => (row.kind === "node" ? row.name : `${row.target} ${row.mark}`))).toEqual([
    START,
    "a ",
    "a",
    "b yes",
    `${END} otherwise`,
    "c waits for b",
    "b",
    "c state.y",
    "c waits for a",
    "c",
  ]);
});
