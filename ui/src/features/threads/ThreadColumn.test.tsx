// @vitest-environment jsdom
import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { replaceHost } from "../../ipc/client";
import { debugIds } from "../../lib/testIds";
import { useSession } from "../../state/session";
import { fakeHost } from "../../test/fakeHost";
import { ColumnCell, ColumnHeads } from "./ThreadColumn";

const asked = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  asked.mockClear();
  const host = fakeHost(new Map());
  replaceHost({
    ...host,
    rpc: (command, request, signal) => {
      if (command !== "expression.evaluate") return host.rpc(command, request, signal);
      asked(request);
      const { text, at } = request as { text: string; at: { threadId: string } };
      if (text.includes("refused")) return Promise.reject(new Error("The checkpoint is gone."));
      const answer = text.includes("gone")
        ? { message: "There is no `gone` in the state." }
        : { value: { value: { of: at.threadId, long: "x".repeat(100) } } };
      return Promise.resolve(answer as never);
    },
  });
  useSession.setState({ graphId: "g", graphKey: "/g.json" });
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
const cell = () => screen.getByTestId(debugIds.threadValue);

it("shows the value at the last checkpoint of the thread, whole in the title, and again when the thread moves on", async () => {
  const { rerender } = render(<ColumnCell threadId="t" head="1" column="state.n" />);
  expect(cell().getAttribute("role")).toBe("gridcell");
  await pass(200);
  expect(asked).toHaveBeenCalledTimes(1);
  expect(asked.mock.lastCall?.[0]).toMatchObject({
    at: { threadId: "t", checkpointId: "1" },
    text: "state.n",
  });
  expect(cell().title).toContain("x".repeat(100));
  // A run that goes on fast is asked about once.
  for (const head of ["2", "3", "4"]) rerender(<ColumnCell threadId="t" head={head} column="state.n" />);
  await pass(200);
  expect(asked).toHaveBeenCalledTimes(2);
  expect(asked.mock.lastCall?.[0]).toMatchObject({ at: { checkpointId: "4" } });
});

it("has a dash that says why where there is no value, and asks nothing about a thread without a checkpoint", async () => {
  const { rerender } = render(<ColumnCell threadId="t" head="1" column="state.gone" />);
  await pass(200);
  expect(cell().textContent).toBe("—There is no `gone` in the state.");
  rerender(<ColumnCell threadId="t" head={undefined} column="state.n" />);
  await pass(200);
  expect(cell().textContent).toContain("—");
  expect(asked).toHaveBeenCalledTimes(1);
});

it("says why when the host refuses, and does not wait for ever", async () => {
  render(<ColumnCell threadId="t" head="1" column="state.refused" />);
  await pass(200);
  expect(cell().textContent).toContain("The checkpoint is gone.");
  expect(cell().hasAttribute("data-failed")).toBe(true);
});

it("asks nothing about a row that is scrolled past", async () => {
  const { unmount } = render(<ColumnCell threadId="t" head="1" column="state.n" />);
  await pass(50);
  unmount();
  await pass(500);
  expect(asked).not.toHaveBeenCalled();
});

it("names its columns", () => {
  render(<ColumnHeads column="state.n" />);
  expect(screen.getAllByRole("columnheader").map((head) => head.textContent)).toEqual(["Thread", "state.n"]);
});
