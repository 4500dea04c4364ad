// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { Button } from "./Button";

afterEach(cleanup);

it.each([{ busy: true }, { disabled: true, focusableWhenDisabled: true }])(
  "a button that waits (%o) keeps the focus, does nothing, and lets the window's keys through",
  (props) => {
    const [run, send] = [vi.fn(), vi.fn((event: { preventDefault(): void }) => event.preventDefault())];
    const form = (waits: boolean) => (
      <form onSubmit={send}>
        <Button type="submit" onClick={run} {...(waits && props)}>
          Save
        </Button>
      </form>
    );
    const { rerender } = render(form(false));
    const button = screen.getByRole<HTMLButtonElement>("button");
    button.focus();
    rerender(form(true));
    expect(document.activeElement).toBe(button);
    expect(button.getAttribute("aria-disabled")).toBe("true");
    expect(button.hasAttribute("data-disabled")).toBe(true);
    fireEvent.click(button);
    expect(run).not.toHaveBeenCalled();
    expect(send).not.toHaveBeenCalled();
    // True: nothing has taken the key.
    expect(fireEvent.keyDown(button, { key: "z", ctrlKey: true })).toBe(true);
    rerender(form(false));
    fireEvent.click(button);
    expect(run).toHaveBeenCalledOnce();
    expect(send).toHaveBeenCalledOnce();
  },
);

it("a disabled button is left out by Tab", () => {
  render(<Button disabled>Save</Button>);
  expect(screen.getByRole<HTMLButtonElement>("button").disabled).toBe(true);
});
