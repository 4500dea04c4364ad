/**
 * What expressions and templates can say, as data and pure functions: the built-in filters, tests and functions, where
 * the cursor is in a text, and which names would fit there. No editor in here.
 */

import type { Schema } from "../schema-form/schema";

/** A state key as editors need it. */
export interface KeyInfo {
  name: string;
  /** Type for people: `string`, `list of message`, … */
  type: string;
  description?: string | undefined;
  /** Names inside, when the key holds an object of a known shape. */
  fields?: KeyInfo[] | undefined;
  /** Names inside of each item, when it holds a list of such. */
  items?: KeyInfo[] | undefined;
  /** The schema of its value; absent means that it may be anything. */
  schema?: Schema | undefined;
}

/** A name beside the state: alone, or with what is inside. */
export type Variable = string | KeyInfo;

export interface Suggestion {
  label: string;
  /** Inserted instead of the label. */
  insert?: string;
  /** Right of the label. */
  detail?: string | undefined;
  /** A sentence. */
  info?: string | undefined;
  kind: "key" | "field" | "filter" | "test" | "function" | "keyword" | "variable";
  /** Higher comes first. */
  boost?: number;
}

type Word = readonly [name: string, signature: string, info: string];

/** Filters of minijinja, with what a person needs to choose one. */
const FILTERS: readonly Word[] = [
  ["abs", "", "The number without its sign."],
  ["attr", "(name)", "A field of the value, by name."],
  ["batch", "(count)", "Cuts a list into lists of this many items."],
  ["bool", "", "True or false, as an if would see it."],
  ["capitalize", "", "First letter upper case, the rest lower."],
  ["chain", "(other)", "Both lists or objects one after the other."],
  ["count", "", "How many items or characters. Same as length."],
  ["default", "(other)", "The other value when this one is missing."],
  ["dictsort", "", "An object as a list of [key, value], sorted by key."],
  ["escape", "", "Replaces characters that mean something in HTML."],
  ["first", "", "The first item."],
  ["float", "", "The value as a number with a fraction."],
  ["groupby", "(field)", "Groups the items of a list by a field."],
  ["indent", "(width)", "Indents every line but the first."],
  ["int", "", "The value as a whole number."],
  ["items", "", "An object as a list of [key, value]."],
  ["join", "(text)", "The items as one text, with a text between them."],
  ["last", "", "The last item."],
  ["length", "", "How many items or characters."],
  ["lines", "", "The lines of a text, as a list."],
  ["list", "", "The value as a list."],
  ["lower", "", "All lower case."],
  ["map", "(attribute=name)", "One field or filter applied to every item."],
  ["max", "", "The largest item."],
  ["min", "", "The smallest item."],
  ["pprint", "", "The value written out for reading."],
  ["reject", "(test)", "The items that do not pass a test."],
  ["rejectattr", "(field, test)", "The items whose field does not pass a test."],
  ["replace", "(from, to)", "Replaces every occurrence of a text."],
  ["reverse", "", "Last to first."],
  ["round", "(digits)", "Rounds a number."],
  ["select", "(test)", "The items that pass a test."],
  ["selectattr", "(field, test, value)", "The items whose field passes a test."],
  ["slice", "(count)", "Cuts a list into this many lists."],
  ["sort", "(attribute=name)", "Smallest to largest."],
  ["split", "(text)", "Cuts a text at another one."],
  ["string", "", "The value as text."],
  ["sum", "", "All items added up."],
  ["title", "", "Every Word Begins Upper Case."],
  ["tojson", "", "The value as JSON."],
  ["trim", "", "Without spaces at the ends."],
  ["unique", "", "Without repeated items."],
  ["upper", "", "All upper case."],
  ["urlencode", "", "Safe to put into a web address."],
  ["zip", "(other)", "Pairs the items of two lists."],
];

