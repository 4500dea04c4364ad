/** What the programs of several languages have in common. */
import { t } from "../../../lib/texts";
import type { Json } from "../../../document/types";
import type { Asking } from "./facts";

/** JSON as it is read: in one line when that is short. */
export function pretty(value: Json, width = 72): string {
  const line = spaced(value);
  return line.length <= width ? line : JSON.stringify(value, null, 2);
}

/** JSON in one line, with spaces. */
export function spaced(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, field]) => `${JSON.stringify(name)}: ${spaced(field)}`);
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}

/** Moves all lines but the first to the right. */
export const indented = (text: string, by: number): string => text.replaceAll("\n", `\n${" ".repeat(by)}`);

/** A text that is safe in a comment of one line. */
export const inline = (text: string): string => text.replace(/\s+/g, " ").trim();

/** The choices of a question, for a comment; nothing when it has fewer than two. */
export function choicesNote({ labels }: Asking): string | null {
  return labels.length < 2 ? null : inline(t("code.choices", { labels: labels.join(", ") }));
}
