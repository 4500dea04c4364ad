// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { TakeOverDialog } from "../features/take-over";
import { replaceHost, RpcProblem } from "../ipc/client";
import { continueThread } from "../debugger/run/actions";
import { fakeHost } from "../test/fakeHost";
import { isBusyElsewhere, takingOver } from "./take-over";
import * as toasts from "./toasts";

Object.defineProperty(window, "PointerEvent", { value: MouseEvent, configurable: true });

const busy = new RpcProblem({
  code: "thread-busy",
  message: "The nightly import is running thread t.",
  remedy: "Wait until its run has ended, or stop it there.",
});

let asked: unknown[];
beforeEach(() => {
  asked = [];
  replaceHost(
    fakeHost(new Map(), {
      "run.start": (request: { takeOver?: boolean }) => {
        asked.push(request.takeOver);
        if (request.takeOver !== true) throw busy;
        return { runId: "r", threadId: "t", status: "running", startedAt: "" };
      },
    }),
  );
});
afterEach(cleanup);

it("says who runs the thread, and takes it over when a person wants it", async () => {
  render(<TakeOverDialog />);
  let going!: Promise<void>;
  act(() => {
    going = continueThread("t");
  });
  await screen.findByText(busy.message);
  expect(screen.getByText(/Only its unfinished step is lost/)).toBeDefined();
  fireEvent.click(screen.getByRole("button", { name: "Take over" }));
  await act(() => going);
  expect(asked).toEqual([undefined, true]);
  await waitFor(() => expect(screen.queryByText(busy.message)).toBeNull());
});

it("leaves the thread alone otherwise, and says nothing more", async () => {
  const note = vi.spyOn(toasts, "showProblem");
  render(<TakeOverDialog />);
  let going!: Promise<void>;
  act(() => {
    going = continueThread("t");
  });
  await screen.findByText(busy.message);
  fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
  await act(() => going);
  expect(asked).toEqual([undefined]);
  expect(note).not.toHaveBeenCalled();
});

it("asks about nothing but a busy thread", async () => {
  const other = new RpcProblem({ code: "busy", message: "The thread is running." });
  await expect(takingOver(() => Promise.reject(other))).rejects.toBe(other);
  expect(isBusyElsewhere(other)).toBe(false);
});
