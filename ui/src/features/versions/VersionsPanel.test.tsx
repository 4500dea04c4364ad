// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { useDocumentState } from "../../document/store";
import type { CommitView } from "../../ipc/bindings/CommitView";
import type { GraphHistory } from "../../ipc/bindings/GraphHistory";
import type { GraphVersionView } from "../../ipc/bindings/GraphVersionView";
import { replaceHost, RpcProblem } from "../../ipc/client";
import { formsIds, versionsIds } from "../../lib/testIds";
import { VersionsPanel } from "./VersionsPanel";

const version = (n: number, extra: Partial<GraphVersionView> = {}): GraphVersionView => ({
  id: `copy:${n}`,
  at: `2026-01-${String(30 - n).padStart(2, "0")}T10:00:00Z`,
  nodes: 100 + n,
  edges: 0,
  hash: `hash-${n}`,
  threads: 0,
  saved: true,
  ...extra,
});
const NOTE = "# Before the cut\nIt asked twice.";
const NAMED = version(1, { id: "named:hash-1", name: "First draft", note: NOTE });

let versions: GraphVersionView[] = [];
let sent: unknown[] = [];
/** Pages of commits that were asked for, and their answers. */
let asked: number[] = [];
let history: (offset: number) => Promise<GraphHistory> = () => Promise.resolve({ commits: [], more: false });

const commit = (n: number, path = "desk.json"): CommitView => ({
  id: `git:${String(n).padStart(40, "0")}@blob`,
  commit: String(n).padStart(40, "0"),
  subject: n === 2 ? "" : `Commit ${n}`,
  author: "Ada",
  at: "2026-01-02T10:00:00Z",
  path,
});

replaceHost({
  kind: "web",
  rpc: (command, request) => {
    switch (command) {
      case "graph.nameVersion":
        sent.push(request);
        return Promise.resolve({ versions, current: "hash-1" });
      case "graph.versions":
        return Promise.resolve({ versions, current: "hash-1" });
      case "graph.restore":
        sent.push(request);
        return Promise.reject(new Error("not in this test"));
      case "graph.history":
        asked.push((request as { offset: number }).offset);
        return history((request as { offset: number }).offset);
      default:
        return Promise.reject(new Error(`${command} is not expected`));
    }
  },
  subscribe: () => () => {},
  watchConnection: () => () => {},
  setTitle: () => {},
});

beforeEach(() => {
  versions = [NAMED, ...Array.from({ length: 9 }, (_, index) => version(index + 2))];
  sent = [];
  asked = [];
  useDocumentState.setState({ graphId: "g", path: null });
});
afterEach(cleanup);

const shown = () => act(async () => void render(<VersionsPanel />));
const press = (element: HTMLElement) => act(async () => void fireEvent.click(element));
const type = (id: string, value: string) => fireEvent.change(screen.getByTestId(id), { target: { value } });
const rows = () => within(screen.getByTestId(formsIds.versions)).getAllByRole("listitem");
const field = (id: string) => screen.getByTestId<HTMLInputElement>(id);

test("a row shows the first line of its note, and the whole under the pointer", async () => {
  await shown();
  const note = within(rows()[0]!).getByTestId(versionsIds.note(0));
  expect([note.textContent, note.title]).toEqual(["Before the cut", NOTE]);
  expect(screen.queryByTestId(versionsIds.note(1))).toBeNull();
});

test("name and note are edited together, an empty note is sent to remove it", async () => {
  await shown();
  await press(screen.getByTestId(versionsIds.name(0)));
  expect([field(versionsIds.nameField).value, field(versionsIds.noteField).value]).toEqual([
    "First draft",
    NOTE,
  ]);
  type(versionsIds.noteField, "");
  await press(screen.getByRole("button", { name: "Save name" }));
  expect(sent).toEqual([{ graphId: "g", id: "named:hash-1", name: "First draft", note: "" }]);
  expect(screen.queryByTestId(versionsIds.nameDialog)).toBeNull();

  await press(screen.getByTestId(versionsIds.name(0)));
  await press(screen.getByTestId(versionsIds.nameRemove));
  expect(sent[1]).toEqual({ graphId: "g", id: "named:hash-1" });
});

