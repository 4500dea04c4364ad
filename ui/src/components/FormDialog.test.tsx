// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { Field } from "./Field";
import { FormDialog } from "./FormDialog";
import { TextField } from "./TextField";

afterEach(cleanup);

const none = () => undefined;

function shown(isDone: boolean, busy = false) {
  const onSave = vi.fn();
  render(
    <FormDialog title="Price" save="Save" isDone={isDone} busy={busy} onSave={onSave} onClose={none}>
      <Field label="Model">
        <TextField value="m" onChange={none} />
      </Field>
      <Field label="Price">
        <TextField value="1" onChange={none} />
      </Field>
    </FormDialog>,
  );
  const field = screen.getByLabelText<HTMLInputElement>("Model");
  const save = screen.getByRole<HTMLButtonElement>("button", { name: "Save" });
  return { onSave, form: field.form!, save };
}

it("the button below the form is its submit button, without which Enter does nothing", () => {
  const { onSave, form, save } = shown(true);
  expect([save.type, save.form]).toEqual(["submit", form]);
  fireEvent.click(save);
  expect(onSave).toHaveBeenCalledTimes(1);
});

it("saves nothing that is not done, or twice", () => {
  for (const [isDone, busy] of [
    [false, false],
    [true, true],
  ] as const) {
    const { onSave, form } = shown(isDone, busy);
    fireEvent.submit(form);
    expect(onSave).not.toHaveBeenCalled();
    cleanup();
  }
});
