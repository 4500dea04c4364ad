// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { createRef } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Asked } from "../../ipc/bindings/Asked";
import { debugIds } from "../../lib/testIds";
import { useOnlyRead } from "../model/only-read";
import { type AnswerHandle, AskedForm } from "./AskedForm";
import { GUARD_MS, useGuard } from "../parts/useGuard";

// jsdom has no pointer events, which Base UI makes its clicks from.
Object.defineProperty(window, "PointerEvent", { value: MouseEvent, configurable: true });
beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const asked: Asked = {
  text: "Refund?",
  choices: [
    { label: "Yes", value: true },
    { label: "No", value: false },
  ],
  context: {},
  value: null,
};

function show(byItself: boolean) {
  const onAnswer = vi.fn(() => Promise.resolve(null));
  const handle = createRef<AnswerHandle>();
  const Form = () => (
    <AskedForm
      ref={handle}
      asked={asked}
      answering={false}
      guarded={useGuard(byItself)}
      onAnswer={onAnswer}
    />
  );
  render(<Form />);
  return {
    onAnswer,
    handle,
    yes: () => screen.getAllByTestId(debugIds.answerChoice)[0] as HTMLButtonElement,
  };
}

it("takes no press in its first moments when it appeared by itself, and says so", () => {
  const { onAnswer, handle, yes } = show(true);
  expect(yes().disabled, "the buttons are dimmed").toBe(true);
  fireEvent.click(yes());
  expect(handle.current?.press("a"), "the key is taken, so that nothing else takes it").toBe(true);
  expect(onAnswer).not.toHaveBeenCalled();
  act(() => vi.advanceTimersByTime(GUARD_MS));
  expect(yes().disabled).toBe(false);
  act(() => void handle.current?.press("r"));
  expect(onAnswer).toHaveBeenCalledExactlyOnceWith(false);
});

it("says who answers where the threads are only read, and takes no answer", () => {
  useOnlyRead.setState({ onlyRead: true });
  const { onAnswer, handle, yes } = show(false);
  expect(yes().disabled).toBe(true);
  expect(handle.current?.press("a")).toBe(true);
  expect(onAnswer).not.toHaveBeenCalled();
  expect(screen.getByTestId(debugIds.answerForm).textContent).toContain("another program");
  expect(screen.queryByTestId(debugIds.answerSubmit)).toBe(null);
  useOnlyRead.setState({ onlyRead: false });
});

it("gives an attached program its answer", () => {
  useOnlyRead.setState({ onlyRead: true, attached: "agent.py:graph" });
  const { onAnswer, handle } = show(false);
  act(() => void handle.current?.press("a"));
  expect(onAnswer).toHaveBeenCalledOnce();
  useOnlyRead.setState({ onlyRead: false, attached: null });
});

it("ends a press as nothing that began before that", () => {
  const { onAnswer, yes } = show(true);
  fireEvent.pointerDown(yes());
  act(() => vi.advanceTimersByTime(GUARD_MS));
  fireEvent.click(yes());
  expect(onAnswer).not.toHaveBeenCalled();
  fireEvent.pointerDown(yes());
  fireEvent.click(yes());
  expect(onAnswer).toHaveBeenCalledOnce();
});

it("takes a press at once when the person went there", () => {
  const { onAnswer, handle } = show(false);
  act(() => void handle.current?.press("a"));
  expect(onAnswer).toHaveBeenCalledOnce();
});

it("takes no key that is held down", () => {
  const { yes } = show(false);
  const held = fireEvent.keyDown(yes(), { key: "Enter", repeat: true });
  expect(held, "the browser makes no click of it").toBe(false);
  expect(fireEvent.keyDown(yes(), { key: "Enter" })).toBe(true);
});
