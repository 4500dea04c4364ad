import { parseSync } from "vite";
import { afterEach, describe, expect, it } from "vitest";
import { sources } from "../test/sources";
import { setLocale } from "./intl";
import {
  english,
  fromWorkbench,
  namesOfCommand,
  problemText,
  setWords,
  t,
  tn,
  type Catalogue,
} from "./texts";

const catalogue: Catalogue = {
  texts: {
    "debug.run": "运行",
    "debug.run.errors": "无法运行：图有 {n} 个错误。",
    "debug.run.errorsOne": "无法运行：图有一个错误。",
  },
  commandNames: { "find.open": ["搜索"] },
  kindAliases: {},
  backends: {},
  rust: (english) => ({ Model: "模型", "No node is called {name}.": "没有名为 {name} 的节点。" })[english],
};

afterEach(() => {
  setWords(null);
  setLocale("en", []);
});

describe("the words of a language", () => {
  it("are those of the catalogue, English where it lacks one", () => {
    setWords(catalogue);
    expect([t("debug.run"), t("debug.continue")]).toEqual(["运行", "Continue"]);
    setWords(null);
    expect(t("debug.run")).toBe("Run");
  });
  it("take the plural that the language has", () => {
    const errors = (n: number) => tn("debug.run.errorsOne", "debug.run.errors", n);
    expect([errors(1), errors(2)]).toEqual([
      "Cannot run: the graph has an error.",
      "Cannot run: the graph has 2 errors.",
    ]);
    expect(errors(12_345)).toContain("12\u202f345");
    setWords(catalogue);
    setLocale("zh-CN", []);
    expect(errors(1)).toBe("无法运行：图有 1 个错误。");
  });
  it("say what the workbench says, with its values", () => {
    setWords(catalogue);
    const message = { pattern: "No node is called {name}.", args: { name: "bot" } };
    expect(fromWorkbench("No node is called bot.", message)).toBe("没有名为 bot 的节点。");
    expect(fromWorkbench("Model")).toBe("模型");
    expect(fromWorkbench("Unknown {x}", { pattern: "Unknown {y}", args: {} })).toBe("Unknown {x}");
    expect(fromWorkbench(undefined)).toBeUndefined();
    setWords(null);
    expect(fromWorkbench("No node is called bot.", message)).toBe("No node is called bot.");
  });
  it("say what stands inside of a text, and lists, in the language as well", () => {
    const said: Record<string, string> = {
      "An edge": "边",
      "{what} leads to {names}.": "{what}通向 {names}。",
      "Remove it.": "将其删除。",
    };
    setWords({ ...catalogue, rust: (english) => said[english] });
    setLocale("zh-CN", []);
    const message = {
      pattern: "{what} leads to {names}.",
      args: {
        what: { pattern: "An edge", args: {} },
        names: { join: "comma", list: ["`a`", "`{what}`", { pattern: "An edge", args: {} }] },
      },
    } as const;
    const english = "An edge leads to `a`, `{what}`, An edge.";
    const problem = { code: "x", message: english, remedy: "Remove it.", texts: { message } };
    expect(problemText(problem)).toMatchObject({
      code: "x",
      message: "边通向 `a`、`{what}`、边。",
      remedy: "将其删除。",
    });
    setWords(null);
    expect(problemText(problem)).toMatchObject({ message: english, remedy: "Remove it." });
    expect(problemText({ message: "only this" })).toEqual({ message: "only this" });
  });
  it("name commands in both languages", () => {
    expect(namesOfCommand("find.open")).toEqual(["Search", "Find"]);
    setWords(catalogue);
    expect(namesOfCommand("find.open")).toEqual(["搜索", "Search", "Find"]);
  });
});

interface Node {
  readonly type?: string;
  readonly static?: boolean;
  readonly start: number;
  readonly callee?: Node & { readonly name?: string };
}

/** The lines that call the catalogue when the module is loaded: outside of every function. */
function early(path: string, text: string): string[] {
  const found: string[] = [];
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(walk);
    if (node === null || typeof node !== "object") return;
    const { type = "", callee, start, static: fixed } = node as Node;
    if (/Function|MethodDefinition/.test(type) || (type === "PropertyDefinition" && fixed !== true)) return;
    if (type === "CallExpression" && /^(t|tn|fromWorkbench)$/.test(callee?.name ?? ""))
      found.push(`${path}:${text.slice(0, start).split("\n").length}`);
    Object.values(node).forEach(walk);
  };
  walk(parseSync(path, text).program);
  return found;
}

describe("words that are taken when a module is loaded", () => {
  it("are found", () => {
    const text =
      'const late = () => t("a");\nconst early = [{ title: tn("a", "b", 1) }];\nclass A { b = t("c"); }';
    expect(early("x.ts", text)).toEqual(["x.ts:2"]);
  });
  it("are nowhere, because they would stay those of the language before", () => {
    const found = sources(".ts", ".tsx")
      .filter(({ text }) => text.includes("lib/texts"))
      .flatMap(({ path, text }) => early(path, text));
    expect(found).toEqual([]);
  });
});

interface Call extends Node {
  readonly arguments: readonly {
    readonly type: string;
    readonly value?: unknown;
    readonly properties?: readonly { readonly type: string; readonly key?: { readonly name?: string } }[];
  }[];
}

/** Places of texts that a call leaves open: its values are written there, and one is missing. */
function openPlaces(path: string, source: string): string[] {
  const found: string[] = [];
  const look = ({ callee, start, arguments: given }: Call): void => {
    const many = callee?.name === "tn";
    const keys = given.slice(0, many ? 2 : 1).map(({ value }) => value);
    const vars = given[many ? 3 : 1];
    // Without values braces are text, as in examples of templates; what is spread is not known here.
    const properties = vars?.properties ?? [];
    const known = vars?.type === "ObjectExpression" && properties.every(({ type }) => type === "Property");
    if (vars === undefined ? !many : !known) return;
    const names = new Set([...properties.map(({ key }) => key?.name), ...(many ? ["n"] : [])]);
    for (const key of keys) {
      const text = typeof key === "string" && key in english ? english[key as keyof typeof english] : "";
      for (const [, place = ""] of text.matchAll(/\{(\w+)\}/g))
        if (!names.has(place)) found.push(`${path}:${source.slice(0, start).split("\n").length} {${place}}`);
    }
  };
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(walk);
    if (node === null || typeof node !== "object") return;
    const call = node as Call;
    if (call.type === "CallExpression" && /^tn?$/.test(call.callee?.name ?? "")) look(call);
    Object.values(node).forEach(walk);
  };
  walk(parseSync(path, source).program);
  return found;
}

describe("places of texts", () => {
  it("are found where a call leaves one open", () => {
    const text =
      't("trace.tokens", { n: 1 });\nt("trace.tokens", { input, output });\nt("trace.tokens", some);';
    expect(openPlaces("x.ts", text)).toEqual(["x.ts:1 {input}", "x.ts:1 {output}"]);
  });
  it("are filled in every file", () => {
    const found = sources(".ts", ".tsx")
      .filter(({ text }) => text.includes("lib/texts"))
      .flatMap(({ path, text }) => openPlaces(path, text));
    expect(found).toEqual([]);
  });
});

it("numbers, dates and plurals are written by one file, in the interface's language", () => {
  const found = sources(".ts", ".tsx").filter(({ text }) => /\btoLocale\w*String\(|\bIntl\./.test(text));
  expect(found.map(({ path }) => path)).toEqual(["lib/intl.ts"]);
});
