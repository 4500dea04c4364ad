// @vitest-environment jsdom
import { beforeEach, expect, it } from "vitest";
import { edit } from "../document/edit";
import { moveNodes, setField } from "../document/edits";
import { doc, useDocumentState } from "../document/store";
import type { GraphView } from "../ipc/bindings/GraphView";
import { replaceHost } from "../ipc/client";
import { useFileQuestion } from "../state/file-dialogs";
import { useSession } from "../state/session";
import { useTabs } from "../state/tabs";
import { fakeHost } from "../test/fakeHost";
import { newGraph, save } from "./files";
import { followSeen, openOpened } from "../debugger/run/seen";

const graphs = [
  { graphId: "seen-1", name: "agent: a", threads: 3 },
  { graphId: "seen-2", name: "agent: x", threads: 1 },
];
const view: GraphView = {
  graphId: "seen-1",
  name: "agent: a",
  records: [
    { id: "doc", value: { format: "superstep/1", name: "agent: a" } },
    { id: "node:a", value: { kind: "seen" } },
    { id: "layout:a", value: [0, 0] },
  ],
  rev: 0,
  savedRev: 0,
  diagnostics: [],
  leads: {},
  seen: { database: "langgraph:/data/agent.sqlite", looked: 4, threads: 4, graphs },
};

let host: ReturnType<typeof fakeHost>;
beforeEach(async () => {
  host = fakeHost();
  replaceHost(host);
  await newGraph();
  useSession.getState().setUse("design");
});

it("debugs a graph that was seen, with the others of its database in tabs behind it", () => {
  openOpened(view);
  expect(useSession.getState().use).toBe("debug");
  const tabs = useTabs.getState().tabs.map(({ graphId }) => graphId);
  expect(tabs.slice(tabs.indexOf("seen-1"))).toEqual(["seen-1", "seen-2"]);
  const stop = followSeen();
  useSession.getState().setUse("design");
  expect(useSession.getState().use).toBe("debug");
  stop();
});

it("changes nothing of it but where nodes stand, which nobody is asked to keep", async () => {
  openOpened(view);
  expect(edit("rename", (document) => setField(document, "node:a", "/title", "A"))).toBe(false);
  expect(doc.get("node:a")).toEqual({ kind: "seen" });
  edit("move", moveNodes(doc, new Map([["a", { x: 40, y: 80 }]])));
  expect(doc.get("layout:a")).toEqual([40, 80]);
  expect(useDocumentState.getState()).toMatchObject({ dirty: false, undoName: null });
  await save();
  expect(useFileQuestion.getState().question).toBeNull();
});
