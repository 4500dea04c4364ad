/**
 * What kind of value an expression gives, as far as the schemas of the state keys say it, and where it is surely not what
 * its place needs. Whatever is not known is anything, and nothing is said of it. Pure; no editor in here.
 */
import type { Schema } from "../schema-form/schema";
import { typesOf } from "../schema-form/types";
import type { KeyInfo, Variable } from "./jinja";
import { parseExpression, type Expression, type Span } from "./parse-expression";

/** What a place takes: the value of a key, the items of a list, a condition, or nothing in particular. */
export type Expected = { readonly is: "condition" } | { readonly is: "value"; readonly schema: Schema };

/** Something that is surely not meant, for an editor to say in words. */
export type TypeNotice = Span &
  (
    | { readonly what: "compare"; readonly left: Side; readonly right: Side }
    | { readonly what: "choice"; readonly side: string; readonly values: readonly unknown[] }
    | { readonly what: "operand"; readonly sign: string; readonly left: Side; readonly right: Side }
    | { readonly what: "field"; readonly of: Side; readonly name: string; readonly fields: readonly string[] }
    | { readonly what: "inside"; readonly side: Side }
    | { readonly what: "expected"; readonly gives: Schema; readonly schema: Schema }
    | { readonly what: "constant" }
  );

/** A part of an expression, as it is written, and what it gives. */
export interface Side {
  readonly text: string;
  readonly schema: Schema;
}

/** Names that an expression sees, by what they hold. */
export type Names = ReadonlyMap<string, Schema>;

const ANY: Schema = {};
const TEXT: Schema = { type: "string" };
const NUMBER: Schema = { type: "number" };
const COUNT: Schema = { type: "integer" };
const YES_NO: Schema = { type: "boolean" };
const LIST: Schema = { type: "array" };

/** A schema of the state, or anything where it is not a schema by itself. */
function known(schema: unknown): Schema {
  if (typeof schema !== "object" || schema === null) return ANY;
  const given = schema as Schema & { reducer?: unknown };
  if (given.reducer === "add_messages") return { type: "array", items: { type: "object" } };
  return given;
}

/** The names around an expression: the state, and what is seen beside it. */
export function namesOf(keys: readonly KeyInfo[], variables: readonly Variable[] = []): Names {
  const properties = Object.fromEntries(keys.map((key) => [key.name, known(key.schema)]));
  const names = new Map<string, Schema>([["state", { type: "object", properties }]]);
  for (const each of variables) {
    if (typeof each === "string") names.set(each, ANY);
    else if (each.schema !== undefined) names.set(each.name, known(each.schema));
    else if (each.fields)
      names.set(each.name, {
        type: "object",
        properties: Object.fromEntries(each.fields.map((field) => [field.name, known(field.schema)])),
      });
  }
  return names;
}

/** The groups of types that are never equal to each other: whole numbers are numbers. */
function groups(schema: Schema): ReadonlySet<string> | null {
  const types = schema.type === undefined ? impliedBy(schema) : typesOf(schema);
  if (types === null || types.length === 0) return null;
  return new Set(types.map((type) => (type === "integer" ? "number" : type)));
}

function impliedBy(schema: Schema): string[] | null {
  if (schema.enum && schema.enum.length > 0) return [...new Set(schema.enum.map(jsonType))];
  if (schema.const !== undefined) return [jsonType(schema.const)];
  return schema.properties ? ["object"] : schema.items ? ["array"] : null;
}

