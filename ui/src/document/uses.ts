/**
 * Every place that names a state key or a node, as a list: its definition, fields that hold the name, expressions and
 * templates, edges, and programs. In programs the uses are proposals: what they make up while they run cannot be seen.
 */
import { keyUses } from "../components/code/jinja";
import type { Schema } from "../components/schema-form/schema";
import type { NodeKind } from "../ipc/bindings/NodeKind";
import { disabledOf } from "./disabled";
import type { GraphDocument } from "./document";
import { keyInProgram, type Language } from "./program-uses";
import { placesOf, type DynamicTargets, type Schemas } from "./node-references";
import { visitSettings } from "./settings";
import { isObject, nodeOf, type Json, type JsonObject } from "./types";

export type UseRole = "definition" | "reads" | "writes" | "names" | "from" | "to";

export interface Use {
  /** Record id. */
  readonly record: string;
  /** JSON Pointer of the text that names it; null for the record itself. */
  readonly pointer: string | null;
  readonly role: UseRole;
  /** Where the name is in the text; absent where the whole value is the name. */
  readonly at?: { readonly from: number; readonly to: number };
  /** The text that contains it. */
  readonly text: string;
  /** In a program, where what it makes up while it runs cannot be seen. */
  readonly program?: true;
  /** It may be a field of something else. */
  readonly unsure?: true;
  /** `{ key }` of a program: the word names a variable, too, which keeps its name. */
  readonly shorthand?: true;
}

/** A text of a node that is a program. */
export interface Program {
  readonly source: string;
  readonly language: Language;
}

/** Fields that name a key which is read, not written. */
const READ_FIELDS = new Set(["messages", "context"]);

const token = (part: string | number) => String(part).replaceAll("~", "~0").replaceAll("/", "~1");
const pointerOf = (path: readonly (string | number)[], under = "") =>
  path.reduce<string>((pointer, part) => `${pointer}/${token(part)}`, under);

const isTemplate = (text: string) => text.includes("{{") || text.includes("{%");

/** Every text below a value with its pointer. */
function texts(
  value: Json | undefined,
  pointer: string,
  visit: (text: string, pointer: string) => void,
): void {
  if (typeof value === "string") visit(value, pointer);
  else if (Array.isArray(value)) value.forEach((item, index) => texts(item, `${pointer}/${index}`, visit));
  else if (isObject(value))
    for (const [name, item] of Object.entries(value)) texts(item, `${pointer}/${token(name)}`, visit);
}

/** The texts of a node that are programs, by pointer in the record. */
export function programsOf(record: Json | undefined, kinds: readonly NodeKind[]): Map<string, Program> {
  const { kind, config } = nodeOf(record);
  const schema: unknown = kinds.find((each) => each.kind === kind)?.configSchema;
  const found = new Map<string, Program>();
  visitSettings(isObject(schema) ? (schema as Schema) : {}, config, ({ path, field, value }) => {
    if (field["x-editor"] !== "code" || typeof value !== "string") return;
    const of = field["x-language-of"];
    const language = typeof of === "string" && isObject(config) ? config[of] : field["x-language"];
    found.set(pointerOf(path, "/config"), {
      source: value,
      language: language === "python" ? "python" : "javascript",
    });
  });
  return found;
}

/** What a record says beside its settings and its ways, in expressions and templates. */
export const SAID = ["summary", "cache", "invariants"] as const;

