// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from "vitest";
import { moveNodes, setField } from "../document/edits";
import { closeGraph, openGraph } from "../document/open-graph";
import { doc, useDocumentState } from "../document/store";
import { edit } from "../document/edit";
import { undo } from "../document/undo";
import type { GraphView } from "../ipc/bindings/GraphView";
import { rpc, replaceHost } from "../ipc/client";
import { useFileQuestion } from "../state/file-dialogs";
import { useSession } from "../state/session";
import { useTabs } from "../state/tabs";
import { fakeHost, type FakeHost } from "../test/fakeHost";
import { closeTab, restoreTabs, showStart, showTab, walkTabs } from "./graph-tabs";

let host: FakeHost;
const open = async (path: string): Promise<GraphView> => {
  const view = await rpc("graph.open", { path });
  openGraph(view);
  return view;
};
const rename = (name: string) => edit("rename", (document) => setField(document, "doc", "/name", name));
const titles = () => useTabs.getState().tabs.map(({ path }) => path);
const shown = () => useDocumentState.getState().path;
const until = async (holds: () => boolean) => {
  for (let turns = 0; turns < 200 && !holds(); turns += 1) await new Promise((done) => setTimeout(done, 5));
  expect(holds()).toBe(true);
};
/** Answers the question that is asked. */
const answer = async (what: "save" | "keep" | "discard" | null) => {
  await until(() => useFileQuestion.getState().question !== null);
  const { question } = useFileQuestion.getState();
  useFileQuestion.setState({ question: null });
  if (question?.kind === "close") question.answer(what);
};

beforeEach(async () => {
  host = fakeHost(new Map(), { "graph.steps": () => ({ dropped: false }), "graph.keepSteps": () => ({}) });
  replaceHost(host);
  await closeGraph();
  useTabs.setState({ tabs: [] });
  sessionStorage.clear();
  localStorage.clear();
});

describe("tabs of graphs", () => {
  it("lose no edit that is on its way when another graph is shown", async () => {
    const a = await open("/a.json");
    rename("A1");
    const b = await open("/b.json");
    await showTab(a.graphId);
    rename("A2");
    void rpc("app.info", {});
    rename("A3");
    await showTab(b.graphId);
    expect(host.documents.get(a.graphId)?.doc.name).toBe("A3");
    await showTab(a.graphId);
    expect(doc.name).toBe("A3");
    undo();
    expect(doc.name, "its own undo").toBe("A2");
  });

  it("remember what was selected in each", async () => {
    const a = await open("/a.json");
    useSession.getState().select({ nodes: ["__start__", "gone"] });
    const b = await open("/b.json");
    expect(useSession.getState().selection.nodes).toEqual([]);
    useSession.getState().setCursor({ threadId: "t" });
    walkTabs(1);
    await until(() => shown() === "/a.json");
    expect(useSession.getState().selection.nodes, "what is not there is not selected").toEqual(["__start__"]);
    expect(useSession.getState().cursor.threadId).toBeNull();
    await showTab(b.graphId);
    expect(useSession.getState().cursor.threadId).toBe("t");
    expect(a.graphId).not.toBe(b.graphId);
  });

  it("close with a question when something is not saved", async () => {
    const a = await open("/a.json");
    rename("A1");
    const b = await open("/b.json");
    expect(await closeTab(b.graphId)).toBe(true);
    expect([shown(), titles()]).toEqual(["/a.json", ["/a.json"]]);

    const stays = closeTab(a.graphId);
    await answer(null);
    expect([await stays, titles()]).toEqual([false, ["/a.json"]]);

    const saves = closeTab(a.graphId);
    await answer("save");
    expect(await saves).toBe(true);
    expect(host.calls.some(({ command }) => command === "graph.save")).toBe(true);
    expect([shown(), titles()]).toEqual([null, []]);
  });

  it("discard only when that is said", async () => {
    const a = await open("/a.json");
    rename("A1");
    const closes = closeTab(a.graphId);
    await answer("discard");
    await closes;
    const close = host.calls.find(({ command }) => command === "graph.close");
    expect(close?.request).toEqual({ graphId: a.graphId, discard: true });
  });

  it("close without a question when only nodes were moved, and keep that", async () => {
    const move = (x: number) =>
      edit("move", (document) => moveNodes(document, new Map([["__start__", { x, y: 0 }]])));
    const a = await open("/a.json");
    move(10);
    const b = await open("/b.json");
    move(20);
    expect(await closeTab(a.graphId), "in the background").toBe(true);
    expect(await closeTab(b.graphId), "the shown one").toBe(true);
    expect(useFileQuestion.getState().question).toBeNull();
    const closes = host.calls.filter(({ command }) => command === "graph.close");
    expect(closes.map(({ request }) => request)).toEqual([
      { graphId: a.graphId, discard: false },
      { graphId: b.graphId, discard: false },
    ]);
  });

  it("stay on the start screen and come back to a reloaded window", async () => {
    const a = await open("/a.json");
    await open("/b.json");
    await showStart();
    expect([shown(), titles()]).toEqual([null, ["/a.json", "/b.json"]]);
    sessionStorage.setItem(
      "superstep.tabs",
      JSON.stringify({
        tabs: [
          { graphId: a.graphId, path: "/a.json", name: "A", dirty: true },
          { graphId: "before-a-restart", path: "/c.json", name: "C" },
          { graphId: "draft-gone", path: null, name: "D" },
        ],
        shown: "before-a-restart",
      }),
    );
    const show = await restoreTabs([{ graphId: a.graphId }]);
    const tabs = useTabs.getState().tabs;
    expect(tabs.map(({ path, dirty }) => [path, dirty])).toEqual([
      ["/a.json", true],
      ["/c.json", false],
    ]);
    expect(show, "the graph that was shown has another id now").toBe(tabs[1]?.graphId);
  });
});