function jsonType(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** Is it surely none of these types? Nothing (null) may be there for any value that is not there yet. */
function isNever(schema: Schema, types: readonly string[]): boolean {
  const own = groups(schema);
  return own !== null && !own.has("null") && !types.some((type) => own.has(type));
}

function overlap(a: Schema, b: Schema): boolean {
  const [left, right] = [groups(a), groups(b)];
  if (left === null || right === null || left.has("null") || right.has("null")) return true;
  // true is 1 in comparisons of numbers.
  const numbers = (set: ReadonlySet<string>) => set.has("number") || set.has("boolean");
  return [...left].some((type) => right.has(type)) || (numbers(left) && numbers(right));
}

function itemsOf(schema: Schema): Schema {
  return typeof schema.items === "object" ? known(schema.items) : ANY;
}

/** Both, where they are of one type; else anything. */
function either(a: Schema, b: Schema): Schema {
  if (a === b) return a;
  const [left, right] = [groups(a), groups(b)];
  if (left === null || right === null) return ANY;
  const types = [...new Set([...left, ...right])];
  return { type: types.length === 1 ? (types[0] ?? "") : types };
}

/** Filters by what they give, whatever they are given. */
const GIVES: Readonly<Record<string, Schema>> = {
  ...Object.fromEntries(
    "capitalize escape e indent join lower pprint replace string title tojson trim upper urlencode format"
      .split(" ")
      .map((name) => [name, TEXT]),
  ),
  ...Object.fromEntries(["float", "round", "abs", "sum"].map((name) => [name, NUMBER])),
  ...Object.fromEntries(["int", "length", "count"].map((name) => [name, COUNT])),
  ...Object.fromEntries(
    "batch dictsort groupby items list map slice split lines zip chain"
      .split(" ")
      .map((name) => [name, LIST]),
  ),
  bool: YES_NO,
};
/** Filters that give a list of what they are given a list of. */
const KEEPS = new Set(["list", "sort", "unique", "select", "reject", "selectattr", "rejectattr", "reverse"]);
const TAKES = new Set(["first", "last", "min", "max"]);

class Reasoning {
  readonly notices: TypeNotice[] = [];

  constructor(
    readonly text: string,
    readonly names: Names,
  ) {}

  #side(of: Expression, schema: Schema): Side {
    return { text: this.text.slice(of.from, of.to), schema };
  }

  of(node: Expression): Schema {
    switch (node.is) {
      case "value":
        return typeof node.value === "number" && Number.isInteger(node.value)
          ? { type: "integer", const: node.value }
          : { type: jsonType(node.value), const: node.value as never };
      case "name":
        return this.names.get(node.name) ?? ANY;
      case "list": {
        const items = node.items.map((item) => this.of(item));
        const [first, ...rest] = items;
        const all = first === undefined ? ANY : rest.reduce((sum, each) => either(sum, each), first);
        return { type: "array", items: withoutValue(all) };
      }
      case "object":
        return { type: "object" };
      case "member":
        return this.#member(node);
      case "item":
        return this.#item(node);
      case "call":
        // A method: what it is called on is looked at, and it may give anything.
        if (node.of.is === "member") this.of(node.of.of);
        return node.of.is === "name" && node.of.name === "range" ? { type: "array", items: COUNT } : ANY;
      case "filter":
        return this.#filter(node);
      case "not":
        this.of(node.of);
        return YES_NO;
      case "minus":
        this.of(node.of);
        return NUMBER;
      case "test":
        return YES_NO;
      case "binary":
        return this.#binary(node);
      case "choice": {
        const value = this.of(node.value);
        return node.otherwise === null ? ANY : either(value, this.of(node.otherwise));
      }
    }
  }

  #member(node: Expression & { is: "member" }): Schema {
    const of = this.of(node.of);
    const field = of.properties?.[node.name];
    if (field !== undefined) return typeof field === "boolean" ? ANY : known(field);
    const isState = node.of.is === "name" && node.of.name === "state";
    // What is no key is marked anyway; fields that are not named may be there.
    const closed = of.properties !== undefined && of.additionalProperties === false;
    if (!isState && (closed || isNever(of, ["object", "string"])))
      this.notices.push({
        what: "field",
        of: this.#side(node.of, of),
        name: node.name,
        fields: Object.keys(of.properties ?? {}),
        from: node.to - node.name.length,
        to: node.to,
      });
    return typeof of.additionalProperties === "object" && of.properties === undefined
      ? known(of.additionalProperties)
      : ANY;
  }

  #item(node: Expression & { is: "item" }): Schema {
    const of = this.of(node.of);
    const types = groups(of);
    const only = types?.size === 1 ? [...types][0] : undefined;
    if (node.at === null) return only === "array" || only === "string" ? withoutValue(of) : ANY;
    this.of(node.at);
    if (only === "string") return TEXT;
    if (only === "array") return itemsOf(of);
    if (node.at.is !== "value" || typeof node.at.value !== "string") return ANY;
    const field = of.properties?.[node.at.value];
    return typeof field === "object" ? known(field) : ANY;
  }

  #filter(node: Expression & { is: "filter" }): Schema {
    const of = this.of(node.of);
    const args = node.args.map(({ value }) => this.of(value));
    const types = groups(of);
    const list = types?.size === 1 && types.has("array");
    if (node.name === "default" || node.name === "d") return args[0] ? either(withoutValue(of), args[0]) : of;
    if (TAKES.has(node.name)) return list ? itemsOf(of) : ANY;
    if (node.name === "map" && list) {
      const named = node.args.find(({ name }) => name === "attribute")?.value;
      const field = named?.is === "value" ? itemsOf(of).properties?.[String(named.value)] : undefined;
      return { type: "array", items: typeof field === "object" ? known(field) : ANY };
    }
    if (KEEPS.has(node.name)) {
      if (list) return of;
      return node.name === "reverse" ? ANY : LIST;
    }
    return GIVES[node.name] ?? ANY;
  }

  #binary(node: Expression & { is: "binary" }): Schema {
    const { sign, from, to } = node;
    const [left, right] = [this.of(node.left), this.of(node.right)];
    const sides = { left: this.#side(node.left, left), right: this.#side(node.right, right) };
    switch (sign) {
      case "and":
      case "or":
        return either(withoutValue(left), withoutValue(right));
      case "~":
        return TEXT;
      case "in":
        if (isNever(right, ["array", "object", "string"]))
          this.notices.push({ what: "inside", side: sides.right, from, to });
        return YES_NO;
      case "==":
      case "!=":
      case "<":
      case ">":
      case "<=":
      case ">=":
        if (!overlap(left, right)) this.notices.push({ what: "compare", ...sides, from, to });
        else if (sign === "==" || sign === "!=") this.#choice(node, left, right);
        return YES_NO;
      case "+":
        if (!overlap(left, right)) this.notices.push({ what: "operand", sign, ...sides, from, to });
        return either(withoutValue(left), withoutValue(right));
      case "-":
      case "/":
      case "//":
      case "**":
        if ([left, right].some((side) => isNever(side, ["number", "boolean"])))
          this.notices.push({ what: "operand", sign, ...sides, from, to });
        return NUMBER;
      default:
        return ANY;
    }
  }

  /** One of few values, compared with another one. */
  #choice({ left, right }: Expression & { is: "binary" }, a: Schema, b: Schema): void {
    for (const [side, values, other] of [
      [left, a.enum, right],
      [right, b.enum, left],
    ] as const) {
      if (!values || other.is !== "value" || other.value === null || values.includes(other.value)) continue;
      const { from, to } = other;
      this.notices.push({ what: "choice", side: this.text.slice(side.from, side.to), values, from, to });
    }
  }
}

