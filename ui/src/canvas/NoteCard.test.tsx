// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { NoteFace } from "./NoteCard";
import type { Note } from "./notes";

afterEach(cleanup);
const note = (text: string): Note => ({ text, colour: "green", frame: false, width: null, height: null });
const show = (text: string) => render(<NoteFace name="words" note={note(text)} testId="words" />).container;

it("shows Markdown: headings, lists, emphasis, code and links that say where they lead", () => {
  const page = show(
    "# Plan\n\n- **first** `reply`\n- [docs](https://example.com/a)\n\nfirst line\nsecond line",
  );
  expect(page.querySelector("h3")?.textContent).toBe("Plan");
  expect([...page.querySelectorAll("li")].map((item) => item.textContent)).toEqual([
    "first reply",
    "docs (example.com)",
  ]);
  expect(page.querySelector("strong")?.textContent).toBe("first");
  expect(page.querySelector("code")?.textContent).toBe("reply");
  expect(page.querySelector("a")?.getAttribute("href")).toBe("https://example.com/a");
  expect(page.querySelector("p")?.textContent).toBe("first line\nsecond line");
});

it("runs nothing that somebody wrote into it", () => {
  const page = show('<img src=x onerror="alert(1)"> [go](javascript:alert(1))');
  expect(page.querySelector("img, a, script")).toBeNull();
  expect(page.textContent).toContain("<img");
});
