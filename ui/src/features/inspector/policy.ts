/**
 * How a node is run, as the forms show it. The file allows short forms (`"retry": 3`, `"timeout": 10`, `"cache": true`);
 * a form shows the long one, and what a form writes is as short as it can be. A part that no form can show is left alone.
 */
import { isObject, type Json } from "../../document/types";

type Fields = Record<string, Json>;

/** A part as an object of fields; `null` when it is not there, `undefined` when only JSON can show it. */
export function fieldsOf(part: Json | undefined, short: string): Fields | null | undefined {
  if (part === undefined || part === false) return null;
  if (part === true) return {};
  if (typeof part === "number") return { [short]: part };
  return isObject(part) ? part : undefined;
}

/** Fields without those that are not given. */
export function withField(fields: Fields, name: string, value: Json | undefined): Fields {
  const next = { ...fields };
  if (value === undefined || value === "") delete next[name];
  else next[name] = value;
  return next;
}

export type FallbackKind = "none" | "value" | "node" | "branch";

export function fallbackKind(fallback: Json | undefined): FallbackKind {
  if (!isObject(fallback)) return "none";
  if ("to" in fallback) return "branch";
  if ("node" in fallback) return "node";
  return "value";
}

/** What a kind of fallback begins with; a node that was chosen already stays chosen. */
export function fallbackOf(kind: FallbackKind, before: Json | undefined): Json | undefined {
  const node = isObject(before) ? (before["node"] ?? before["to"] ?? "") : "";
  if (kind === "none") return undefined;
  if (kind === "value") return { value: {} };
  return kind === "node" ? { node } : { to: node };
}

/** How many parts differ from a node that is run once and fails when it fails. */
export function policyCount(record: Fields): number {
  return [
    "retry",
    "timeout",
    "cache",
    "defer",
    "fallback",
    "effect",
    "concurrency",
    "max_visits",
    "summary",
  ].filter((part) => record[part] !== undefined && record[part] !== false).length;
}
