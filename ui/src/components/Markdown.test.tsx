// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { Markdown, parseMarkdown } from "./Markdown";

afterEach(cleanup);
const html = (text: string) =>
  render(<Markdown text={text} />).container.querySelector(".ss-markdown")!.innerHTML;

describe("Markdown", () => {
  it("draws the usual blocks", () => {
    expect(html("# Title\n\nSome *very* **bold** `code`.\n\n- a\n- b\n\n```\nx < y\n```")).toBe(
      '<h3 data-level="1">Title</h3><p>Some <em>very</em> <strong>bold</strong> <code>code</code>.</p>' +
        "<ul><li>a</li><li>b</li></ul><pre>x &lt; y</pre>",
    );
  });
  it("nests lists and reads tables", () => {
    expect(parseMarkdown("1. one\n   - deep\n2. two")).toEqual([
      {
        kind: "list",
        ordered: true,
        items: [
          [
            { kind: "text", text: "one" },
            { kind: "list", ordered: false, items: [[{ kind: "text", text: "deep" }]] },
          ],
          [{ kind: "text", text: "two" }],
        ],
      },
    ]);
    expect(parseMarkdown("| a | b |\n|---|---|\n| 1 | 2 |")).toEqual([
      { kind: "table", head: ["a", "b"], rows: [["1", "2"]] },
    ]);
  });
  it("never makes elements of what it is given", () => {
    expect(html("<img src=x onerror=alert(1)>")).toBe("<p>&lt;img src=x onerror=alert(1)&gt;</p>");
    expect(html("[click](javascript:alert(1)) ![pic](http://x/y.png)")).not.toMatch(/href|src/);
    expect(html("[site](https://example.org)")).toContain('href="https://example.org"');
  });
  it("ends on any input", () => {
    for (const text of [
      "- ",
      "- a\n\n\n",
      "> ",
      "```",
      "|\n|-",
      "1.",
      "* a\n\n  b\n\n* c",
      "#",
      "- a\n  - b\n    - c\nd",
    ]) {
      expect(Array.isArray(parseMarkdown(text))).toBe(true);
    }
  });
  it("keeps underscores inside words", () => {
    expect(html("state_key and add_messages_here")).toBe("<p>state_key and add_messages_here</p>");
  });
});
