import { beforeEach, expect, it } from "vitest";
import type { GraphView } from "../ipc/bindings/GraphView";
import { replaceHost, rpc } from "../ipc/client";
import { RpcProblem } from "../ipc/problem";
import { fakeHost, type FakeHost } from "../test/fakeHost";
import { edit } from "./edit";
import { closeGraph, flush, lookElsewhere, openGraph, readSavedText, typeText } from "./open-graph";
import { setField } from "./edits";
import { useDocumentState } from "./store";

/** Texts of files that are no graph, by the id of the document. */
let texts: Map<string, { text: string; rev: number }>;
let host: FakeHost;

const view = (graphId: string): GraphView => {
  const { text, rev } = texts.get(graphId) ?? { text: "", rev: 0 };
  const records = [{ id: "doc", value: {} }];
  return {
    graphId,
    name: graphId,
    path: `/${graphId}`,
    records,
    rev,
    savedRev: 0,
    diagnostics: [],
    leads: {},
    text,
  };
};

beforeEach(async () => {
  texts = new Map([
    ["a.json", { text: "{ a", rev: 0 }],
    ["b.json", { text: "{ b", rev: 0 }],
  ]);
  host = fakeHost(new Map(), {
    "graph.steps": () => ({ dropped: false }),
    "graph.keepSteps": () => ({}),
    "graph.get": ({ graphId }) => view(String(graphId)),
    "graph.writeText": ({ graphId, baseRev, text }) => {
      const found = texts.get(String(graphId));
      if (found?.rev !== baseRev) throw new RpcProblem({ code: "conflict", message: "Changed elsewhere." });
      texts.set(String(graphId), { text: String(text), rev: found.rev + 1 });
      return { rev: found.rev + 1, diagnostics: [], leads: {} };
    },
  });
  replaceHost(host);
  await closeGraph();
});

const written = () => host.calls.filter(({ command }) => command === "graph.writeText").length;

it("is sent once for what is typed in a moment, and before it is saved", async () => {
  openGraph(view("a.json"));
  for (const text of ["{ a:", "{ a: 1", "{ a: 1 }"]) typeText(text);
  expect(useDocumentState.getState().dirty).toBe(true);
  await flush();
  expect([texts.get("a.json"), written()]).toEqual([{ text: "{ a: 1 }", rev: 1 }, 1]);
  typeText("{}");
  await flush();
  expect(texts.get("a.json")).toEqual({ text: "{}", rev: 2 });
});

it("is not lost when another file is shown", async () => {
  openGraph(view("a.json"));
  typeText("{ a mended");
  openGraph(view("b.json"));
  expect(useDocumentState.getState().text).toBe("{ b");
  await flush();
  expect(texts.get("a.json")?.text).toBe("{ a mended");
  expect(texts.get("b.json")).toEqual({ text: "{ b", rev: 0 });
});

it("takes no edit of a graph", async () => {
  openGraph(view("a.json"));
  expect(edit("rename", (document) => setField(document, "doc", "/name", "A"))).toBe(false);
  await flush();
  expect(host.calls.some(({ command }) => command === "graph.apply")).toBe(false);
});

it("is read again when another window or program changed it, and is a graph when it is saved as one", async () => {
  openGraph(view("a.json"));
  texts.set("a.json", { text: "{ other", rev: 4 });
  await lookElsewhere();
  expect(useDocumentState.getState().text).toBe("{ other");
  typeText("{ mine");
  texts.set("a.json", { text: "{ theirs", rev: 5 });
  await flush();
  expect(useDocumentState.getState().text, "what was written first stays").toBe("{ theirs");

  host = fakeHost(new Map(), {
    "graph.get": () => ({ ...view("a.json"), text: undefined, rev: 6, savedRev: 6 }),
  });
  replaceHost(host);
  await readSavedText("a.json");
  expect(useDocumentState.getState()).toMatchObject({ text: null, rev: 6, dirty: false });
  await rpc("app.info", {});
});
