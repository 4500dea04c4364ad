// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { Notices } from "./Notices";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});
const answer = (type: string, text: string) => {
  const read = vi.fn(async () => new Response(text, { headers: { "content-type": type } }));
  vi.stubGlobal("fetch", read);
  return read;
};

it("reads the licences when they are opened, and shows them", async () => {
  const read = answer("text/plain", "libraries 1.0: MIT");
  render(<Notices />);
  expect(read).not.toHaveBeenCalled();
  fireEvent.click(screen.getByRole("button"));
  expect(await screen.findByText("libraries 1.0: MIT")).toBeTruthy();
});
it("says that they are missing where the page itself is what is answered", async () => {
  answer("text/html; charset=utf-8", "<!doctype html><title>Superstep</title>");
  render(<Notices />);
  fireEvent.click(screen.getByRole("button"));
  expect(await screen.findByText(/not part of this build/)).toBeTruthy();
});
