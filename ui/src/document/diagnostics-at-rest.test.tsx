// @vitest-environment jsdom
import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Diagnostic } from "../ipc/bindings/Diagnostic";
import { takeChecked } from "./diagnostics";
import { doc, useDiagnosticsAtRest } from "./store";

const problem = (message: string): Diagnostic => ({
  code: "expression",
  severity: "error",
  message,
  remedy: "",
  record: "node:a",
  pointer: "/config/set/reply",
});

function Form() {
  const problems = useDiagnosticsAtRest("node:a");
  return (
    <>
      <input aria-label="field" />
      <p data-testid="problems">{problems.map(({ message }) => message).join(", ")}</p>
    </>
  );
}

const shown = () => screen.getByTestId("problems").textContent;
const checked = (...messages: string[]) =>
  act(() => takeChecked({ diagnostics: messages.map(problem), leads: {} }));

beforeEach(() => {
  vi.useFakeTimers();
  doc.reset([
    { id: "doc", value: {} },
    { id: "node:a", value: { kind: "assign", config: {} } },
  ]);
  render(<Form />);
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

it("shows what a check finds at once when nobody types", () => {
  checked("unknown filter");
  expect(shown()).toBe("unknown filter");
});

it("keeps new problems back while a person types, and lets solved ones go", () => {
  checked("old");
  act(() => screen.getByLabelText("field").focus());
  checked("old", "half a word");
  expect(shown()).toBe("old");
  checked("half a word, and a half");
  expect(shown()).toBe("");
  checked();
  act(() => vi.advanceTimersByTime(5000));
  expect(shown()).toBe("");
});

it("shows them after a rest, and when the field is left", () => {
  act(() => screen.getByLabelText("field").focus());
  checked("half a word");
  act(() => vi.advanceTimersByTime(1000));
  expect(shown()).toBe("");
  act(() => vi.advanceTimersByTime(300));
  expect(shown()).toBe("half a word");
  checked("another word");
  expect(shown()).toBe("");
  act(() => screen.getByLabelText("field").blur());
  expect(shown()).toBe("another word");
});
