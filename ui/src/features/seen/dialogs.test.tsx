// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it } from "vitest";
import { useDocumentState } from "../../document/store";
import { replaceHost } from "../../ipc/client";
import { RpcProblem } from "../../ipc/problem";
import { shellIds } from "../../lib/testIds";
import { askAddress, askCopy, askLaid, useSeenAsked } from "../../state/seen-dialogs";
import { useSession } from "../../state/session";
import { SeenDialogs } from "./SeenDialogs";

// jsdom has none, and what is pressed by a key is clicked with one.
Object.defineProperty(window, "PointerEvent", { value: MouseEvent, configurable: true });

const graph = { graphId: "seen-1", name: "agent", threads: 4 };
const view = {
  graphId: "seen-1",
  name: "agent",
  records: [
    { id: "doc", value: { format: "superstep/1", name: "agent" } },
    { id: "node:a", value: { kind: "seen" } },
  ],
  rev: 0,
  savedRev: 0,
  diagnostics: [],
  leads: {},
  seen: { database: "langgraph:postgres://reader:…@h/app", looked: 4, threads: 4, graphs: [graph] },
};

type Answer = (request: Record<string, unknown>) => unknown;
let answers: Record<string, Answer>;
let asked: [string, Record<string, unknown>][];

beforeEach(() => {
  asked = [];
  answers = {};
  replaceHost({
    kind: "web",
    rpc: async (command, request) => {
      asked.push([command, request as Record<string, unknown>]);
      const answer = answers[command];
      if (!answer) return {};
      return answer(request as Record<string, unknown>);
    },
    subscribe: () => () => {},
    watchConnection: () => () => {},
    setTitle: () => {},
  });
});
afterEach(() => {
  cleanup();
  useSeenAsked.setState({ address: null, laid: null, copy: null });
});

const field = (id: string) => screen.getByTestId<HTMLInputElement>(id);
const type = (id: string, value: string) => fireEvent.change(field(id), { target: { value } });
/** Takes an option of the list that is open, as the keyboard does. */
async function pick(name: string): Promise<void> {
  const option = await screen.findByRole("option", { name });
  fireEvent.mouseMove(option);
  fireEvent.keyDown(option, { key: "Enter" });
  fireEvent.keyUp(option, { key: "Enter" });
  fireEvent.click(option);
}
const paths = () => asked.filter(([command]) => command === "graph.open").map(([, { path }]) => path);

it("opens an address whose password went where it is not seen", async () => {
  answers = { "storage.schemas": () => ({ schemas: ["public"] }), "graph.open": () => view };
  render(<SeenDialogs />);
  act(() => askAddress());
  type(shellIds.addressText, "postgres://reader:a%40b@h/app");
  expect(field(shellIds.addressText).value).toBe("postgres://reader@h/app");
  expect(field(shellIds.addressPassword)).toMatchObject({ value: "a@b", type: "password" });
  fireEvent.click(screen.getByTestId(shellIds.addressOpen));
  await waitFor(() => expect(screen.queryByTestId(shellIds.address)).toBeNull());
  expect(paths()).toEqual(["postgres://reader:a%40b@h/app"]);
  expect(useDocumentState.getState().graphId).toBe("seen-1");
});

it("goes at once with what was typed elsewhere, and says what is wrong where it can be corrected", async () => {
  answers = {
    "storage.schemas": () => {
      throw new RpcProblem({
        code: "storage",
        message: "password authentication failed",
        remedy: "Check it.",
      });
    },
  };
  render(<SeenDialogs />);
  act(() => askAddress("postgres://reader@h/app", true));
  await waitFor(() => expect(screen.getByRole("alert").textContent).toContain("authentication failed"));
  expect(paths()).toEqual([]);
  // The words go with what they were about.
  type(shellIds.addressPassword, "right");
  expect(screen.queryByRole("alert")).toBeNull();
});

it("lists the schemas where several have threads, and opens the chosen one", async () => {
  answers = { "storage.schemas": () => ({ schemas: ["north", "south side"] }), "graph.open": () => view };
  render(<SeenDialogs />);
  act(() => askAddress("postgres://reader@h/app", true));
  await waitFor(() => expect(screen.getByTestId(shellIds.addressSchema)).toBeTruthy());
  expect(field(shellIds.addressOpen).disabled).toBe(true);
  fireEvent.click(screen.getByTestId(shellIds.addressSchema));
  await pick("south side");
  await waitFor(() => expect(field(shellIds.addressOpen).disabled).toBe(false));
  fireEvent.click(screen.getByTestId(shellIds.addressOpen));
  await waitFor(() => expect(paths()).toEqual(["postgres://reader@h/app?schema=south%20side"]));
});

