import { expect, it } from "vitest";
import { english } from "../../texts";
import { zh } from ".";
import { kinds } from "./kinds";
import { problems } from "./problems";

/** The places of a text. */
const places = (text: string) => [...new Set(text.match(/\{\w+\}/g))].sort();

it("Chinese has the keys and the places of English", () => {
  expect(Object.keys(zh.texts).sort()).toEqual(Object.keys(english).sort());
  for (const [key, text] of Object.entries(zh.texts))
    expect(places(text), key).toEqual(places(english[key as keyof typeof english]));
});

it("what the workbench says keeps its places", () => {
  for (const [source, text] of [...Object.entries(kinds), ...Object.entries(problems)])
    expect(places(text), source).toEqual(places(source));
});
