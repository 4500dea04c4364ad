// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { doc } from "../../document/store";
import { openGraph } from "../../document/open-graph";
import { undo } from "../../document/undo";
import type { ApplyPatch } from "../../ipc/bindings/ApplyPatch";
import type { GraphView } from "../../ipc/bindings/GraphView";
import { replaceHost } from "../../ipc/client";
import { debugIds } from "../../lib/testIds";
import { useSession } from "../../state/session";
import { fakeHost } from "../../test/fakeHost";
import { useOnlyRead } from "../model/only-read";
import { primary } from "./actions";
import { runForm } from "./run-form";
import { RunForm } from "./RunForm";
import { useRunInput } from "./run-input";

Object.defineProperty(window, "PointerEvent", { value: MouseEvent, configurable: true });
const started = vi.fn();

function open(keys: Record<string, object>): void {
  const records = Object.entries(keys).map(([name, value]) => ({ id: `key:${name}`, value }));
  openGraph({
    graphId: `g-${Object.keys(keys).join("-")}`,
    name: "G",
    rev: 0,
    savedRev: 0,
    records: [{ id: "doc", value: { name: "G" } }, ...records],
    diagnostics: [],
    leads: {},
  } as unknown as GraphView);
}

beforeEach(() => {
  const host = fakeHost(new Map());
  replaceHost({
    ...host,
    rpc: (command, request, signal) => {
      if (command === "run.start") started(request);
      // The graphs of these tests are open in no host.
      if (command === "graph.apply") {
        const { baseRev } = request as ApplyPatch;
        return Promise.resolve({ rev: baseRev + 1, diagnostics: [], leads: {} });
      }
      return host.rpc(command, request, signal);
    },
  });
  started.mockClear();
  useRunInput.setState({ drafts: {} });
});
afterEach(() => {
  cleanup();
  act(() => runForm.filled());
  doc.reset([]);
  localStorage.clear();
});

it("says what is missing, marks the fields and takes the focus, when it is opened by Run itself", async () => {
  open({ amount: { type: "string" }, days: { type: "string" } });
  useSession.setState({ use: "design" });
  await act(() => primary());
  expect(useSession.getState().use, "the form is brought into view").toBe("debug");
  expect(started).not.toHaveBeenCalled();
  // The panel with the form comes up only now.
  render(<RunForm />);
  expect(screen.getByTestId(debugIds.inputMissing).textContent).toContain("amount or days");
  const amount = screen.getByTestId("field-/amount");
  expect(amount.closest("[data-field]")?.textContent, "said at the field").toContain("Required.");
  expect(amount.contains(document.activeElement), "the first field takes what is typed").toBe(true);

  fireEvent.change(amount.querySelector("textarea") as HTMLTextAreaElement, { target: { value: "40" } });
  expect(screen.queryByTestId(debugIds.inputMissing)).toBeNull();
  expect(screen.queryByText("Required.")).toBeNull();
});

it("says it again at the second press", async () => {
  open({ amount: { type: "string" } });
  render(<RunForm />);
  await act(() => primary());
  (document.activeElement as HTMLElement).blur();
  await act(() => primary());
  expect(screen.getByTestId("field-/amount").contains(document.activeElement)).toBe(true);
});

it("has a field for the message of a conversation, with the hint beside it", async () => {
  open({ messages: { type: "array", reducer: "add_messages" }, topic: { type: "string" } });
  render(<RunForm />);
  await act(() => primary());
  expect(started).not.toHaveBeenCalled();
  const field = screen.getByTestId("field-/messages");
  expect(field.closest("[data-field]")?.textContent).toContain("Enter a message.");
  expect(field.querySelector("textarea"), "there is one to write in").toBe(document.activeElement);
  expect(screen.getByTestId("field-/topic").closest("[data-field]")?.textContent).not.toContain("here");
});

it("runs at once when every key has a default, and asks only for those without", async () => {
  open({ n: { type: "integer", default: 0 } });
  await act(() => primary());
  expect(started.mock.calls[0]?.[0]).toMatchObject({ action: { type: "input", input: {} } });
  open({ days: { type: "integer", default: 3 }, amount: { type: "string" } });
  render(<RunForm />);
  await act(() => primary());
  expect(started).toHaveBeenCalledTimes(1);
  expect(screen.getByTestId(debugIds.inputMissing).textContent).toContain("Fill in amount,");
});

it("does not complain about another graph", async () => {
  open({ amount: { type: "string" } });
  await act(() => primary());
  open({ other: { type: "string" } });
  render(<RunForm />);
  expect(screen.queryByTestId(debugIds.inputMissing)).toBeNull();
});

