// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from "vitest";
import { useRename } from "../document/rename-question";
import { doc } from "../document/store";
import { openGraph } from "../document/open-graph";
import { undo } from "../document/undo";
import { usesOf } from "../document/rename";
import { replaceHost } from "../ipc/client";
import { useSession } from "../state/session";
import { FAKE_KINDS, fakeHost } from "../test/fakeHost";
import { currentBreakpoints, followBreakpoints, setBreakpoint } from "../debugger/run/breakpoints";
import { addWatch, watchesOf } from "../debugger/state/watches";
import { renameEverywhere, renameKeyEverywhere } from "./records";

const PROGRAM = "return { goto: 'ask' };";

beforeEach(() => {
  replaceHost(fakeHost(new Map(), { "graph.steps": () => ({ dropped: false }) }));
  useSession.setState({ appInfo: { kinds: FAKE_KINDS } as never });
  useRename.setState({ named: null, to: null });
  openGraph({
    graphId: "g",
    name: "G",
    path: "/g.json",
    records: [
      { id: "doc", value: { name: "G" } },
      { id: "key:total", value: { type: "number" } },
      { id: "node:ask", value: { kind: "ask", config: {} } },
      { id: "node:jump", value: { kind: "code", config: { source: PROGRAM } } },
      { id: "edge:ask->jump", value: { from: "ask", to: "jump" } },
    ],
    rev: 0,
    savedRev: 0,
    diagnostics: [],
    leads: {},
  });
});

describe("renaming a node", () => {
  it("asks first when a program names it, and changes what was agreed to in one step", () => {
    expect(renameEverywhere("ask", "question")).toBe(false);
    expect(useRename.getState()).toEqual({ named: { what: "node", name: "ask" }, to: "question" });
    expect(doc.has("node:ask"), "nothing is done before the answer").toBe(true);

    const programs = usesOf(doc, FAKE_KINDS, {}, { what: "node", name: "ask" }).filter((use) => use.program);
    useSession.getState().select({ nodes: ["ask"] });
    expect(renameEverywhere("ask", "question", programs)).toBe(true);
    expect(doc.get("node:jump")).toMatchObject({ config: { source: PROGRAM.replace("ask", "question") } });
    expect(useSession.getState().selection.nodes).toEqual(["question"]);
    undo();
    expect(doc.get("node:jump")).toMatchObject({ config: { source: PROGRAM } });
    expect(doc.has("node:ask")).toBe(true);
  });

  it("asks nothing when no program names it", () => {
    expect(renameEverywhere("jump", "leap")).toBe(true);
    expect(useRename.getState().named).toBeNull();
    expect(doc.get("edge:ask->jump")).toMatchObject({ from: "ask", to: "leap" });
  });
});

describe("renaming a state key", () => {
  it("takes breakpoints and watches along", async () => {
    const key = "/g.json";
    replaceHost(
      fakeHost(new Map(), {
        "graph.steps": () => ({ dropped: false }),
        "breakpoints.get": () => ({ graph: key, points: [] }),
        "breakpoints.change": (kept: object) => kept,
      }),
    );
    followBreakpoints();
    useSession.getState().graphOpened("g", key, false);
    await vi.waitFor(() => {
      setBreakpoint({ id: "1", when: "watch", node: "", condition: "state.total > 2", enabled: true });
      expect(currentBreakpoints()).toHaveLength(1);
    });
    addWatch(key, "state.total");
    expect(renameKeyEverywhere("total", "sum")).toBe(true);
    expect(currentBreakpoints()[0]?.condition).toBe("state.sum > 2");
    expect(watchesOf(key)).toEqual(["state.sum"]);
  });
});