/** The same type, of which the value is not known any more. */
function withoutValue({ const: value, ...schema }: Schema): Schema {
  return value === undefined ? schema : { ...schema, type: schema.type ?? jsonType(value) };
}

/** What an expression gives; anything (`{}`) where that is not known. */
export function typeOf(text: string, names: Names): Schema {
  const tree = parseExpression(text);
  return tree ? withoutValue(new Reasoning(text, names).of(tree)) : ANY;
}

/** What is surely wrong with an expression, or a part of a text, in its place. */
export function expressionNotices(
  text: string,
  names: Names,
  expected: Expected | null = null,
  { from, to }: Span = { from: 0, to: text.length },
): TypeNotice[] {
  const tree = parseExpression(text, from, to);
  if (!tree) return [];
  const reasoning = new Reasoning(text, names);
  const gives = reasoning.of(tree);
  if (expected?.is === "value") {
    const { schema } = expected;
    if (!overlap(gives, schema))
      reasoning.notices.push({
        what: "expected",
        gives: withoutValue(gives),
        schema,
        from: tree.from,
        to: tree.to,
      });
    else if (schema.enum && tree.is === "value" && tree.value !== null && !schema.enum.includes(tree.value))
      reasoning.notices.push({ what: "choice", side: "", values: schema.enum, from: tree.from, to: tree.to });
  }
  if (expected?.is === "condition" && tree.is === "value" && typeof tree.value !== "boolean")
    reasoning.notices.push({ what: "constant", from: tree.from, to: tree.to });
  return reasoning.notices;
}

