/** Test ids come from the catalogue (`lib/testIds`): a test finds what it names there, and a rename misses nothing. */
import { expect, it } from "vitest";
import { sources } from "./sources";

/** The values of `data-testid` and `testId` in the text of a component. */
function values(text: string): string[] {
  return [...text.matchAll(/\b(?:data-testid|testId)=/g)].map(({ 0: name, index }) => {
    const from = index + name.length;
    if (text[from] !== "{") return text.slice(from, text.indexOf('"', from + 1) + 1);
    let depth = 0;
    for (let at = from; at < text.length; at++) {
      if (text[at] === "{") depth++;
      else if (text[at] === "}" && --depth === 0) return text.slice(from, at + 1);
    }
    return text.slice(from);
  });
}

/** Is the id itself written there? Arguments of the catalogue, comparisons and names of properties are not ids. */
const isLiteral = (value: string) =>
  /["`]/.test(
    value
      .replaceAll(/Ids\.\w+\((?:[^()`]|`[^`]*`|\([^()]*\))*\)/g, "")
      .replaceAll(/[=!]== "[^"]*"/g, "")
      .replaceAll(/\["data-testid"\]/g, ""),
  );

it("reads literals and the catalogue apart", () => {
  const literals = ['"confirm"', "{`tab-${id}`}", '{open ? "shut" : ids.open}'];
  const catalogued = [
    "{formsIds.confirm}",
    '{formsIds.policy("fallback")}',
    "{formsIds.field(`${prefix}${pointer}`)}",
    '{row.kind === "node" ? formsIds.outlineNode(row.name) : undefined}',
    '{rest["data-testid"]}',
  ];
  expect(values(literals.map((value) => `<p data-testid=${value} />`).join("\n"))).toEqual(literals);
  expect(literals.filter(isLiteral)).toEqual(literals);
  expect(catalogued.filter(isLiteral)).toEqual([]);
});

it("has no test id outside the catalogue", () => {
  const found = sources(".tsx").flatMap(({ path, text }) =>
    values(text)
      .filter(isLiteral)
      .map((value) => `${path}: ${value}`),
  );
  expect(found).toEqual([]);
});
