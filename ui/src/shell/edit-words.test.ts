// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  addConnectedNode,
  addNode,
  connect,
  deleteThings,
  moveNodes,
  renameNode,
  setField,
} from "../document/edits";
import { watchEdits, type Edited } from "../document/edit-events";
import { doc } from "../document/store";
import { edit } from "../document/edit";
import { redo, undo } from "../document/undo";
import { END } from "../document/types";
import { replaceHost } from "../ipc/client";
import { useSession } from "../state/session";
import { FAKE_KINDS, fakeHost } from "../test/fakeHost";
import { wordsOfEdits } from "./edit-words";
import { newGraph } from "./files";

const edits: Edited[] = [];
let stop = () => {};
const said = () => wordsOfEdits(edits.splice(0));
const node = (name: string) => ({ name, kind: "assign", config: {}, position: { x: 0, y: 0 } });

beforeEach(async () => {
  replaceHost(fakeHost());
  useSession.setState({ appInfo: { kinds: FAKE_KINDS } as never });
  await newGraph();
  stop = watchEdits((edited) => edits.push(edited));
});
afterEach(() => {
  stop();
  edits.length = 0;
});

it("says what was added, connected, moved and deleted, and what was taken back", () => {
  edit("add Assign", addNode(doc, node("one")));
  expect(said()).toBe("Added one, Assign");
  edit("add Assign", addConnectedNode(doc, node("two"), { from: "one" }));
  expect(said()).toBe("Added two, Assign, Connected one to two");
  edit("connect", connect(doc, "two", END));
  expect(said()).toBe("Connected two to End");
  edit("move", moveNodes(doc, new Map([["one", { x: 8, y: 8 }]])));
  expect(said()).toBe("Moved one");
  edit("move", moveNodes(doc, new Map(["one", "two"].map((name) => [name, { x: 80, y: 8 }]))));
  expect(said()).toBe("Moved 2 nodes");
  edit("Rename to three", renameNode(doc, "two", "three", FAKE_KINDS));
  expect(said()).toBe("Rename to three");
  edit("delete", deleteThings(doc, { nodes: ["one", "three"] }));
  expect(said()).toBe("Deleted 2 nodes, Deleted 2 edges");
  undo();
  expect(said()).toBe("Undone: Delete");
  redo();
  expect(said()).toBe("Redone: Delete");
});

it("says edits without a pause between them as one, and leaves letters to their field", () => {
  edit("add", addNode(doc, node("one")));
  edit("add", addNode(doc, node("two")));
  expect(said()).toBe("Added 2 nodes");
  edit("title", setField(doc, "node:one", "/title", "A"), { merge: "title" });
  expect(said()).toBe("");
  edit("disable", setField(doc, "node:one", "/disabled", true));
  expect(said()).toBe("Disable");
});
