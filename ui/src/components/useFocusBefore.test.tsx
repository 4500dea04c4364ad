// @vitest-environment jsdom
import { act, cleanup, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { Dialog } from "./Dialog";
import { TextField } from "./TextField";

afterEach(cleanup);

const shown = (open: boolean) => (
  <>
    <button type="button">Before</button>
    <Dialog open={open} onClose={() => undefined} title="Name">
      <TextField value="" onChange={() => undefined} autoFocus aria-label="Field" />
    </Dialog>
  </>
);

it("the focus goes back where it was, also from a field that took it at once", async () => {
  const { rerender } = render(shown(false));
  const before = screen.getByRole("button", { name: "Before" });
  act(() => before.focus());
  rerender(shown(true));
  await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText("Field")));
  rerender(shown(false));
  await waitFor(() => expect(document.activeElement).toBe(before));
});
