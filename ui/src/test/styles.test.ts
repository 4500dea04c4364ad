/** One way of styling: utilities of Tailwind on the tokens, in the components. What cannot be utilities is in `styles/`. */
import { expect, it } from "vitest";
import { sources } from "./sources";

/** Lines of hand-written CSS outside `styles/`. */
const LIMIT = 200;
/** Lines of a file in `styles/`: each holds one thing that cannot be utilities, not the looks of components. */
const LONGEST = 180;
/** The only file that brings a style sheet in; the others are imported by that sheet. */
const ENTRY = "main.tsx";

const lines = (text: string) => text.trimEnd().split("\n").length;

it(`keeps hand-written CSS outside styles/ under ${LIMIT} lines`, () => {
  const outside = sources(".css").filter(({ path }) => !path.startsWith("styles/"));
  const total = outside.reduce((sum, { text }) => sum + lines(text), 0);
  expect(total, outside.map(({ path, text }) => `${path}: ${lines(text)}`).join(", ")).toBeLessThanOrEqual(
    LIMIT,
  );
});

it("keeps the files of styles/ short", () => {
  const inside = sources(".css").filter(({ path }) => path.startsWith("styles/"));
  expect(inside.map(({ path }) => path).sort()).toEqual([
    "styles/app.css",
    "styles/contrast.css",
    "styles/lines.css",
    "styles/markdown.css",
    "styles/react-flow.css",
    "styles/tokens.css",
  ]);
  for (const { path, text } of inside)
    expect(lines(text), `${path}: a component's look is utilities in the component`).toBeLessThanOrEqual(
      LONGEST,
    );
});

it("imports a style sheet in one file only, but for the font of a language", () => {
  const importing = sources(".ts", ".tsx").flatMap(({ path, text }) =>
    [...text.matchAll(/^import "(.*\.css)";$/gm)].map(([, sheet]) => [path, sheet]),
  );
  expect(importing).toEqual([
    [ENTRY, "./styles/app.css"],
    ["lib/texts/zh/font.ts", "@fontsource-variable/noto-sans-sc/wght.css"],
  ]);
});

it("takes colours from the tokens, not from Tailwind's palette or by number", () => {
  const found = sources(".ts", ".tsx").flatMap(({ path, text }) =>
    [...text.matchAll(/[\w-]+-(?:\[#[0-9a-f]{3,8}\]|(?:red|blue|green|gray|slate|zinc)-\d{2,3})/g)].map(
      ([name]) => `${path}: ${name}`,
    ),
  );
  expect(found).toEqual([]);
});
