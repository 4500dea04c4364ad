// @vitest-environment jsdom
import { afterEach, expect, it } from "vitest";
import { keepComposing } from "./composing";

let stop = () => {};
afterEach(() => {
  stop();
  document.body.replaceChildren();
});

/** A field in the page; answers the keys that reach it. */
function field(inEditor = false) {
  const around = document.createElement("div");
  if (inEditor) around.className = "cm-editor";
  const input = document.createElement("input");
  around.append(input);
  document.body.append(around);
  const reached: string[] = [];
  input.addEventListener("keydown", ({ key }) => reached.push(key));
  const press = (init: KeyboardEventInit) => {
    const event = new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...init });
    return input.dispatchEvent(event);
  };
  return { reached, press };
}

it("keeps keys that an input method takes from fields, and leaves them to the input method", () => {
  stop = keepComposing(window);
  const { reached, press } = field();
  const left = press({ key: "Enter", isComposing: true });
  expect(left, "the browser still acts on it").toBe(true);
  press({ key: "Enter", keyCode: 229 });
  expect(reached).toEqual([]);
  press({ key: "Enter" });
  expect(reached).toEqual(["Enter"]);
});

it("leaves the code editor its own", () => {
  stop = keepComposing(window);
  const { reached, press } = field(true);
  press({ key: "Enter", isComposing: true });
  expect(reached).toEqual(["Enter"]);
});
