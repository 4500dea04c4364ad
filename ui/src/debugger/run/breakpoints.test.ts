// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Breakpoint } from "../../ipc/bindings/Breakpoint";
import type { Breakpoints } from "../../ipc/bindings/Breakpoints";
import type { ChangeBreakpoints } from "../../ipc/bindings/ChangeBreakpoints";
import { replaceHost, RpcProblem } from "../../ipc/client";
import { useSession } from "../../state/session";
import { changedBreakpoints, fakeHost } from "../../test/fakeHost";
import {
  breaksOf,
  pointId,
  removeBreakpoint,
  setBreakpoint,
  currentBreakpoints,
  enableBreakpoint,
  followBreakpoints,
  renameBreakpoints,
  toggleBreakpoint,
} from "./breakpoints";

const before = (node: string, enabled = true): Breakpoint => ({ node, when: "before", enabled });
const OLD = { "/old.json": [before("o")], "/kept.json": [before("lost")] };

/** What the workbench keeps. */
let kept: Map<string, Breakpoint[]>;
let refuses = false;
const host = fakeHost(new Map(), {
  "breakpoints.get": ({ graph }: { graph: string }): Breakpoints => ({
    graph,
    points: kept.get(graph) ?? [],
  }),
  "breakpoints.change": (change: ChangeBreakpoints): Breakpoints => {
    if (refuses) throw new RpcProblem({ code: "disk-full", message: "The disk is full." });
    const breakpoints = changedBreakpoints(kept.get(change.graph) ?? [], change);
    kept.set(change.graph, breakpoints.points);
    host.tell({ type: "breakpoints", breakpoints });
    return breakpoints;
  },
});
replaceHost(host);

const open = (graph: string) => useSession.getState().graphOpened(graph, graph, false);
const shows = (points: readonly Breakpoint[]) =>
  vi.waitFor(() => expect(currentBreakpoints()).toEqual(points));

describe("breakpoints", () => {
  beforeEach(() => {
    refuses = false;
  });

  it("gives the workbench what an earlier release kept in the window, once", async () => {
    kept = new Map([["/kept.json", [before("k")]]]);
    localStorage.setItem("superstep.session", JSON.stringify({ minimap: false, breakpoints: OLD }));
    open("/old.json");
    followBreakpoints();
    await shows([before("o")]);
    expect(kept.get("/kept.json")).toEqual([before("k")]);
    const left = JSON.parse(localStorage.getItem("superstep.session") ?? "") as object;
    expect(left).toEqual({ minimap: false });
  });

  it("keeps what is changed, and shows what is kept for the graph that is open", async () => {
    kept = new Map([["/a.json", [before("a")]]]);
    open("/a.json");
    // Before it has been read: nothing of it is lost.
    toggleBreakpoint("b", "after");
    await shows([before("a"), { node: "b", when: "after", enabled: true }]);
    enableBreakpoint("before:a", false);
    renameBreakpoints("node", "a", "c");
    toggleBreakpoint("b", "after");
    await vi.waitFor(() => expect(kept.get("/a.json")).toEqual([before("c", false)]));
    open("/b.json");
    await shows([]);
    open("/a.json");
    await shows([before("c", false)]);
  });

  it("shows what another window or another program changed", async () => {
    kept = new Map();
    open("/c.json");
    // While it is being read.
    kept.set("/c.json", [before("w")]);
    host.tell({ type: "breakpoints", breakpoints: { graph: "/c.json", points: [before("w")] } });
    await shows([before("w")]);
    host.tell({ type: "breakpoints", breakpoints: { graph: "/d.json", points: [before("x")] } });
    host.tell({ type: "breakpoints", breakpoints: { graph: "/c.json", points: [before("y")] } });
    await shows([before("y")]);
    kept.set("/c.json", [before("z")]);
    host.tell({ type: "changed", threads: true, settings: false });
    await shows([before("z")]);
  });

  it("changes only what the window changed, not what another window added or removed meanwhile", async () => {
    kept = new Map([["/m.json", [before("a"), before("b"), before("c")]]]);
    open("/m.json");
    await shows([before("a"), before("b"), before("c")]);
    // Another window: its event has not come yet.
    kept.set("/m.json", [before("a", false), before("c"), before("theirs")]);
    toggleBreakpoint("c", "before");
    toggleBreakpoint("ours", "after");
    const ours: Breakpoint = { node: "ours", when: "after", enabled: true };
    await shows([before("a", false), before("theirs"), ours]);
    expect(kept.get("/m.json")).toEqual([before("a", false), before("theirs"), ours]);
  });

  it("goes back to what is kept when a change is refused", async () => {
    kept = new Map([["/e.json", [before("e")]]]);
    open("/e.json");
    await shows([before("e")]);
    refuses = true;
    toggleBreakpoint("f", "before");
    expect(currentBreakpoints()).toHaveLength(2);
    await shows([before("e")]);
  });

  it("sends what counts to a run", () => {
    const points: Breakpoint[] = [
      before("a"),
      before("gone"),
      before("off", false),
      { node: "a", when: "after", enabled: true },
    ];
    const has = (record: string) => record !== "node:gone" && record !== "key:gone";
    expect(breaksOf(points, has).breakpoints.map(pointId)).toEqual(["before:a", "after:a"]);
    const others: Breakpoint[] = [
      { id: "1", when: "edge", node: "a", to: "gone", enabled: true },
      { id: "2", when: "edge", node: "a", to: "__end__", enabled: true },
      { id: "3", when: "key", node: "", key: "gone", enabled: true },
      { id: "4", when: "error", node: "*", enabled: true },
      { id: "5", when: "before", node: "gone", within: "inner", enabled: true },
    ];
    expect(breaksOf(others, has).breakpoints.map(pointId)).toEqual(["2", "4", "5"]);
  });

  it("keeps a conditional breakpoint when the plain one of its node is switched", async () => {
    const conditional: Breakpoint = {
      id: "c",
      when: "before",
      node: "a",
      condition: "state.n > 2",
      enabled: true,
    };
    kept = new Map([["/c.json", [conditional]]]);
    open("/c.json");
    await shows([conditional]);
    toggleBreakpoint("a", "before");
    await shows([conditional, before("a")]);
    toggleBreakpoint("a", "before");
    await shows([conditional]);
    setBreakpoint({ ...conditional, condition: "state.n > 3" });
    await shows([{ ...conditional, condition: "state.n > 3" }]);
    renameBreakpoints("node", "a", "b");
    expect(currentBreakpoints()[0]?.node).toBe("b");
    removeBreakpoint("c");
    await shows([]);
  });
});
