// @vitest-environment jsdom
import { completionStatus, currentCompletions } from "@codemirror/autocomplete";
import { afterEach, expect, it, vi } from "vitest";
import { createEditor, type EditorHandle } from "./editor";
import type { EditorOptions } from "./options";

const options: EditorOptions = {
  mode: "expression",
  value: "",
  singleLine: true,
  readOnly: false,
  lineNumbers: false,
  placeholder: "",
  minLines: 1,
  maxLines: 1,
  keys: [{ name: "amount", type: "number" }],
  variables: [],
  expected: null,
  valueOf: null,
  attributes: {},
  words: { unknownKey: String, unclosed: String, badJson: String },
  onChange: () => {},
};

// The document of these tests has no layout.
Range.prototype.getClientRects = () => document.createElement("div").getClientRects();

let editor: EditorHandle | undefined;
afterEach(() => editor?.destroy());

it("keeps the list of completions open when the keys of the graph change", async () => {
  editor = createEditor(document.body.appendChild(document.createElement("div")), options);
  const { view } = editor;
  view.focus();
  editor.insert("sta");
  view.dispatch({
    changes: { from: 0, to: 3, insert: "state." },
    selection: { anchor: 6 },
    userEvent: "input.type",
  });
  await vi.waitFor(() => expect(completionStatus(view.state)).toBe("active"));
  const labels = () => currentCompletions(view.state).map(({ label }) => label);
  expect(labels()).toEqual(["amount"]);
  // An edit of the graph elsewhere: other objects with the same keys, and one more.
  editor.update({
    ...options,
    value: "state.",
    keys: [
      { name: "amount", type: "number" },
      { name: "reason", type: "string" },
    ],
  });
  expect(completionStatus(view.state)).toBe("active");
  expect(labels()).toEqual(["amount"]);
  // What is typed next is completed from the new ones.
  view.dispatch({ changes: { from: 0, to: 6, insert: "" }, userEvent: "delete" });
  view.dispatch({
    changes: { from: 0, insert: "state." },
    selection: { anchor: 6 },
    userEvent: "input.type",
  });
  await vi.waitFor(() => expect(labels()).toContain("reason"));
});
