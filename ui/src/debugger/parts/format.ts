/** How times, durations, sizes and values are written in the debugger. Pure; "now" comes in. */
import { t } from "../../lib/texts";

const NARROW = "\u202f";

export function duration(millis: number): string {
  if (millis < 1) return `<1${NARROW}ms`;
  if (millis < 1000) return `${Math.round(millis)}${NARROW}ms`;
  if (millis < 10_000) return `${(millis / 1000).toFixed(2)}${NARROW}s`;
  if (millis < 60_000) return `${(millis / 1000).toFixed(1)}${NARROW}s`;
  const minutes = Math.floor(millis / 60_000);
  const seconds = Math.floor((millis % 60_000) / 1000);
  if (minutes < 60) return `${minutes}${NARROW}min ${String(seconds).padStart(2, "0")}${NARROW}s`;
  return `${Math.floor(minutes / 60)}${NARROW}h ${String(minutes % 60).padStart(2, "0")}${NARROW}min`;
}

/** Elapsed time that ticks: whole seconds, so that the text does not tremble. */
export function elapsed(millis: number): string {
  const seconds = Math.max(0, Math.floor(millis / 1000));
  if (seconds < 60) return `${seconds}${NARROW}s`;
  return duration(seconds * 1000);
}

export function since(iso: string, now: number): string {
  const millis = now - Date.parse(iso);
  if (Number.isNaN(millis)) return "";
  const minutes = Math.floor(millis / 60_000);
  if (minutes < 1) return t("debug.justNow");
  if (minutes < 60) return t("debug.minutesAgo", { n: minutes });
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return t("debug.hoursAgo", { n: hours });
  return t("debug.daysAgo", { n: Math.floor(hours / 24) });
}

const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const FULL = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "medium",
  hourCycle: "h23",
});

export function clock(at: number): string {
  return `${CLOCK.format(at)}.${String(Math.floor(at) % 1000).padStart(3, "0")}`;
}

/** Time of day for today, with the date before. */
export function when(iso: string, now: number): string {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return iso;
  return now - at < 86_400_000 ? CLOCK.format(at) : FULL.format(at);
}

export function fullTime(iso: string): string {
  const at = Date.parse(iso);
  return Number.isNaN(at) ? iso : FULL.format(at);
}

export function bytes(count: number): string {
  if (count < 1000) return `${count}${NARROW}B`;
  if (count < 1_000_000) return `${(count / 1000).toFixed(1)}${NARROW}kB`;
  if (count < 1_000_000_000) return `${(count / 1_000_000).toFixed(1)}${NARROW}MB`;
  return `${(count / 1_000_000_000).toFixed(1)}${NARROW}GB`;
}

export const count = (value: number): string => value.toLocaleString("en-US").replaceAll(",", NARROW);

/** A node's name for people: the two ends of a graph have words. */
export function nodeName(id: string): string {
  return id === "__start__" ? t("debug.start") : id === "__end__" ? t("debug.end") : id;
}

/** Names with how often each stands there: `work ×3`. */
export function nodeList(ids: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return [...counts]
    .map(([id, times]) => (times > 1 ? `${nodeName(id)} ×${times}` : nodeName(id)))
    .join(", ");
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
