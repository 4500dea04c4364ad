// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from "vitest";
import {
  keepTabs,
  keptTabs,
  moveTab,
  tabBeside,
  tabChanged,
  tabClosed,
  tabOpened,
  tabReplaced,
  useTabs,
} from "./tabs";

const open = (graphId: string, from: string | null = null) =>
  tabOpened({ graphId, path: `/${graphId}.json`, name: graphId }, from);
const ids = () => useTabs.getState().tabs.map(({ graphId }) => graphId);

beforeEach(() => {
  useTabs.setState({ tabs: [] });
  sessionStorage.clear();
  localStorage.clear();
});

describe("tabs", () => {
  it("stand behind the one that they were opened from", () => {
    open("a");
    open("c", "a");
    open("b", "a");
    expect(ids()).toEqual(["a", "b", "c"]);
    open("a", "c");
    expect(ids(), "a graph has one tab").toEqual(["a", "b", "c"]);
  });

  it("remember what was looked at", () => {
    open("a");
    const left = {
      selection: { nodes: ["n"], edges: [], key: null },
      cursor: { threadId: "t", checkpointId: null },
      compareWith: null,
    };
    tabChanged("a", { left, dirty: true });
    expect(open("a")).toBe(left);
    expect(useTabs.getState().tabs[0]?.dirty).toBe(true);
  });

  it("are moved, walked round, closed and renamed to another id", () => {
    for (const id of ["c", "b", "a"]) open(id);
    expect(ids()).toEqual(["c", "b", "a"]);
    moveTab("a", 0);
    expect(ids()).toEqual(["a", "c", "b"]);
    moveTab("a", 7);
    expect(ids(), "there is no such place").toEqual(["a", "c", "b"]);
    expect(tabBeside("b", 1)?.graphId).toBe("a");
    expect(tabBeside("b", 1, false)).toBeUndefined();
    expect(tabBeside(null, -1)?.graphId).toBe("b");
    tabReplaced("c", "c2");
    tabClosed("a");
    expect(ids()).toEqual(["c2", "b"]);
    tabReplaced("c2", "b");
    expect(ids(), "the same graph is there once").toEqual(["b"]);
  });

  it("come back with the window, and nonsense does not", () => {
    open("a");
    keepTabs("a");
    expect(keptTabs()).toEqual({
      tabs: [{ graphId: "a", path: "/a.json", name: "a", dirty: false }],
      shown: "a",
    });
    sessionStorage.setItem("superstep.tabs", '{"tabs": [1]}');
    expect(keptTabs()?.shown, "what this window cannot read, the last one may have").toBe("a");
    localStorage.clear();
    expect(keptTabs()).toBeNull();
  });
});
