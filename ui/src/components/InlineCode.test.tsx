// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { InlineCode } from "./InlineCode";

afterEach(cleanup);
const html = (text: string) =>
  render(
    <p>
      <InlineCode text={text} />
    </p>,
  ).container.querySelector("p")!.innerHTML;

it("sets what is between backticks as code", () => {
  expect(html("no key `a.b` or `c`.")).toBe("no key <code>a.b</code> or <code>c</code>.");
  expect(html("plain")).toBe("plain");
});
it("leaves a lone backtick alone", () => {
  expect(html("a ` b")).toBe("a ` b");
  expect(html("`a` and ` b")).toBe("<code>a</code> and ` b");
});