test("the current version is named with the name and the note that it has", async () => {
  await shown();
  await press(screen.getByTestId(versionsIds.nameNow));
  expect(field(versionsIds.noteField).value).toBe(NOTE);
  type(versionsIds.nameField, "Final");
  await press(screen.getByRole("button", { name: "Save name" }));
  expect(sent).toEqual([{ graphId: "g", name: "Final", note: NOTE }]);
});

test("a long list is searched by name, note and what its rows show", async () => {
  await shown();
  const found = (words: string) => {
    type(versionsIds.search, words);
    return screen.queryByTestId(formsIds.versions) === null
      ? 0
      : within(screen.getByTestId(formsIds.versions)).queryAllByRole("listitem").length;
  };
  expect(found("twice")).toBe(1);
  expect(found("DRAFT asked")).toBe(1);
  expect(found("107 nodes")).toBe(1);
  expect(found("nothing of it")).toBe(0);
  expect(screen.getByText("No matches")).toBeTruthy();
  await press(screen.getByRole("button", { name: "Clear" }));
  expect(rows().length).toBe(10);
});

test("a short list has no search", async () => {
  versions = versions.slice(0, 8);
  await shown();
  expect(screen.queryByTestId(versionsIds.search)).toBeNull();
});

describe("commits of the graph's file", () => {
  const commits = () => within(screen.getByTestId(versionsIds.commits)).getAllByRole("listitem");

  test("are not asked for without a file, and not shown without a repository", async () => {
    await shown();
    expect(asked).toEqual([]);
    await act(async () => useDocumentState.setState({ path: "/g/desk.json" }));
    expect(asked).toEqual([0]);
    expect(screen.queryByText("Git history")).toBeNull();
  });

  test("are listed page by page, none twice, with the path of an earlier name", async () => {
    useDocumentState.setState({ path: "/g/desk.json" });
    history = (offset) =>
      Promise.resolve(
        offset === 0
          ? { commits: [commit(3), commit(2)], more: true }
          : { commits: [commit(2), commit(1, "old.json")], more: false },
      );
    await shown();
    // A commit without a subject is called by its number.
    expect(commits()[1]!.textContent).toContain("00000000");
    expect(commits()[0]!.textContent).toContain("Commit 3");
    expect(commits()[0]!.textContent).toContain("Ada");
    expect(screen.queryByText("old.json")).toBeNull();
    await press(screen.getByTestId(versionsIds.moreCommits));
    type(versionsIds.search, "old ada");
    expect(commits().length).toBe(1);
    type(versionsIds.search, "");
    expect(asked).toEqual([0, 2]);
    expect(commits().length).toBe(3);
    expect(screen.getByText("old.json")).toBeTruthy();
    expect(screen.queryByTestId(versionsIds.moreCommits)).toBeNull();

    // The window comes back: pages stay while nothing was committed.
    await act(async () => void window.dispatchEvent(new Event("focus")));
    expect(commits().length).toBe(3);
    history = () => Promise.resolve({ commits: [commit(4)], more: false });
    await act(async () => void window.dispatchEvent(new Event("focus")));
    expect(
      commits()
        .map((row) => row.textContent)
        .join(),
    ).toContain("Commit 4");
    expect(commits().length).toBe(1);
  });

  test("are shown, compared and restored as other versions are", async () => {
    useDocumentState.setState({ path: "/g/desk.json" });
    history = () => Promise.resolve({ commits: [commit(3)], more: false });
    await shown();
    await press(within(commits()[0]!).getByRole("button", { name: /Commit 3/ }));
    expect(within(commits()[0]!).getByRole("button", { pressed: true }).textContent).toContain("Commit 3");
    await press(within(commits()[0]!).getByRole("button", { name: /^Restore/ }));
    expect(sent).toEqual([{ graphId: "g", version: commit(3).id }]);
  });

  test("say why they cannot be read, and are read again", async () => {
    useDocumentState.setState({ path: "/g/desk.json" });
    const problem = { code: "git-slow", message: "Git did not answer in time.", remedy: "Wait." };
    history = () => Promise.reject(new RpcProblem(problem));
    await shown();
    expect(screen.getByRole("alert").textContent).toContain("Git did not answer in time.");
    history = () => Promise.resolve({ commits: [commit(3)], more: false });
    await press(screen.getByRole("button", { name: "Try again" }));
    expect(screen.queryByRole("alert")).toBeNull();
    expect(commits().length).toBe(1);
  });
});
