// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Schema } from "../../components/schema-form/schema";
import { matching } from "../../components/Combobox";
import { SchemaForm } from "../../components/schema-form/SchemaForm";
import { doc } from "../../document/store";
import { edit } from "../../document/edit";
import { setRecord } from "../../document/edits";
import { StateKeyEditor } from "./StateKeyEditor";
import { useKeyInfos } from "./keys";

Object.defineProperty(window, "PointerEvent", { value: MouseEvent, configurable: true });
afterEach(cleanup);
beforeEach(() => {
  doc.reset([{ id: "doc", value: {} }]);
  for (const name of ["message", "decision", "reply"])
    edit(name, (document) => setRecord(document, `key:${name}`, { type: "string" }));
});

function Form({ schema }: { schema: Schema }) {
  const [value, setValue] = useState<unknown>({});
  return (
    <SchemaForm
      schema={{ type: "object", properties: { into: { title: "Into", "x-editor": "state-key", ...schema } } }}
      value={value}
      onChange={setValue}
      stateKeys={useKeyInfos()}
      editors={{ "state-key": StateKeyEditor }}
    />
  );
}

const show = (schema: Schema = {}) => {
  render(<Form schema={schema} />);
  return screen.getByRole("combobox", { name: "Into" });
};
const type = (input: HTMLElement, text: string) => {
  fireEvent.focus(input);
  fireEvent.click(input);
  fireEvent.change(input, { target: { value: text } });
};

describe("the name of a state key", () => {
  it("is made a key by a button that stays while it is pressed", () => {
    const input = show();
    type(input, "fresh");
    fireEvent.blur(input);
    const button = screen.getByRole("button", { name: "Add “fresh” (text) to the state" });
    fireEvent.focus(button);
    expect(button.isConnected).toBe(true);
    fireEvent.click(button);
    expect(doc.get("key:fresh")).toEqual({ type: "string" });
    expect(screen.queryByRole("button", { name: /Add “fresh”/ })).toBeNull();
  });

  it("is made a key of the type that the field needs", () => {
    type(show({ "x-key": { type: "array" } }), "totals");
    fireEvent.click(screen.getByRole("button", { name: "Add “totals” (list) to the state" }));
    expect(doc.get("key:totals")).toEqual({ type: "array" });
  });
});

it("orders matches: the name itself, its beginning, its inside, its description", () => {
  const items = [
    { value: "other", description: "the reply" },
    { value: "last_reply" },
    { value: "reply_to" },
    { value: "reply" },
    { value: "none" },
  ];
  expect(matching(items, "reply").map((item) => item.value)).toEqual([
    "reply",
    "reply_to",
    "last_reply",
    "other",
  ]);
});