const quoteRegex = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Every use of a state key, its definition first. */
export function usesOfKey(doc: GraphDocument, kinds: readonly NodeKind[], key: string): Use[] {
  const uses: Use[] = [];
  if (doc.has(`key:${key}`))
    uses.push({ record: `key:${key}`, pointer: null, role: "definition", text: key });
  const expressions = (value: Json | undefined, record: string, pointer: string, but: ReadonlySet<string>) =>
    texts(value, pointer, (text, at) => {
      if (but.has(at)) return;
      for (const use of keyUses(text, isTemplate(text)))
        if (use.key === key) uses.push({ record, pointer: at, role: "reads", at: use, text });
    });
  const said = (value: Json | undefined, record: string) => {
    if (!isObject(value)) return;
    for (const field of SAID) expressions(value[field], record, `/${field}`, new Set());
    // What the task has written.
    const { summary } = value;
    if (record === "doc" || typeof summary !== "string") return;
    for (const use of keyUses(summary, true, "update"))
      if (use.key === key) uses.push({ record, pointer: "/summary", role: "reads", at: use, text: summary });
  };
  for (const name of doc.names("key")) said(doc.get(`key:${name}`), `key:${name}`);
  for (const name of doc.names("node")) {
    keyInNode(doc, kinds, key, name, uses, expressions);
    said(doc.get(`node:${name}`), `node:${name}`);
  }
  for (const name of doc.names("edge")) {
    const [record, edge] = [`edge:${name}`, doc.get(`edge:${name}`)];
    if (!isObject(edge)) continue;
    for (const field of ["when", "route", "each", "with"])
      expressions(edge[field], record, `/${field}`, new Set());
    // What a packet is called in the state of its task.
    if (edge["as"] === key) uses.push({ record, pointer: "/as", role: "writes", text: key });
    if (isObject(edge["with"]) && Object.hasOwn(edge["with"], key))
      uses.push({ record, pointer: `/with/${token(key)}`, role: "writes", text: key });
    said(edge, record);
  }
  keyInHead(doc.head, key, uses);
  said(doc.head, "doc");
  return uses;
}

function keyInNode(
  doc: GraphDocument,
  kinds: readonly NodeKind[],
  key: string,
  name: string,
  uses: Use[],
  expressions: (value: Json | undefined, record: string, pointer: string, but: ReadonlySet<string>) => void,
): void {
  const record = `node:${name}`;
  const value = doc.get(record);
  const { kind, config } = nodeOf(value);
  const schema: unknown = kinds.find((each) => each.kind === kind)?.configSchema;
  visitSettings(isObject(schema) ? (schema as Schema) : {}, config, ({ path, field, value: held }) => {
    const editor = field["x-editor"];
    const pointer = pointerOf(path, "/config");
    const last = String(path.at(-1));
    if (uses.some((use) => use.record === record && use.pointer?.startsWith(pointer) && !use.at)) return;
    if (editor === "state-key" && held === key)
      uses.push({ record, pointer, role: READ_FIELDS.has(last) ? "reads" : "writes", text: key });
    else if (editor === "state-keys" && Array.isArray(held) && held.includes(key))
      uses.push({ record, pointer, role: "reads", text: key });
    // Names further in are those of arguments and of a nested graph's keys.
    else if (editor === "assignments" && isObject(held) && path.length === 1 && Object.hasOwn(held, key))
      uses.push({ record, pointer: `${pointer}/${token(key)}`, role: "writes", text: key });
  });
  const fallback = isObject(value) ? value["fallback"] : undefined;
  if (isObject(fallback)) {
    if (fallback["into"] === key) uses.push({ record, pointer: "/fallback/into", role: "writes", text: key });
    if (isObject(fallback["value"]) && Object.hasOwn(fallback["value"], key))
      uses.push({ record, pointer: `/fallback/value/${token(key)}`, role: "writes", text: key });
  }
  const programs = programsOf(value, kinds);
  for (const [pointer, { source, language }] of programs)
    for (const { from, to, ...found } of keyInProgram(source, key, language, kind === "code"))
      uses.push({ record, pointer, at: { from, to }, text: source, program: true, ...found });
  expressions(config, record, "/config", new Set(programs.keys()));
}

function keyInHead(head: JsonObject, key: string, uses: Use[]): void {
  for (const field of ["input", "output"]) {
    const keys = head[field];
    if (!Array.isArray(keys)) continue;
    const at = keys.indexOf(key);
    if (at >= 0) uses.push({ record: "doc", pointer: `/${field}/${at}`, role: "names", text: key });
  }
  const examples = head["examples"];
  if (!Array.isArray(examples)) return;
  examples.forEach((example, index) => {
    if (isObject(example) && isObject(example["input"]) && Object.hasOwn(example["input"], key))
      uses.push({
        record: "doc",
        pointer: `/examples/${index}/input/${token(key)}`,
        role: "names",
        text: key,
      });
  });
}

