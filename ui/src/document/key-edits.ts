/** What can be done to the state keys of a graph, each as a patch. */
import type { NodeKind } from "../ipc/bindings/NodeKind";
import type { GraphDocument } from "./document";
import { Draft, moveRecord } from "./draft";
import { setRecord } from "./edits";
import type { Patch } from "./patch";
import { visitSettings, withValue } from "./settings";
import { isObject, type Json, type JsonObject } from "./types";
import { programsOf, SAID } from "./uses";
import { alsoInVariants } from "./variants";

export function addKey(doc: GraphDocument, name: string, schema: JsonObject): Patch {
  return doc.has(`key:${name}`) ? { ops: [] } : setRecord(doc, `key:${name}`, schema);
}

/** Rewrites `state.from` to `state.to` in expressions, templates and code; `root` is another name of a state. */
export function renameKeyInText(text: string, from: string, to: string, root = "state"): string {
  const name = from.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const simple = /^[A-Za-z_]\w*$/.test(to);
  return text
    .replace(
      new RegExp(`\\b${root}\\.${name}(?![\\w$])`, "g"),
      simple ? `${root}.${to}` : `${root}[${JSON.stringify(to)}]`,
    )
    .replace(
      new RegExp(`\\b${root}\\[(["'])${name}\\1\\]`, "g"),
      (_, quote: string) => `${root}[${quote}${to}${quote}]`,
    );
}

function renameDeep(value: Json, from: string, to: string, but?: ReadonlySet<string>): Json {
  if (typeof value === "string") return but?.has(value) ? value : renameKeyInText(value, from, to);
  if (Array.isArray(value)) return value.map((item) => renameDeep(item, from, to, but));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, renameDeep(item, from, to, but)]),
  );
}

/**
 * Renames a state key with its references: the fields that hold key names (known from the kinds' schemas), `state.NAME` in
 * expressions and templates, what packets and fallbacks write, `input`, `output` and the examples. Programs stay as they
 * are: see `rename.ts`.
 */
export function renameKey(doc: GraphDocument, from: string, to: string, kinds: readonly NodeKind[]): Patch {
  const draft = new Draft(doc);
  const value = doc.get(`key:${from}`);
  if (value === undefined || from === to || to === "" || doc.has(`key:${to}`)) return draft.patch();
  const withSaid = (record: JsonObject): JsonObject => {
    const next: JsonObject = { ...record };
    for (const field of SAID) {
      const said = record[field];
      if (said === undefined) continue;
      const named = renameDeep(said, from, to);
      // A summary reads what the task has written as well.
      next[field] = typeof named === "string" ? renameKeyInText(named, from, to, "update") : named;
    }
    return next;
  };
  moveRecord(draft, "key", from, to, isObject(value) ? withSaid(value) : value);
  for (const name of doc.names("key")) {
    const record = doc.get(`key:${name}`);
    if (name !== from && isObject(record) && record["invariants"] !== undefined)
      draft.set(`key:${name}`, withSaid(record));
  }
  const renamedKey = (object: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(object).map(([key, item]) => [key === from ? to : key, item]));
  const withFallback = (record: JsonObject): JsonObject => {
    const { fallback } = record;
    if (!isObject(fallback)) return record;
    const next: JsonObject = { ...fallback };
    if (next["into"] === from) next["into"] = to;
    if (isObject(next["value"])) next["value"] = renamedKey(next["value"]);
    return { ...record, fallback: next };
  };

  const withKey = (record: JsonObject): JsonObject => {
    if (!isObject(record["config"])) return record;
    const schema: unknown = kinds.find((kind) => kind.kind === record["kind"])?.configSchema;
    const programs = new Set([...programsOf(record, kinds).values()].map(({ source }) => source));
    let config = renameDeep(record["config"], from, to, programs);
    visitSettings(isObject(schema) ? schema : {}, config, ({ path, field, value }) => {
      const editor = field["x-editor"];
      if (editor === "state-key" && value === from) config = withValue(config, path, to);
      else if (editor === "state-keys" && Array.isArray(value) && value.includes(from))
        config = withValue(
          config,
          path,
          value.map((key) => (key === from ? to : key)),
        );
      // Names further in are those of arguments and of a nested graph's keys.
      else if (editor === "assignments" && isObject(value) && path.length === 1)
        config = withValue(config, path, renamedKey(value));
    });
    return { ...record, config };
  };
  for (const name of doc.names("node")) {
    const record = doc.get(`node:${name}`);
    if (isObject(record))
      draft.set(`node:${name}`, alsoInVariants(withFallback(withSaid(withKey(record))), withKey));
  }
  for (const edge of doc.names("edge")) {
    const record = doc.get(`edge:${edge}`);
    if (!isObject(record)) continue;
    const next: JsonObject = { ...withSaid(record) };
    for (const field of ["when", "route", "each", "with"]) {
      const held = next[field];
      if (held !== undefined) next[field] = renameDeep(held, from, to);
    }
    // What a packet is called in the state of its task, which reads it there.
    if (next["as"] === from) next["as"] = to;
    if (isObject(next["with"])) next["with"] = renamedKey(next["with"]);
    draft.set(`edge:${edge}`, next);
  }
  const head: JsonObject = { ...withSaid(doc.head) };
  for (const field of ["input", "output"]) {
    const keys = head[field];
    if (Array.isArray(keys)) head[field] = keys.map((key) => (key === from ? to : key));
  }
  const examples = head["examples"];
  if (Array.isArray(examples)) {
    head["examples"] = examples.map((example) =>
      isObject(example) && isObject(example["input"])
        ? { ...example, input: renamedKey(example["input"]) }
        : example,
    );
  }
  draft.set("doc", head);
  return draft.patch();
}
