// @vitest-environment jsdom
import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { Field, type FieldProblem } from "./Field";
import { TextField } from "./TextField";

afterEach(cleanup);

const shown = (problems: FieldProblem[]) => (
  <Field label="Prompt" error={problems}>
    <TextField value="" onChange={() => undefined} />
  </Field>
);
const problem = { message: "There is no key `mess`.", action: { label: "Add it", run: () => undefined } };

it("a problem that goes while its button has the focus gives the focus to the field", () => {
  const { rerender } = render(shown([problem]));
  act(() => screen.getByRole("button", { name: "Add it" }).focus());
  rerender(shown([]));
  expect(document.activeElement).toBe(screen.getByLabelText("Prompt"));
});

it("one that goes while something else has the focus leaves it there", () => {
  const { rerender } = render(
    <>
      <button type="button">Other</button>
      {shown([problem])}
    </>,
  );
  const other = screen.getByRole("button", { name: "Other" });
  act(() => other.focus());
  rerender(
    <>
      <button type="button">Other</button>
      {shown([])}
    </>,
  );
  expect(document.activeElement).toBe(other);
});
