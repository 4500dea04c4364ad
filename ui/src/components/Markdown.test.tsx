// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { InlineMarkdown, isReadable, Markdown } from "./Markdown";

afterEach(cleanup);
const html = (text: string) =>
  render(<Markdown text={text} />)
    .container.querySelector(".markdown")!
    .innerHTML.replaceAll("\n", "");
const inline = (text: string) =>
  render(<InlineMarkdown text={text} />).container.querySelector(".markdown-line")!.innerHTML;

describe("Markdown", () => {
  it("draws the usual blocks", () => {
    expect(html("# Title\n\nSome *very* **bold** `code`.\n\n- a\n- b\n\n```\nx < y\n```")).toBe(
      '<h3 data-level="1">Title</h3><p>Some <em>very</em> <strong>bold</strong> <code>code</code>.</p>' +
        "<ul><li>a</li><li>b</li></ul><pre><code>x &lt; y</code></pre>",
    );
  });

  it("nests lists and reads tables", () => {
    expect(html("1. one\n   - deep\n2. two")).toBe("<ol><li>one<ul><li>deep</li></ul></li><li>two</li></ol>");
    expect(html("| a | b |\n|---|---|\n| 1 | 2 |")).toBe(
      '<div class="markdown-table"><table><thead><tr><th>a</th><th>b</th></tr></thead>' +
        "<tbody><tr><td>1</td><td>2</td></tr></tbody></table></div>",
    );
  });

  it("never makes elements of what it is given", () => {
    expect(html("<img src=x onerror=alert(1)>")).toBe("&lt;img src=x onerror=alert(1)&gt;");
    expect(html("a <b onclick=alert(1)>b</b>")).toBe("<p>a &lt;b onclick=alert(1)&gt;b&lt;/b&gt;</p>");
    expect(
      html("[click](javascript:alert(1)) ![pic](http://x/y.png) [mail](mailto:a@b) [here](/x)"),
    ).not.toMatch(/href|src/);
  });

  it("says where a link leads", () => {
    const link = (text: string) => html(text).replace(/ (class|target|rel|title)="[^"]*"/g, "");
    expect(link("[https://bank.example](https://evil.example/x)")).toBe(
      '<p><a href="https://evil.example/x">https://bank.example</a><span> (evil.example)</span></p>',
    );
    expect(link("[site](https://example.org)")).toContain("(example.org)");
    expect(link("see https://example.org/a")).not.toContain("(example.org)");
    expect(link("[example.org](https://example.org.evil.example)")).toContain("(example.org.evil.example)");
    expect(link("[bank.com/login](https://bank.co/x)")).toContain("(bank.co)");
    expect(link("[bank.co.uk](https://bank.co/x)")).toContain("(bank.co)");
    expect(link("[bank.co/x](https://bank.co/x)")).not.toContain("(bank.co)");
  });

  it("shows what is too long or too deep as it was written", () => {
    const deep = Array.from({ length: 1000 }, (_, at) => `${"  ".repeat(at)}- a`).join("\n");
    for (const text of [">".repeat(4000), "- ".repeat(4000), "1) ".repeat(20), deep, "a".repeat(50_000)]) {
      expect(isReadable(text)).toBe(false);
      expect(render(<Markdown text={text} />).container.querySelector("pre")!.textContent).toBe(text);
      cleanup();
    }
    expect(isReadable("- a\n  - b\n    - c\n> > quote\n\n    code { deep }")).toBe(true);
  });

  it("ends in time on what took other readers for ever", () => {
    for (const text of [
      `# a${" ".repeat(20_000)}b`,
      "[a](".repeat(5000),
      "[".repeat(5000),
      "*a **b ".repeat(2000),
      "<".repeat(20_000),
      "_".repeat(20_000),
    ]) {
      expect(html(text).length).toBeGreaterThan(0);
      cleanup();
    }
  });

  it("keeps underscores inside words", () => {
    expect(html("state_key and add_messages_here")).toBe("<p>state_key and add_messages_here</p>");
  });

  it("draws marks inside a line, and leaves blocks as text", () => {
    expect(inline("Refund *now* with `pay`?")).toBe("Refund <em>now</em> with <code>pay</code>?");
    for (const text of ["1. one", "- a", "# title", "> said", "---"]) {
      expect(inline(text).replace("&gt;", ">")).toBe(text);
      cleanup();
    }
  });
});