/** What may follow `is`. */
const TESTS: readonly Word[] = [
  ["boolean", "", "Is true or false."],
  ["defined", "", "Has a value at all."],
  ["divisibleby", "(number)", "Divides without a rest."],
  ["endingwith", "(text)", "Ends with a text."],
  ["even", "", "Is an even number."],
  ["false", "", "Is exactly false."],
  ["in", "(list)", "Is one of a list."],
  ["integer", "", "Is a whole number."],
  ["iterable", "", "Can be looped over."],
  ["mapping", "", "Is an object."],
  ["none", "", "Is null."],
  ["number", "", "Is a number."],
  ["odd", "", "Is an odd number."],
  ["sequence", "", "Is a list."],
  ["startingwith", "(text)", "Begins with a text."],
  ["string", "", "Is a text."],
  ["true", "", "Is exactly true."],
  ["undefined", "", "Has no value."],
];

const FUNCTIONS: readonly Word[] = [
  ["range", "(from, to)", "Numbers in a row."],
  ["dict", "(a=1)", "An object."],
];

const KEYWORDS = ["and", "or", "not", "in", "is", "if", "else", "true", "false", "none"];
const STATEMENTS: readonly Word[] = [
  ["if", "", "Only when a condition holds."],
  ["elif", "", "Otherwise, when another condition holds."],
  ["else", "", "Otherwise."],
  ["endif", "", "Ends if."],
  ["for", " x in …", "For each item."],
  ["endfor", "", "Ends for."],
  ["set", " x = …", "Names a value for later."],
  ["with", "", "Names a value for a part."],
  ["endwith", "", "Ends with."],
];

/** Where the cursor is. `word` is what has been typed of the name so far, `from` where it begins. */
export type Place =
  | { at: "text"; from: number; word: string }
  | { at: "nowhere" }
  | { at: "member"; path: string[]; from: number; word: string }
  | { at: "filter"; from: number; word: string }
  | { at: "test"; from: number; word: string }
  | { at: "statement"; from: number; word: string }
  | { at: "name"; from: number; word: string };

/** Finds the place of a position in a text. In a template only what is inside `{{ }}` and `{% %}` is code. */
export function placeOf(text: string, position: number, template: boolean): Place {
  const before = text.slice(0, position);
  let code = before;
  let offset = 0;
  let block = false;
  if (template) {
    const inside = openDelimiter(before);
    if (inside === null) {
      const typed = /[\w.]*$/.exec(before)?.[0] ?? "";
      return { at: "text", from: position - typed.length, word: typed };
    }
    if (inside.kind === "#") return { at: "nowhere" };
    offset = inside.from;
    code = before.slice(offset);
    block = inside.kind === "%";
  }
  if (inString(code)) return { at: "nowhere" };

  const member = /([A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\])*)\.(\w*)$/.exec(code);
  if (member) {
    const path = member[1]!.replace(/\[\d+\]/g, "[]").split(/\.|(?=\[\])/);
    return { at: "member", path, from: position - member[2]!.length, word: member[2]! };
  }
  const word = /[A-Za-z_]\w*$/.exec(code)?.[0] ?? "";
  const from = position - word.length;
  const lead = code.slice(0, code.length - word.length);
  if (/\d$/.test(lead) && word === "") return { at: "nowhere" };
  if (/\|\s*$/.test(lead) && !/\|\|\s*$/.test(lead)) return { at: "filter", from, word };
  if (/\bis\s+(not\s+)?$/.test(lead)) return { at: "test", from, word };
  if (block && /^\{%[-+]?\s*$/.test(lead)) return { at: "statement", from, word };
  return { at: "name", from, word };
}

