// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { type Choices, useEffectsAsked } from "../../debugger/run/effects";
import type { EffectView } from "../../ipc/bindings/EffectView";
import { debugIds } from "../../lib/testIds";
import { EffectsDialog } from "./EffectsDialog";

afterEach(cleanup);
// jsdom has no pointer events, which Base UI makes its clicks from.
Object.defineProperty(window, "PointerEvent", { value: MouseEvent, configurable: true });

const effect = (node: string, more: Partial<EffectView> = {}): EffectView => ({
  node,
  path: [],
  kind: "tool",
  times: 1,
  lastAt: "2026-01-01T00:00:00Z",
  state: "done",
  checkpointId: "c",
  reusable: true,
  ...more,
});

function show(effects: EffectView[], questionsLeft = 0) {
  const decide = vi.fn<(choices: Choices | null) => void>();
  useEffectsAsked.setState({ asked: { going: "replay", step: 4, list: { effects, questionsLeft }, decide } });
  render(<EffectsDialog />);
  return decide;
}
const row = (node: string) => {
  const found = screen.getAllByTestId(debugIds.effect).find((each) => each.dataset["node"] === node);
  if (!found) throw new Error(`no row of ${node}`);
  return within(found);
};
const go = () => screen.getByTestId(debugIds.effectsGo);

it("lists what would work again, chooses what repeats nothing, and says what the button does", async () => {
  const decide = show(
    [
      effect("book", {
        effect: "once",
        times: 2,
        path: ["trip"],
        result: { kind: "object", bytes: 9, length: 1, value: { booked: 7 } },
      }),
      effect("fetch", { kind: "http", reusable: false, state: "begun" }),
    ],
    1,
  );
  expect(screen.getByRole("dialog").textContent).toContain("Replay from step 4");
  expect(row("book").getByText("×2")).toBeTruthy();
  expect(row("book").getByText("in trip")).toBeTruthy();
  expect(row("book").getByText(/booked: 7/)).toBeTruthy();
  expect(row("book").getByLabelText<HTMLInputElement>("Use its result").checked).toBe(true);
  expect(row("fetch").queryByLabelText("Use its result"), "nothing was recorded").toBeNull();
  expect(row("fetch").getByLabelText<HTMLInputElement>("Stop before it").checked).toBe(true);
  expect(screen.getByTestId(debugIds.effectsLeft).textContent).toContain("1 question");
  expect(go().textContent).toBe("Replay: repeats no side effect");

  fireEvent.click(row("book").getByLabelText("Do it again"));
  expect(go().textContent).toBe("Replay: 1 node runs again");
  fireEvent.click(row("fetch").getByLabelText("Do it again"));
  expect(go().textContent).toBe("Replay: 2 nodes run again");
  expect(screen.getByRole("status").textContent).toContain("book, fetch");
  fireEvent.click(go());
  expect(decide).toHaveBeenCalledWith({ '["trip","book"]': "again", '["fetch"]': "again" });
  expect(screen.queryByRole("dialog")).toBeNull();
});

it("does nothing when it is cancelled, and forgets what was chosen", () => {
  const effects = [effect("book", { effect: "once" })];
  const first = show(effects);
  fireEvent.click(row("book").getByLabelText("Do it again"));
  fireEvent.keyDown(screen.getByRole("dialog"), { key: "Escape" });
  expect(first).toHaveBeenCalledExactlyOnceWith(null);
  cleanup();
  show(effects);
  expect(row("book").getByLabelText<HTMLInputElement>("Use its result").checked).toBe(true);
});
