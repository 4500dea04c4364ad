import { expect, it } from "vitest";
import { kinds } from "./kinds";

type Words = Readonly<Record<string, string>>;
type Files = Record<string, Readonly<Record<string, Words>>>;

const OTHERS = new Set(["index", "command-names", "kinds"]);
const name = (path: string) => path.replace(/^.*\/|\.ts$/g, "");
const words = (files: Files) =>
  Object.entries(files)
    .filter(([path]) => !OTHERS.has(name(path)) && !path.endsWith(".test.ts"))
    .map(([path, file]) => [name(path), Object.assign({}, ...Object.values(file)) as Words] as const);

const english = new Map(
  words(import.meta.glob<Readonly<Record<string, Words>>>(["../*.ts", "!../pseudo.ts"], { eager: true })),
);
const chinese = words(
  import.meta.glob<Readonly<Record<string, Words>>>(["./*.ts", "!./*.test.ts"], { eager: true }),
);
/** The places of a text. */
const places = (text: string) => [...new Set(text.match(/\{\w+\}/g))].sort();

it("Chinese has the keys and the places of English", () => {
  expect(chinese.length).toBeGreaterThan(10);
  for (const [file, texts] of chinese) {
    const source = english.get(file) ?? {};
    expect(Object.keys(texts).sort(), file).toEqual(Object.keys(source).sort());
    for (const [key, text] of Object.entries(texts))
      expect(places(text), key).toEqual(places(source[key] ?? ""));
  }
});

it("what the workbench says keeps its places", () => {
  for (const [source, text] of Object.entries(kinds)) expect(places(text), source).toEqual(places(source));
});