/** The delimiter that is open at the end of a text, if one is. */
function openDelimiter(before: string): { kind: string; from: number } | null {
  let at = 0;
  for (;;) {
    const next = /\{([{%#])/g;
    next.lastIndex = at;
    const found = next.exec(before);
    if (found === null) return null;
    const kind = found[1]!;
    const close = kind === "{" ? "}}" : `${kind}}`;
    const end = endOf(before, found.index + 2, close, kind !== "#");
    if (end < 0) return { kind, from: found.index };
    at = end;
  }
}

function endOf(text: string, from: number, close: string, strings: boolean): number {
  let quote = "";
  for (let at = from; at < text.length; at += 1) {
    const char = text[at]!;
    if (quote !== "") {
      if (char === "\\") at += 1;
      else if (char === quote) quote = "";
    } else if (strings && (char === '"' || char === "'")) quote = char;
    else if (text.startsWith(close, at)) return at + close.length;
  }
  return -1;
}

function inString(code: string): boolean {
  let quote = "";
  for (let at = 0; at < code.length; at += 1) {
    const char = code[at]!;
    if (quote !== "") {
      if (char === "\\") at += 1;
      else if (char === quote) quote = "";
    } else if (char === '"' || char === "'") quote = char;
  }
  return quote !== "";
}

/** What could be written at a place. */
export function suggestionsAt(
  place: Place,
  keys: readonly KeyInfo[],
  variables: readonly Variable[] = [],
): Suggestion[] {
  const around = variables.map((each) => (typeof each === "string" ? { name: each, type: "" } : each));
  switch (place.at) {
    case "nowhere":
      return [];
    case "text":
      return keys.map((key) => ({
        label: `{{ state.${key.name} }}`,
        detail: key.type,
        info: key.description,
        kind: "key" as const,
      }));
    case "member": {
      const [root, ...path] = place.path;
      return insideOf(place.path, keys, around).map((key) => ({
        label: key.name,
        detail: key.type,
        info: key.description,
        kind: root === "state" && path.length === 0 ? ("key" as const) : ("field" as const),
      }));
    }
    case "filter":
      return FILTERS.map(([name, signature, info]) => word(name, signature, info, "filter"));
    case "test":
      return [
        { label: "not", kind: "keyword" },
        ...TESTS.map(([name, signature, info]) => word(name, signature, info, "test")),
      ];
    case "statement":
      return STATEMENTS.map(([name, signature, info]) => ({
        label: name,
        detail: signature,
        info,
        kind: "keyword" as const,
      }));
    case "name":
      return [
        ...keys.map((key) => ({
          label: `state.${key.name}`,
          detail: key.type,
          info: key.description,
          kind: "key" as const,
          boost: 2,
        })),
        ...around.flatMap(({ name, type, description: info, fields = [] }) => [
          { label: name, ...(type !== "" && { detail: type }), info, kind: "variable" as const, boost: 1 },
          ...fields.map((field) => ({
            label: `${name}.${field.name}`,
            detail: field.type,
            info: field.description,
            kind: "field" as const,
            boost: 1,
          })),
        ]),
        { label: "state", detail: "object", kind: "variable" as const, boost: 1 },
        ...FUNCTIONS.map(([name, signature, info]) => word(name, signature, info, "function")),
        ...KEYWORDS.map((name) => ({ label: name, kind: "keyword" as const, boost: -1 })),
      ];
  }
}

/** The names inside what a path leads to; `[]` is any item of a list. */
function insideOf(
  [root, ...path]: readonly string[],
  keys: readonly KeyInfo[],
  around: readonly KeyInfo[],
): readonly KeyInfo[] {
  let at: KeyInfo | undefined =
    root === "state"
      ? { name: root, type: "", fields: [...keys] }
      : around.find((each) => each.name === root);
  for (const name of path)
    at = name === "[]" ? at && { ...at, fields: at.items } : at?.fields?.find((key) => key.name === name);
  return at?.fields ?? [];
}

/** What a path leads to, as `state.order.total`; null where that is not known. */
export function infoAt(
  path: readonly string[],
  keys: readonly KeyInfo[],
  variables: readonly Variable[] = [],
): KeyInfo | null {
  const around = variables.flatMap((each) => (typeof each === "string" ? [] : each));
  const name = path.at(-1) ?? "";
  if (path.length === 1) return around.find((each) => each.name === name) ?? null;
  return insideOf(path.slice(0, -1), keys, around).find((each) => each.name === name) ?? null;
}

function word(name: string, signature: string, info: string, kind: Suggestion["kind"]): Suggestion {
  return {
    label: name,
    ...(signature !== "" && { insert: `${name}(` }),
    detail: signature,
    info,
    kind,
  };
}

/** A use of a state key in an expression or a template. */
export interface KeyUse {
  key: string;
  from: number;
  to: number;
}

const usesIn = (root: string) =>
  new RegExp(
    String.raw`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?<![\w.])${root}\s*(?:\.\s*([A-Za-z_]\w*)|\[\s*(?:"([^"\\]+)"|'([^'\\]+)')\s*\])`,
    "g",
  );
const USES = { state: usesIn("state"), update: usesIn("update") } as const;

/**
 * Every `state.KEY` and `state["KEY"]` in the code parts of a text, or those of another root. Text in strings and comments does
 * not count.
 */
export function keyUses(text: string, template: boolean, root: "state" | "update" = "state"): KeyUse[] {
  const uses: KeyUse[] = [];
  if (!text.includes(root)) return uses;
  for (const [from, to] of template ? codeRanges(text) : [[0, text.length] as const]) {
    const code = text.slice(from, to);
    for (const found of code.matchAll(USES[root])) {
      const key = found[1] ?? found[2] ?? found[3];
      if (key === undefined) continue;
      const start = from + found.index + found[0].lastIndexOf(key);
      uses.push({ key, from: start, to: start + key.length });
    }
  }
  return uses;
}

function codeRanges(text: string): (readonly [number, number])[] {
  const ranges: (readonly [number, number])[] = [];
  const opening = /\{([{%#])/g;
  for (let found = opening.exec(text); found !== null; found = opening.exec(text)) {
    const kind = found[1]!;
    const close = kind === "{" ? "}}" : `${kind}}`;
    const end = endOf(text, found.index + 2, close, kind !== "#");
    const to = end < 0 ? text.length : end;
    if (kind !== "#") ranges.push([found.index + 2, to]);
    opening.lastIndex = to;
  }
  return ranges;
}

/** The text with every use of a key replaced by another name. */
export function renameKeyUses(text: string, from: string, to: string, template: boolean): string {
  const uses = keyUses(text, template).filter((use) => use.key === from);
  let result = text;
  for (const use of uses.toReversed()) {
    const plain = /^[A-Za-z_]\w*$/.test(to);
    const dotted = /\.\s*$/.test(text.slice(0, use.from));
    if (dotted && !plain) {
      const dot = text.slice(0, use.from).lastIndexOf(".");
      result = `${result.slice(0, dot)}[${JSON.stringify(to)}]${result.slice(use.to)}`;
    } else {
      result = result.slice(0, use.from) + to + result.slice(use.to);
    }
  }
  return result;
}

/** A mistake that can be seen without compiling: an open bracket or quote. */
export function openBracket(
  text: string,
  template: boolean,
): { from: number; to: number; what: string } | null {
  const stack: { char: string; at: number }[] = [];
  const closes: Record<string, string> = { ")": "(", "]": "[", "}": "{" };
  if (template) {
    const open = openDelimiter(text);
    return open === null ? null : { from: open.from, to: open.from + 2, what: `{${open.kind}` };
  }
  let quote: { char: string; at: number } | null = null;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!;
    if (quote) {
      if (char === "\\") at += 1;
      else if (char === quote.char) quote = null;
    } else if (char === '"' || char === "'") quote = { char, at };
    else if (char === "(" || char === "[" || char === "{") stack.push({ char, at });
    else if (char in closes) {
      const last = stack.pop();
      if (last?.char !== closes[char]) return { from: at, to: at + 1, what: char };
    }
  }
  const left = quote ?? stack.pop();
  return left ? { from: left.at, to: left.at + 1, what: left.char } : null;
}
