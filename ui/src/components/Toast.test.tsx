// @vitest-environment jsdom
import { act, cleanup, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { closeToasts, toast, ToastProvider } from "./Toast";

afterEach(cleanup);

it("a note is no dialog: it is read out by the region around it and takes no focus", async () => {
  render(<ToastProvider>{null}</ToastProvider>);
  act(() => void toast({ title: "Kept" }));
  act(() => void toast({ title: "Refused", tone: "failed" }));
  const notes = await screen.findAllByTestId("toast");
  expect(notes.map((note) => note.getAttribute("role"))).toEqual(["group", "group"]);
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(screen.queryByRole("alertdialog", { hidden: true })).toBeNull();
  expect(notes[0]?.closest("[aria-live]")).not.toBeNull();
});

it("a note goes with its page, and one of what led on stays on the next", async () => {
  const now = vi.spyOn(performance, "now").mockReturnValue(1000);
  render(<ToastProvider>{null}</ToastProvider>);
  act(() => void toast({ title: "No such file", tone: "failed", timeout: 0 }));
  now.mockReturnValue(5000);
  act(() => void toast({ title: "Opened", timeout: 0 }));
  await screen.findByText("Opened");
  act(closeToasts);
  await waitFor(() => expect(screen.queryByText("No such file")).toBeNull());
  expect(screen.getByText("Opened")).toBeTruthy();
  now.mockReturnValue(9000);
  act(closeToasts);
  await waitFor(() => expect(screen.queryByText("Opened")).toBeNull());
  now.mockRestore();
});