it("copies threads, names what was left out, and opens the first copy among one's own", async () => {
  answers = {
    "storage.info": () => ({
      url: "langgraph:/a",
      chosenBy: "settings",
      defaultUrl: "sqlite:/data/threads.db",
      backends: [],
    }),
    "thread.copyOwn": () => ({
      database: "sqlite:/data/threads.db",
      threads: 3,
      known: 1,
      checkpoints: 40,
      skipped: [{ code: "left-out", message: "waiting: checkpoint 1 cannot be read: it is damaged." }],
      leftOut: 2,
      stopped: false,
      first: { threadId: "done", graph: "draft-1" },
    }),
    "graph.get": () => ({ ...view, graphId: "draft-1", seen: undefined }),
  };
  render(<SeenDialogs />);
  act(() => askCopy({ threadId: "done", title: "Order 7" }));
  expect(screen.getByTestId(shellIds.copyOwn).textContent).toContain("Order 7");
  fireEvent.click(screen.getByTestId(shellIds.copyStart));
  const done = await screen.findByTestId(shellIds.copyDone);
  for (const word of [
    "3 new",
    "1 known",
    "Left out: 2",
    "waiting: checkpoint 1 cannot be read",
    "and 1 more",
  ])
    expect(done.textContent).toContain(word);
  expect(asked.find(([command]) => command === "thread.copyOwn")?.[1]).toMatchObject({ threadId: "done" });
  fireEvent.click(await screen.findByTestId(shellIds.copyOpen));
  await waitFor(() => expect(useSession.getState().cursor.threadId).toBe("done"));
  expect(asked.some(([command]) => command === "storage.use")).toBe(true);
  expect(useDocumentState.getState().graphId).toBe("draft-1");
});

it("stops copying, and offers nothing to open where the database was chosen at start", async () => {
  let end: (copied: unknown) => void = () => {};
  answers = {
    "storage.info": () => ({
      url: "langgraph:/a",
      chosenBy: "program",
      defaultUrl: "sqlite:/t",
      backends: [],
    }),
    "thread.copyOwn": () => new Promise((resolve) => (end = resolve)),
  };
  render(<SeenDialogs />);
  act(() => askCopy({ title: "" }));
  fireEvent.click(screen.getByTestId(shellIds.copyStart));
  fireEvent.click(await screen.findByRole("button", { name: "Stop" }));
  await waitFor(() => expect(asked.some(([command]) => command === "work.cancel")).toBe(true));
  end({
    database: "sqlite:/t",
    threads: 1,
    known: 0,
    checkpoints: 9,
    skipped: [],
    leftOut: 0,
    stopped: true,
    first: { threadId: "done", graph: "draft-1" },
  });
  const done = await screen.findByTestId(shellIds.copyDone);
  expect(done.textContent).toContain("Stopped");
  expect(done.textContent).toContain("--db");
  expect(screen.queryByTestId(shellIds.copyOpen)).toBeNull();
});

it("matches nodes of other names, each with one of ours", async () => {
  let laid: Record<string, unknown> = {};
  answers = {
    "graph.laid": () => ({
      path: "/graphs/mine/graph.json",
      nodes: ["cost", "read", "review"],
      own: ["read", "price", "check"],
      names: { read: "read" },
    }),
    "graph.lay": (request) => {
      laid = request;
      return { nodes: [], own: [], names: {} };
    },
  };
  render(<SeenDialogs />);
  act(() => askLaid("seen-1"));
  const choose = async (seen: string, ours: string) => {
    fireEvent.click(await screen.findByTestId(shellIds.laidRow(seen)));
    await pick(ours);
    await waitFor(() => expect(screen.getByTestId(shellIds.laidRow(seen)).textContent).toContain(ours));
  };
  await choose("cost", "check");
  expect(screen.getByTestId(shellIds.laidNames).textContent).toContain("mine");
  // Chosen for another it leaves the first.
  await choose("review", "check");
  await choose("cost", "price");
  fireEvent.click(screen.getByTestId(shellIds.laidSave));
  await waitFor(() =>
    expect(laid).toEqual({
      graphId: "seen-1",
      path: "/graphs/mine/graph.json",
      names: { read: "read", cost: "price", review: "check" },
    }),
  );
});
