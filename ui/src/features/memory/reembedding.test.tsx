// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import type { AppInfo } from "../../ipc/bindings/AppInfo";
import type { OutdatedItems } from "../../ipc/bindings/OutdatedItems";
import type { EventBatch } from "../../ipc/bindings/EventBatch";
import { replaceHost } from "../../ipc/client";
import { RpcProblem } from "../../ipc/problem";
import { memoryIds } from "../../lib/testIds";
import { useSession } from "../../state/session";
import { useReembedding } from "./reembedding";
import { OutdatedLine } from "./OutdatedLine";

/** What the workbench has, and what it was asked. */
let outdated: OutdatedItems;
let embedding: { work: string; resolve(answer: unknown): void; reject(error: Error): void } | null;
let stopped: string[];
let tell: (batch: EventBatch) => void;

replaceHost({
  kind: "web",
  rpc: (command, request) => {
    const { work } = request as { work: string };
    switch (command) {
      case "store.outdated":
        return Promise.resolve(outdated);
      case "store.embed":
        return new Promise((resolve, reject) => (embedding = { work, resolve, reject }));
      case "work.cancel":
        stopped.push(work);
        return Promise.resolve({});
      default:
        return Promise.reject(new Error(`${command} is not expected`));
    }
  },
  subscribe: (onBatch) => {
    tell = onBatch;
    return () => {};
  },
  watchConnection: () => () => {},
  setTitle: () => {},
});

const line = () => screen.queryByTestId(memoryIds.outdated);
const button = () => screen.getByRole("button");
const show = async (chosen: string | undefined, onDone = () => {}) => {
  const settings = { memory: chosen === undefined ? undefined : { embedding: chosen, refreshOnRead: true } };
  useSession.setState({ appInfo: { settings } as unknown as AppInfo });
  await act(async () => void render(<OutdatedLine onDone={onDone} />));
};

beforeEach(() => {
  cleanup();
  vi.useRealTimers();
  useReembedding.setState({ outdated: null, work: null, problem: null });
  outdated = { items: 340, more: false };
  embedding = null;
  stopped = [];
});

test("items without a current embedding are embedded, with how far that is, and the line goes", async () => {
  const onDone = vi.fn();
  await show("office::embed", onDone);
  expect(line()?.textContent).toContain("340 items have no current embedding");
  expect(line()?.textContent).toContain("sends their texts to office::embed");
  button().focus();
  await act(async () => void fireEvent.click(button()));
  expect(button().textContent).toBe("Stop");
  expect(document.activeElement).toBe(button());
  const work = embedding?.work ?? "";
  act(() => tell({ seq: 1, events: [{ type: "work", work, done: 128, total: 340 }] }));
  expect(line()?.textContent).toContain("128 of 340");
  act(() => tell({ seq: 2, events: [{ type: "work", work, done: 1100, total: 0 }] }));
  expect(line()?.textContent).toContain("1\u202f100 so far");
  expect(onDone).not.toHaveBeenCalled();
  outdated = { items: 0, more: false };
  await act(async () => embedding?.resolve({ items: 340 }));
  expect(line()).toBeNull();
  expect(onDone).toHaveBeenCalledOnce();
});

test("what was stopped or failed says what is left, and a failure what to do", async () => {
  await show("office::embed");
  await act(async () => void fireEvent.click(button()));
  await act(async () => void fireEvent.click(button()));
  expect(stopped).toEqual([embedding?.work]);
  outdated = { items: 1, more: false };
  await act(async () => embedding?.reject(new RpcProblem({ code: "stopped", message: "It was stopped." })));
  expect(line()?.textContent).toContain("1 item has no current embedding");
  expect(screen.queryByRole("alert")).toBeNull();
  await act(async () => void fireEvent.click(button()));
  const problem = { code: "embedding", message: "The model is gone.", remedy: "Choose another." };
  await act(async () => embedding?.reject(new RpcProblem(problem)));
  expect(screen.getByRole("alert").textContent).toBe("The model is gone.Choose another.");
  await act(async () => void fireEvent.click(button()));
  expect(screen.queryByRole("alert")).toBeNull();
  await act(async () => embedding?.resolve({ items: 1 }));
});

test("work of another window is followed and can be stopped", async () => {
  vi.useFakeTimers();
  outdated = { items: 1000, more: true, work: "theirs" };
  const onDone = vi.fn();
  await show("ngrams", onDone);
  expect(line()?.textContent).toContain("more than 1\u202f000 left");
  fireEvent.click(button());
  expect(stopped).toEqual(["theirs"]);
  outdated = { items: 12, more: false, work: "theirs" };
  await act(() => vi.advanceTimersByTimeAsync(1000));
  expect(line()?.textContent).toContain("12 left");
  outdated = { items: 0, more: false };
  await act(() => vi.advanceTimersByTimeAsync(1000));
  expect(line()).toBeNull();
  expect(onDone).toHaveBeenCalledOnce();
});

test("nothing is said when nothing is to be done, nor of texts that go nowhere", async () => {
  await show("ngrams");
  expect(line()?.textContent).not.toContain("sent");
  cleanup();
  await show(undefined);
  expect(line()).toBeNull();
  cleanup();
  outdated = { items: 0, more: false };
  await show("ngrams");
  expect(line()).toBeNull();
});