// Templates

/** A piece of code in a template, without its delimiters. */
interface Piece extends Span {
  readonly block: boolean;
}

function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  const opening = /\{([{%#])[-+]?/g;
  for (let found = opening.exec(text); found !== null; found = opening.exec(text)) {
    const close = found[1] === "{" ? "}}" : `${found[1] ?? ""}}`;
    const from = found.index + found[0].length;
    const end = text.indexOf(close, from);
    if (end < 0) break;
    const to = /[-+]/.test(text[end - 1] ?? "") && end - 1 >= from ? end - 1 : end;
    if (found[1] !== "#") pieces.push({ from, to, block: found[1] === "%" });
    opening.lastIndex = end + close.length;
  }
  return pieces;
}

const FOR = /^\s*for\s+([A-Za-z_]\w*)(?:\s*,\s*([A-Za-z_]\w*))?\s+in\s+/;
const SET = /^\s*set\s+([A-Za-z_]\w*)\s*=\s*/;

/** Goes through the code of a template with the names that are seen at each piece. */
function walk(
  text: string,
  names: Names,
  visit: (piece: Piece, from: number, names: Names) => boolean,
): Names {
  let around: { readonly names: Names }[] = [];
  let now = names;
  for (const piece of piecesOf(text)) {
    const code = text.slice(piece.from, piece.to);
    const head = piece.block
      ? (/^\s*(?:(?:el)?if\s+|for\s[^]*?\sin\s+|set\s+\w+\s*=\s*)/.exec(code)?.[0] ?? null)
      : "";
    if (!visit(piece, head === null ? piece.to : piece.from + head.length, now)) return now;
    if (!piece.block) continue;
    const loop = FOR.exec(code);
    const set = SET.exec(code);
    if (loop) {
      around = [...around, { names: now }];
      const of = typeOf(code.slice(loop[0].length).replace(/\s+(?:if|recursive)\b[^]*$/, ""), now);
      const item = loop[2] === undefined ? itemsOf(of) : ANY;
      now = new Map([...now, [loop[1] ?? "", item], [loop[2] ?? "loop", ANY], ["loop", ANY]]);
    } else if (/^\s*endfor\b/.test(code)) {
      now = around.at(-1)?.names ?? now;
      around = around.slice(0, -1);
    } else if (set) now = new Map([...now, [set[1] ?? "", typeOf(code.slice(set[0].length), now)]]);
  }
  return now;
}

/** What is surely wrong in the code of a template. */
export function templateNotices(text: string, names: Names): TypeNotice[] {
  const notices: TypeNotice[] = [];
  walk(text, names, (piece, from, seen) => {
    notices.push(...expressionNotices(text, seen, null, { from, to: piece.to }));
    return true;
  });
  return notices;
}

/** The names that a template sees at a position: those around it, items of loops, and what was set before. */
export function namesAt(text: string, position: number, names: Names): Names {
  return walk(text, names, (piece) => piece.from <= position);
}