/** Every place that names a node, its definition first. */
export function usesOfNode(
  doc: GraphDocument,
  kinds: readonly NodeKind[],
  schemas: Schemas,
  leads: DynamicTargets,
  name: string,
): Use[] {
  const uses: Use[] = [];
  if (doc.has(`node:${name}`))
    uses.push({ record: `node:${name}`, pointer: null, role: "definition", text: name });
  for (const edge of doc.edgesOf(name)) {
    const record = `edge:${edge}`;
    const value = doc.get(record);
    if (!isObject(value)) continue;
    const note = (pointer: string, role: UseRole) => uses.push({ record, pointer, role, text: edge });
    if (value["from"] === name || (Array.isArray(value["from"]) && value["from"].includes(name)))
      note("/from", "from");
    if (value["to"] === name) note("/to", "to");
    if (value["default"] === name) note("/default", "to");
    if (isObject(value["paths"]))
      for (const [label, target] of Object.entries(value["paths"]))
        if (target === name) note(`/paths/${token(label)}`, "to");
  }
  const quoted = new RegExp(String.raw`(["'])(${quoteRegex(name)})\1`, "gd");
  for (const other of doc.names("node")) {
    const record = `node:${other}`;
    const value = doc.get(record);
    for (const place of placesOf(value, schemas))
      if (place.name === name)
        uses.push({ record, pointer: pointerOf(place.path, "/config"), role: "names", text: name });
    if (isObject(value)) {
      const fallback = value["fallback"];
      for (const field of ["node", "to"])
        if (isObject(fallback) && fallback[field] === name)
          uses.push({ record, pointer: `/fallback/${field}`, role: "names", text: name });
      if (disabledOf(value)?.way === name)
        uses.push({ record, pointer: "/disabled/way", role: "names", text: name });
    }
    let seen = false;
    for (const [pointer, { source }] of programsOf(value, kinds))
      for (const match of source.matchAll(quoted)) {
        const place = match.indices?.[2];
        if (!place) continue;
        seen = true;
        uses.push({
          record,
          pointer,
          role: "names",
          at: { from: place[0], to: place[1] },
          text: source,
          program: true,
        });
      }
    // What the host has read in a file that is not here.
    if (
      !seen &&
      leads[other]?.includes(name) &&
      !uses.some((use) => use.record === record && use.role === "names")
    )
      uses.push({ record, pointer: null, role: "names", text: name });
  }
  return uses;
}

/** The programs of a document with some of their uses under another name, by record and pointer. */
export function renamedPrograms(
  uses: readonly Use[],
  to: string,
): Map<string, { pointer: string; text: string }[]> {
  const byText = new Map<string, Use[]>();
  for (const use of uses) {
    if (!use.at || use.pointer === null) continue;
    const id = JSON.stringify([use.record, use.pointer]);
    byText.set(id, [...(byText.get(id) ?? []), use]);
  }
  const made = new Map<string, { pointer: string; text: string }[]>();
  for (const list of byText.values()) {
    const [first] = list;
    if (!first || first.pointer === null) continue;
    let text = first.text;
    for (const use of list.toSorted((a, b) => (b.at?.from ?? 0) - (a.at?.from ?? 0)))
      text = renamedAt(text, use, to);
    made.set(first.record, [...(made.get(first.record) ?? []), { pointer: first.pointer, text }]);
  }
  return made;
}

/** A program with one use under another name: a name that is no plain word is quoted. */
export function renamedAt(text: string, use: Use, to: string): string {
  if (!use.at) return text;
  const { from, to: end } = use.at;
  const before = text.slice(0, from);
  const after = text.slice(end);
  if (use.shorthand)
    return `${before}${/^[A-Za-z_]\w*$/.test(to) ? to : JSON.stringify(to)}: ${text.slice(from, end)}${after}`;
  if (/["']$/.test(before)) return before + to.replaceAll(/["'\\]/g, "\\$&") + after;
  if (/^[A-Za-z_]\w*$/.test(to)) return before + to + after;
  const dot = /\??\.\s*$/.exec(before);
  if (dot)
    return `${before.slice(0, dot.index)}${dot[0].startsWith("?") ? "?." : ""}[${JSON.stringify(to)}]${after}`;
  return before + JSON.stringify(to) + after;
}
