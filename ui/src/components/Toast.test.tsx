// @vitest-environment jsdom
import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { toast, ToastProvider } from "./Toast";

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