it("gives the run the context that the graph declares", async () => {
  openGraph({
    graphId: "g-context",
    name: "G",
    rev: 0,
    savedRev: 0,
    records: [
      {
        id: "doc",
        value: { name: "G", context: { user: { type: "string" }, level: { type: "integer", default: 1 } } },
      },
      { id: "key:amount", value: { type: "string" } },
    ],
    diagnostics: [],
    leads: {},
  } as unknown as GraphView);
  useRunInput.setState({ drafts: { [useSession.getState().graphKey ?? ""]: { amount: "3" } } });
  render(<RunForm />);
  const form = screen.getByTestId(debugIds.runContext);
  const user = form.querySelector<HTMLElement>('[data-testid="field-/user"]');
  const field = user?.matches("input, textarea") ? user : user?.querySelector<HTMLElement>("input, textarea");
  expect(field, "a field for what the graph declares").toBeTruthy();
  fireEvent.change(field as HTMLElement, { target: { value: "ada" } });
  await act(async () => fireEvent.click(screen.getByTestId(debugIds.startRun)));
  expect(started.mock.calls[0]?.[0]).toMatchObject({ context: { user: "ada" }, action: { type: "input" } });
});

it("keeps the context under a name in the graph, and takes one that was kept", async () => {
  openGraph({
    graphId: "g-sets",
    name: "G",
    rev: 0,
    savedRev: 0,
    records: [
      {
        id: "doc",
        value: {
          name: "G",
          context: { user: { type: "string" } },
          context_sets: [{ name: "Ada", values: { user: "ada" } }],
        },
      },
      { id: "key:amount", value: { type: "string" } },
    ],
    diagnostics: [],
    leads: {},
  } as unknown as GraphView);
  useRunInput.setState({ drafts: { [useSession.getState().graphKey ?? ""]: { amount: "3" } } });
  render(<RunForm />);
  const pick = async (label: string) => {
    fireEvent.click(screen.getByTestId(debugIds.contextSets));
    const item = await screen.findByText(label, { selector: "[role^='menuitem'] > *" });
    await act(async () => fireEvent.click(item));
  };
  const field = () => {
    const user = screen.getByTestId(debugIds.runContext).querySelector('[data-testid="field-/user"]');
    return (
      user?.matches("input, textarea") ? user : user?.querySelector("input, textarea")
    ) as HTMLInputElement;
  };
  const sets = () => doc.head["context_sets"];
  await pick("Ada");
  expect(field().value).toBe("ada");
  expect(screen.getByTestId(debugIds.contextSets).textContent).toBe("Ada");
  fireEvent.change(field(), { target: { value: "eve" } });
  expect(screen.getByTestId(debugIds.contextSets).textContent).toBe("Ada, changed");

  await pick("Save as…");
  const name = screen.getByTestId(debugIds.contextSetName);
  fireEvent.change(name, { target: { value: "Ada" } });
  fireEvent.submit(name);
  expect(screen.getByTestId(debugIds.contextSetNaming).textContent).toContain("exists already");
  fireEvent.change(name, { target: { value: "Eve" } });
  await act(async () => fireEvent.keyDown(name, { key: "Enter", ctrlKey: true }));
  expect(started, "the key belongs to the dialog").not.toHaveBeenCalled();
  await act(async () => fireEvent.submit(name));
  const kept = [
    { name: "Ada", values: { user: "ada" } },
    { name: "Eve", values: { user: "eve" } },
  ];
  expect(sets()).toEqual(kept);
  await waitFor(() => expect(screen.getByTestId(debugIds.contextSets).textContent).toBe("Eve"));

  await pick("Delete “Eve”");
  expect(sets()).toEqual(kept.slice(0, 1));
  act(() => void undo());
  expect(sets()).toEqual(kept);
  await act(async () => fireEvent.click(screen.getByTestId(debugIds.startRun)));
  expect(started.mock.calls[0]?.[0]).toMatchObject({ context: { user: "eve" } });
});

it("starts nothing where the threads are only read, and says why", () => {
  useOnlyRead.setState({ onlyRead: true });
  open({ amount: { type: "string" } });
  render(<RunForm />);
  for (const id of [debugIds.startRun, debugIds.startStep])
    expect((screen.getByTestId(id) as HTMLButtonElement).disabled, id).toBe(true);
  expect(screen.getByText(/only that program runs/)).toBeTruthy();
  cleanup();
  // A graph that was seen has no keys, and is run by nobody here.
  open({});
  render(<RunForm />);
  expect(screen.queryAllByRole("button")).toEqual([]);
  expect(screen.getByText(/only that program runs/)).toBeTruthy();
  useOnlyRead.setState({ onlyRead: false });
});

it("starts what an attached program runs, though its threads are only read", async () => {
  useOnlyRead.setState({ onlyRead: true, attached: "agent.py:graph" });
  open({ amount: { type: "string" } });
  render(<RunForm />);
  await act(async () => fireEvent.click(screen.getByTestId(debugIds.startRun)));
  expect(started).toHaveBeenCalledOnce();
  cleanup();
  // One without keys is run as it is, and nobody is sent to Design, where nothing of it is drawn.
  open({});
  render(<RunForm />);
  expect(screen.queryByText(/Design/)).toBeNull();
  expect(screen.getByText("The program takes no input")).toBeTruthy();
  await act(async () => fireEvent.click(screen.getByRole("button", { name: "Run" })));
  expect(started).toHaveBeenCalledTimes(2);
  useOnlyRead.setState({ onlyRead: false, attached: null });
});
