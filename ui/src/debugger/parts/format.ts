/** How names, errors and values are written in the debugger. Pure. */
import { listed } from "../../lib/intl";
import { t } from "../../lib/texts";

/** A node's name for people: the two ends of a graph have words. */
export function nodeName(id: string): string {
  return id === "__start__" ? t("debug.start") : id === "__end__" ? t("debug.end") : id;
}

/** Names with how often each stands there: `work ×3`. */
export function nodeList(ids: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return listed([...counts].map(([id, times]) => (times > 1 ? `${nodeName(id)} ×${times}` : nodeName(id))));
}

/** An error as stored is written like Python's `CodeError('…')`; people want what is inside. */
export function readableError(text: string): string {
  const match = /^[A-Za-z_][\w.]*\((['"])([\s\S]*)\1,?\)$/.exec(text.trim());
  if (!match?.[2]) return text;
  return match[2].replace(/\\(['"\\nt])/g, (_whole, sign: string) =>
    sign === "n" ? "\n" : sign === "t" ? "\t" : sign,
  );
}

/** The last part of an id, enough to distinguish two by eye: the random end of a time-sorted id. */
export const shortId = (id: string): string => (id.length <= 12 ? id : id.slice(-8));

/** One line for a value: scalars whole, containers by their first content. */
export function preview(value: unknown, max = 120): string {
  const text = previewOf(value, max);
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}

function previewOf(value: unknown, budget: number): string {
  if (typeof value === "string")
    return JSON.stringify(value.length > budget ? value.slice(0, budget) : value);
  if (value === null || typeof value !== "object") return String(value);
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    let text = "[";
    for (const [index, item] of value.entries()) {
      if (text.length > budget) return `${text}…`;
      text += `${index > 0 ? ", " : ""}${previewOf(item, budget - text.length)}`;
    }
    return `${text}]`;
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return "{}";
  let text = "{";
  for (const [index, [key, item]] of entries.entries()) {
    if (text.length > budget) return `${text}…`;
    text += `${index > 0 ? ", " : ""}${key}: ${previewOf(item, budget - text.length)}`;
  }
  return `${text}}`;
}

/** One line of a value for a row: a text as it reads, without quotes and line ends. */
export function plain(value: unknown, max = 120): string {
  if (typeof value !== "string") return preview(value, max);
  const line = value.replace(/\s*\n\s*/g, " ").trim();
  return line.length > max ? `${line.slice(0, max - 1)}…` : line;
}

export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}
