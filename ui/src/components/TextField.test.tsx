// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { sources } from "../test/sources";
import { TextArea, TextField } from "./TextField";

afterEach(cleanup);

const none = () => undefined;
const spelled = () => screen.getByRole("textbox").getAttribute("spellcheck");

it("prose is checked for its spelling; code, expressions and ids are not", () => {
  const area = render(<TextArea value="" onChange={none} />);
  expect(spelled()).toBe("true");
  area.rerender(<TextArea mono value="" onChange={none} />);
  expect(spelled()).toBe("false");
  expect(screen.getByRole("textbox").getAttribute("autocorrect"), "nor corrected").toBe("off");
  area.rerender(<TextArea spellCheck={false} value="" onChange={none} />);
  expect(spelled()).toBe("false");
  cleanup();
  render(<TextField value="" onChange={none} />);
  expect(spelled()).toBe("false");
});

it("every field of its own says whether it is checked", () => {
  const silent = sources(".tsx").flatMap(({ path, text }) =>
    [...text.matchAll(/<(?:input|textarea)\s[^]*?\/>/g)]
      .map(([tag]) => tag)
      .filter((tag) => !/type="(?:radio|range|checkbox|file)"|spellCheck|EXACT/.test(tag))
      .map((tag) => `${path}: ${tag.slice(0, 80)}`),
  );
  expect(silent).toEqual([]);
});
