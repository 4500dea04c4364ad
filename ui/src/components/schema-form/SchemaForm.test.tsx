// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { useState } from "react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { SchemaForm, type FieldEditorProps, type SchemaFormProps } from "./SchemaForm";
import type { Json } from "./json";
import type { Schema } from "./schema";

afterEach(cleanup);
// jsdom has no pointer events, which Base UI makes its clicks from.
Object.defineProperty(window, "PointerEvent", { value: MouseEvent, configurable: true });

let last: Json;

function Host({ initial, ...props }: Partial<SchemaFormProps> & { schema: Schema; initial: Json }) {
  const [value, setValue] = useState<Json>(initial);
  last = value;
  return (
    <SchemaForm
      {...props}
      value={value}
      onChange={(next) => {
        last = next;
        setValue(next);
      }}
    />
  );
}

function show(schema: Schema, initial: Json = {}, props: Partial<SchemaFormProps> = {}) {
  return render(<Host schema={schema} initial={initial} {...props} />);
}

const type = (element: HTMLElement, value: string) => fireEvent.change(element, { target: { value } });

describe("SchemaForm", () => {
  it("edits texts and numbers under their labels", () => {
    show({
      type: "object",
      required: ["request"],
      properties: { request: { type: "string" }, max_tokens: { type: "integer" } },
    });
    type(screen.getByLabelText(/request/i), "A lamp");
    type(screen.getByLabelText("Max tokens"), "12");
    expect(last).toEqual({ request: "A lamp", max_tokens: 12 });
  });

  it("draws only the field that is typed in, and loses nothing of those beside it", () => {
    const drawn: string[] = [];
    const Counted = ({ pointer, value, onChange }: FieldEditorProps) => {
      drawn.push(pointer);
      return <input aria-label={pointer} value={value ?? ""} onChange={(e) => onChange(e.target.value)} />;
    };
    const counted = { type: "string", "x-editor": "counted" };
    const item = { type: "object", properties: { c: counted } };
    show(
      {
        type: "object",
        $defs: { counted },
        properties: { a: counted, b: { $ref: "#/$defs/counted" }, list: { type: "array", items: item } },
      },
      { list: [{ c: "1" }, { c: "2" }] },
      { editors: { counted: Counted }, check: "always" },
    );
    drawn.length = 0;
    type(screen.getByLabelText("/a"), "x");
    type(screen.getByLabelText("/b"), "y");
    type(screen.getByLabelText("/list/1/c"), "z");
    expect(drawn).toEqual(["/a", "/b", "/list/1/c"]);
    expect(last).toEqual({ a: "x", b: "y", list: [{ c: "1" }, { c: "z" }] });
  });

  it("keeps half-typed numbers out of the value and removes an emptied optional field", () => {
    show({ type: "object", properties: { n: { type: "number" }, s: { type: "string" } } }, { n: 1, s: "x" });
    const number = screen.getByLabelText("N");
    type(number, "-");
    expect(last).toEqual({ n: 1, s: "x" });
    type(number, "-2.5");
    expect(last).toEqual({ n: -2.5, s: "x" });
    type(number, "");
    expect(last).toEqual({ s: "x" });
    type(screen.getByLabelText("S"), "");
    expect(last).toEqual({});
  });

  it("keeps the empty text of a required field", () => {
    show({ type: "object", required: ["s"], properties: { s: { type: "string" } } }, { s: "x" });
    type(screen.getByLabelText(/^s/i), "");
    expect(last).toEqual({ s: "" });
  });

  it("switches booleans", () => {
    show({ type: "object", properties: { urgent: { type: "boolean" } } });
    fireEvent.click(screen.getByRole("switch", { name: "Urgent" }));
    expect(last).toEqual({ urgent: true });
  });

  it("adds, changes, moves and removes items of a list", () => {
    show(
      { type: "object", properties: { tags: { type: "array", items: { type: "string" } } } },
      { tags: ["a"] },
    );
    fireEvent.click(screen.getByRole("button", { name: "Add" }));
    expect(last).toEqual({ tags: ["a", ""] });
    type(screen.getByLabelText("Tags 2"), "b");
    expect(last).toEqual({ tags: ["a", "b"] });
    fireEvent.click(screen.getByRole("button", { name: "Move item 2 up" }));
    expect(last).toEqual({ tags: ["b", "a"] });
    fireEvent.click(screen.getByRole("button", { name: "Remove item 1" }));
    expect(last).toEqual({ tags: ["a"] });
  });

  it("does not offer more items than allowed", () => {
    show(
      { type: "object", properties: { tags: { type: "array", maxItems: 1, items: { type: "string" } } } },
      { tags: ["a"] },
    );
    expect(screen.queryByRole("button", { name: "Add" })).toBeNull();
  });

  it("keeps fields it does not know", () => {
    show({ type: "object", properties: { a: { type: "string" } } }, { a: "x", other: { deep: [1] } });
    type(screen.getByLabelText("A"), "y");
    expect(last).toEqual({ a: "y", other: { deep: [1] } });
  });

  it("opens an optional object only when it is added, with its required fields", () => {
    show({
      type: "object",
      properties: {
        address: {
          type: "object",
          required: ["city"],
          properties: { city: { type: "string" }, zip: { type: "string" } },
        },
      },
    });
    expect(screen.queryByLabelText(/city/i)).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: "Add" }));
    expect(last).toEqual({ address: { city: "" } });
    type(screen.getByLabelText(/city/i), "Oslo");
    expect(last).toEqual({ address: { city: "Oslo" } });
    fireEvent.click(screen.getByRole("button", { name: "Clear Address" }));
    expect(last).toEqual({});
  });

  it("sets and removes a nullable", () => {
    show(
      { type: "object", required: ["note"], properties: { note: { type: ["string", "null"] } } },
      { note: null },
    );
    fireEvent.click(screen.getByRole("button", { name: "Set a value" }));
    expect(last).toEqual({ note: "" });
    type(screen.getByRole("textbox"), "hi");
    expect(last).toEqual({ note: "hi" });
    fireEvent.click(screen.getByRole("button", { name: "Remove" }));
    expect(last).toEqual({ note: null });
  });

  it("renames a free field without moving it", () => {
    show({ type: "object", additionalProperties: { type: "string" } }, { a: "1", b: "2" });
    const name = screen.getAllByLabelText("Name")[0]!;
    type(name, "first");
    fireEvent.blur(name);
    expect(JSON.stringify(last)).toBe('{"first":"1","b":"2"}');
    type(screen.getAllByLabelText("Name")[0]!, "b");
    fireEvent.blur(screen.getAllByLabelText("Name")[0]!);
    expect(JSON.stringify(last), "a taken name is refused").toBe('{"first":"1","b":"2"}');
  });

  it("complains after a field was left, not before", () => {
    show({ type: "object", required: ["s"], properties: { s: { type: "string", minLength: 1 } } }, { s: "" });
    expect(screen.queryByText("Cannot be empty.")).toBeNull();
    fireEvent.blur(screen.getByLabelText(/^s/i));
    expect(screen.getByText("Cannot be empty.")).toBeTruthy();
    expect(screen.getByLabelText(/^s/i).getAttribute("aria-invalid")).toBe("true");
  });

  it("shows errors from elsewhere at their field, with the remedy", () => {
    show(
      { type: "object", properties: { a: { type: "object", properties: { b: { type: "string" } } } } },
      { a: { b: "x" } },
      {
        errors: [{ pointer: "/a/b", message: "No such folder.", remedy: "Choose another." }],
      },
    );
    const group = screen.getByRole("group", { name: "A" });
    expect(within(group).getByText("No such folder.")).toBeTruthy();
    expect(within(group).getByText("Choose another.")).toBeTruthy();
  });

  it("shows a value of another type as JSON instead of hiding it", () => {
    const { container } = show({ type: "object", properties: { n: { type: "integer" } } }, { n: "twelve" });
    expect(container.querySelector("[data-mode=json]")).toBeTruthy();
    expect(last).toEqual({ n: "twelve" });
  });

  it("edits messages and keeps what it does not show", () => {
    show(
      { type: "object", properties: { messages: { type: "array", "x-editor": "messages" } } },
      { messages: [{ type: "human", content: "hello", id: "m1" }] },
    );
    const text = screen.getByRole("textbox", { name: "Text of message 1" });
    expect(text.getAttribute("id"), "the field's own control is the list").toBeNull();
    type(text, "good day");
    expect(last).toEqual({ messages: [{ type: "human", content: "good day", id: "m1" }] });
    fireEvent.click(screen.getByRole("button", { name: "Add message" }));
    expect(last.messages[1]).toEqual({ type: "ai", content: "" });
  });

  it("changes the variant and keeps what both have", () => {
    show(
      {
        oneOf: [
          {
            title: "Mail",
            type: "object",
            required: ["to"],
            properties: { kind: { const: "mail" }, to: { type: "string" } },
          },
          {
            title: "Call",
            type: "object",
            required: ["kind", "to"],
            properties: { kind: { const: "call" }, to: { type: "string" } },
          },
        ],
      },
      { kind: "mail", to: "Ada" },
    );
    const select = screen.getByRole("combobox");
    expect(select.textContent).toContain("Mail");
    fireEvent.click(select);
    const option = screen.getByRole("option", { name: /Call/ });
    fireEvent.mouseMove(option);
    fireEvent.keyDown(option, { key: "Enter" });
    fireEvent.keyUp(option, { key: "Enter" });
    fireEvent.click(option);
    expect(last).toEqual({ kind: "call", to: "Ada" });
  });

  it("shares one value with the JSON side", async () => {
    const { container } = show({ type: "object", properties: { a: { type: "string" } } }, { a: "x" });
    fireEvent.click(screen.getByRole("tab", { name: "JSON" }));
    expect(container.querySelector("[data-mode=json]")).toBeTruthy();
    fireEvent.click(screen.getByRole("tab", { name: "Form" }));
    expect((screen.getByLabelText("A") as HTMLInputElement).value).toBe("x");
  });

  it("is not editable when read only", () => {
    show(
      {
        type: "object",
        properties: { a: { type: "string" }, l: { type: "array", items: { type: "string" } } },
      },
      { a: "x", l: ["y"] },
      { readOnly: true },
    );
    expect((screen.getByLabelText("A") as HTMLInputElement).readOnly).toBe(true);
    expect(screen.queryByRole("button", { name: "Add" })).toBeNull();
  });

  it("offers what can be done about a problem", () => {
    const run = vi.fn();
    const action = { label: "Settings…", run };
    show(
      { type: "object", properties: { model: { type: "string" } } },
      { model: "x" },
      {
        errors: [{ pointer: "/model", message: "No such model.", action }],
      },
    );
    fireEvent.click(screen.getByRole("button", { name: "Settings…" }));
    expect(run).toHaveBeenCalledOnce();
  });

  it("leaves a yes or no open when it asks somebody", () => {
    show(
      { type: "object", required: ["sure"], properties: { sure: { type: "boolean" } } },
      {},
      { blank: true },
    );
    expect(screen.queryByRole("switch")).toBeNull();
    expect(screen.getByRole("combobox").textContent).toContain("Not set");
  });

  it("offers fields of which one may be there as a choice, and shows the one that is", () => {
    const schema: Schema = {
      type: "object",
      "x-one-of": ["script", "graph"],
      properties: {
        name: { type: "string" },
        script: { type: "object", properties: { source: { type: "string" } }, required: ["source"] },
        graph: { type: "object", properties: { file: { type: "string" } }, required: ["file"] },
      },
    };
    show(schema, { name: "a", script: { source: "x" } });
    expect(screen.getByRole("combobox").textContent).toContain("Script");
    expect(screen.queryByRole("button", { name: "Add" })).toBeNull();
    type(screen.getByLabelText(/source/i), "y");
    expect(last).toEqual({ name: "a", script: { source: "y" } });
    cleanup();
    // Both, as only a text editor can make them: each can be taken away.
    show(schema, { script: { source: "x" }, graph: { file: "f" } });
    fireEvent.click(screen.getByRole("button", { name: "Clear Script" }));
    expect(last).toEqual({ graph: { file: "f" } });
  });

  it("begins an item as its schema says, under a name that is free", async () => {
    const tool = {
      type: "object",
      required: ["name"],
      properties: { name: { type: "string" }, url: { type: "string" } },
      "x-begin": [{ title: "Request", first: "url", value: { name: "fetch", url: "" } }],
    } as Schema;
    show(
      { type: "object", properties: { tools: { type: "array", items: tool } } },
      { tools: [{ name: "fetch" }] },
    );
    fireEvent.click(screen.getByRole("button", { name: /add/i }));
    fireEvent.click(await screen.findByRole("menuitem", { name: "Request" }));
    expect(last).toEqual({ tools: [{ name: "fetch" }, { name: "fetch_2", url: "" }] });
    await vi.waitFor(() => expect(document.activeElement?.closest("[data-pointer$='/url']")).not.toBeNull());
  });

  it("adds the first item of a folded list from the line that is named after it", async () => {
    const server = { type: "object", required: ["server"], properties: { server: { type: "string" } } };
    const schema = {
      type: "object",
      "x-form": { front: [], groups: [{ title: "Servers", fields: ["servers", "prefix"] }] },
      properties: {
        servers: { type: "array", title: "Servers", items: server },
        prefix: { type: "string" },
      },
    } as Schema;
    show(schema, {});
    fireEvent.click(screen.getByRole("button", { name: "Add to Servers" }));
    expect(last).toEqual({ servers: [{ server: "" }] });
    await vi.waitFor(() =>
      expect(document.activeElement?.closest("[data-pointer$='/servers/0/server']")).not.toBeNull(),
    );
    expect(screen.queryByRole("button", { name: "Add to Servers" }), "the list has its own").toBeNull();
    cleanup();
    show(schema, { servers: [{ server: "a" }] });
    expect(screen.queryByRole("button", { name: "Add to Servers" })).toBeNull();
    cleanup();
    show(schema, {}, { readOnly: true });
    expect(screen.queryByRole("button", { name: "Add to Servers" })).toBeNull();
  });
});
