/**
 * Who reads and who writes each state key, read from the text of the document: key names in the fields that hold them,
 * `state.NAME` in expressions, templates and code. What a program makes up while it runs cannot be seen here.
 */
import { keyUses } from "../components/code/jinja";
import type { GraphDocument } from "./document";
import type { Schema } from "../components/schema-form/schema";
import { visitSettings } from "./settings";
import { isObject, nodeOf, type Json } from "./types";
import type { NodeKind } from "../ipc/bindings/NodeKind";

export interface Usage {
  /** Record ids, in document order. */
  readers: string[];
  writers: string[];
}

/** Fields that name a key which is read, not written. */
const READ_FIELDS = new Set(["messages", "context"]);

export function usageOf(doc: GraphDocument, kinds: readonly NodeKind[]): Map<string, Usage> {
  const usage = new Map<string, { readers: Set<string>; writers: Set<string> }>();
  for (const name of doc.names("key")) usage.set(name, { readers: new Set(), writers: new Set() });
  const read = (key: unknown, record: string) => {
    if (typeof key === "string") usage.get(key)?.readers.add(record);
  };
  const write = (key: unknown, record: string) => {
    if (typeof key === "string") usage.get(key)?.writers.add(record);
  };
  /** Every text below a value, as expressions and as templates: a use found either way is a use. */
  const texts = (value: Json | undefined, record: string) => {
    if (typeof value === "string") {
      for (const use of keyUses(value, value.includes("{{") || value.includes("{%"))) read(use.key, record);
    } else if (Array.isArray(value)) value.forEach((item) => texts(item, record));
    else if (isObject(value)) Object.values(value).forEach((item) => texts(item, record));
  };

  for (const name of doc.names("node")) {
    const record = `node:${name}`;
    const node = nodeOf(doc.get(record));
    const schema: unknown = kinds.find((kind) => kind.kind === node.kind)?.configSchema;
    const properties = isObject(schema) && isObject(schema["properties"]) ? schema["properties"] : {};
    for (const [field, value] of Object.entries(node.config)) {
      const property = properties[field];
      const hint = isObject(property) ? property["x-editor"] : undefined;
      if (hint === "state-key") (READ_FIELDS.has(field) ? read : write)(value, record);
      else if (hint === "state-keys" && Array.isArray(value)) value.forEach((key) => read(key, record));
      else if (hint === "assignments" && isObject(value)) {
        for (const [key, expression] of Object.entries(value)) {
          write(key, record);
          texts(expression, record);
        }
      } else if (hint === "code" && typeof value === "string") {
        for (const use of keyUses(value, false)) read(use.key, record);
        for (const key of usage.keys()) if (returnsKey(value, key)) write(key, record);
      } else {
        texts(value, record);
        if (typeof value !== "object" || !isObject(schema)) continue;
        visitSettings(schema as Schema, { [field]: value }, ({ path, field: inner, value: held }) => {
          if (path.length > 1 && inner["x-editor"] === "state-key")
            (READ_FIELDS.has(String(path.at(-1))) ? read : write)(held, record);
        });
      }
    }
    const value = doc.get(record);
    const fallback = isObject(value) ? value["fallback"] : undefined;
    if (isObject(fallback)) {
      write(fallback["into"], record);
      if (isObject(fallback["value"])) Object.keys(fallback["value"]).forEach((key) => write(key, record));
    }
  }
  for (const name of doc.names("edge")) {
    const record = `edge:${name}`;
    const edge = doc.get(record);
    if (!isObject(edge)) continue;
    for (const field of ["when", "route", "each", "with"]) texts(edge[field], record);
    // What its packets are in the state of their tasks.
    write(edge["as"], record);
    if (isObject(edge["with"])) Object.keys(edge["with"]).forEach((key) => write(key, record));
  }
  return new Map(
    [...usage].map(([name, { readers, writers }]) => [
      name,
      { readers: [...readers], writers: [...writers] },
    ]),
  );
}

/** The keys that one node writes and another reads. */
export function exchanged(usage: ReadonlyMap<string, Usage>, from: string, to: string): string[] {
  return [...usage]
    .filter(([, { writers, readers }]) => writers.includes(`node:${from}`) && readers.includes(`node:${to}`))
    .map(([name]) => name);
}

/** Does a program name the key as a field of an object it makes? A guess, and a good one. */
function returnsKey(source: string, key: string): boolean {
  const name = key.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?:[{,]\\s*(?:${name}|"${name}"|'${name}')\\s*(?:[:,}])|\\.\\s*${name}\\s*=[^=])`).test(
    source.replace(new RegExp(`\\bstate\\s*\\.\\s*${name}\\b`, "g"), ""),
  );
}
