// @vitest-environment jsdom
/** Two windows have one graph open: this one, and another whose edits come to the host directly. */
import { beforeEach, describe, expect, it } from "vitest";
import { rpc, replaceHost } from "../ipc/client";
import { useFileQuestion } from "../state/file-dialogs";
import { fakeHost } from "../test/fakeHost";
import { edit, editElsewhere } from "./edit";
import { setField } from "./edits";
import { flush, forgetGraph, lookElsewhere, openGraph } from "./open-graph";
import { op } from "./patch";
import { doc, useDocumentState } from "./store";
import type { Json } from "./types";
import { redo, undo } from "./undo";

const graph: Json = {
  format: "superstep/1",
  name: "Desk",
  state: {},
  nodes: {
    ask: { kind: "ask", config: { question: "" } },
    reply: { kind: "model", config: { prompt: "" } },
  },
  edges: [],
};

let host: ReturnType<typeof fakeHost>;
let graphId: string;
beforeEach(async () => {
  host = fakeHost(new Map([["desk", graph]]));
  replaceHost(host);
  useFileQuestion.setState({ question: null });
  forgetGraph("g_1");
  const view = await rpc("graph.openExample", { id: "desk" });
  ({ graphId } = view);
  openGraph(view);
});

const theirs = () => {
  const open = host.documents.get(graphId);
  if (!open) throw new Error("the graph is not open");
  return open;
};
const node = (text: string): Json => ({ kind: "ask", config: { question: text } });
/** An edit of the other window. */
const elsewhere = (id: string, to: Json | undefined) =>
  host.rpc("graph.apply", {
    graphId,
    baseRev: theirs().rev,
    ops: [op(id, theirs().doc.get(id), to)],
  });
const here = (id: string, to: Json) => edit(`set ${id}`, { ops: [op(id, doc.get(id), to)] });
const rename = (to: string) => edit(`name ${to}`, setField(doc, "doc", "/name", to));

async function answer(side: "mine" | "theirs" | null, meanwhile: () => void = () => {}): Promise<void> {
  const sent = flush();
  for (let turn = 0; turn < 200 && useFileQuestion.getState().question === null; turn += 1)
    await new Promise((done) => setTimeout(done, 1));
  const { question } = useFileQuestion.getState();
  if (question?.kind !== "elsewhere") throw new Error("nothing is asked");
  meanwhile();
  useFileQuestion.setState({ question: null });
  question.answer(side);
  await sent;
}

const bothHave = (id: string, value: Json | undefined) => {
  expect(doc.get(id), "here").toEqual(value);
  expect(theirs().doc.get(id), "at the host").toEqual(value);
};

describe("an edit that meets one of another window", () => {
  it("is kept beside it, without a question, when they are of different nodes; undo goes on", async () => {
    rename("Mine");
    await flush();
    await elsewhere("node:reply", node("theirs"));
    here("node:ask", node("mine"));
    await flush();
    bothHave("node:ask", node("mine"));
    bothHave("node:reply", node("theirs"));
    expect(useFileQuestion.getState().question).toBeNull();
    undo();
    undo();
    await flush();
    expect([doc.name, theirs().doc.name]).toEqual(["Desk", "Desk"]);
    bothHave("node:ask", node(""));
    bothHave("node:reply", node("theirs"));
    redo();
    redo();
    await flush();
    bothHave("node:ask", node("mine"));
  });

  it("is asked about when both changed one node: mine stays, undo brings theirs back", async () => {
    await elsewhere("node:ask", node("theirs"));
    here("node:ask", node("mine"));
    await answer("mine");
    bothHave("node:ask", node("mine"));
    undo();
    await flush();
    bothHave("node:ask", node("theirs"));
  });

  it.each(["theirs", null] as const)(
    "gives way when %s is answered, and undo brings mine back",
    async (side) => {
      await elsewhere("node:ask", node("theirs"));
      here("node:ask", node("mine"));
      here("node:reply", node("mine, too"));
      await answer(side);
      bothHave("node:ask", node("theirs"));
      bothHave("node:reply", node("mine, too"));
      undo();
      await flush();
      bothHave("node:ask", node("mine"));
    },
  );

  it("is asked about when the other window deleted the node", async () => {
    await elsewhere("node:ask", undefined);
    here("node:ask", node("mine"));
    await answer("mine");
    bothHave("node:ask", node("mine"));
  });

  it("keeps what is edited while the question waits", async () => {
    await elsewhere("node:ask", node("theirs"));
    here("node:ask", node("mine"));
    await answer("mine", () => here("node:reply", node("later")));
    await flush();
    bothHave("node:ask", node("mine"));
    bothHave("node:reply", node("later"));
  });

  it("is no question when both made the same edit", async () => {
    await elsewhere("node:ask", node("same"));
    here("node:ask", node("same"));
    await flush();
    bothHave("node:ask", node("same"));
    expect(useFileQuestion.getState().question).toBeNull();
  });
});

describe("undo after an edit of another window", () => {
  it("gives up the step whose node was changed there, and keeps the others", async () => {
    rename("Mine");
    here("node:ask", node("mine"));
    await flush();
    await elsewhere("node:ask", node("theirs"));
    await lookElsewhere();
    expect(doc.get("node:ask")).toEqual(node("theirs"));
    expect(undo()).toBeNull();
    expect(doc.get("node:ask")).toEqual(node("theirs"));
    expect(useDocumentState.getState()).toMatchObject({ undoName: "name Mine", redoName: null });
    expect(undo()).toBe("name Mine");
    expect(doc.name).toBe("Desk");
  });
});

describe("a window that is looked at again", () => {
  it("shows what was saved elsewhere as saved", async () => {
    rename("Mine");
    await flush();
    expect(useDocumentState.getState().dirty).toBe(true);
    await host.rpc("graph.save", { graphId, overwrite: false });
    await lookElsewhere();
    expect(useDocumentState.getState().dirty).toBe(false);
  });

  it("takes the file when the other window gave the changes up", async () => {
    here("node:ask", node("mine"));
    await flush();
    await host.rpc("graph.revert", { graphId });
    await lookElsewhere();
    expect([doc.get("node:ask"), useDocumentState.getState().dirty]).toEqual([undefined, false]);
  });

  it("opens the graph again that was closed there without its changes: its own stay", async () => {
    here("node:ask", node("mine"));
    await flush();
    await elsewhere("node:reply", node("theirs"));
    await lookElsewhere();
    await host.rpc("graph.close", { graphId, discard: true });
    await lookElsewhere();
    await flush();
    const again = useDocumentState.getState().graphId;
    expect(again).not.toBe(graphId);
    expect(again === null ? null : host.documents.get(again)?.doc.get("node:ask")).toEqual(node("mine"));
    expect(doc.get("node:reply")).toBeUndefined();
    expect(undo()).toBe("Use theirs");
    expect(doc.get("node:reply")).toEqual(node("theirs"));
  });

  it("does not take an answer that is older than its own edit", async () => {
    const looked = lookElsewhere();
    rename("Mine");
    await Promise.all([looked, flush()]);
    expect([doc.name, theirs().doc.name]).toEqual(["Mine", "Mine"]);
  });
});

it("refuses an edit of a graph that is not shown and was changed elsewhere, and keeps both", async () => {
  const { rev } = theirs();
  await elsewhere("node:ask", node("theirs"));
  const late = editElsewhere(graphId, rev, "late", { ops: [op("node:ask", node(""), node("mine"))] });
  await expect(late).rejects.toThrow();
  expect(theirs().doc.get("node:ask")).toEqual(node("theirs"));
});
