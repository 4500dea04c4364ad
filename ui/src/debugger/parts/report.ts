/** Parts that answers are written of as Markdown, for a report. Pure. */
import type { ValueView } from "../../ipc/bindings/ValueView";
import { bytes } from "../../lib/intl";
import { t } from "../../lib/texts";

/** Longer values stand in a block of their own. */
const SHORT = 120;

/** The longest run of backticks in a text, for a fence that is longer. */
const ticks = (text: string): number =>
  [...text.matchAll(/`+/g)].reduce((most, [run]) => Math.max(most, run.length), 0);

/** A text as code within a line. */
export function code(text: string): string {
  const line = text.replace(/\s*\n\s*/g, " ");
  if (line === "") return '""';
  const fence = "`".repeat(ticks(line) + 1);
  const room = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return `${fence}${room}${line}${room}${fence}`;
}

function block(text: string, indent = ""): string {
  const fence = "`".repeat(Math.max(3, ticks(text) + 1));
  return [fence, ...text.split("\n"), fence].map((line) => `${indent}${line}`).join("\n");
}

/** A value in full, as far as it came over; of a large one its beginning and its size. */
export function valueText(view: ValueView | undefined): string {
  if (view === undefined) return t("debug.state.notSet");
  if (view.value === undefined) return `${view.head ?? view.kind}… (${bytes(view.bytes)})`;
  return typeof view.value === "string" ? view.value : JSON.stringify(view.value);
}

const isShort = (text: string): boolean => text.length <= SHORT && !text.includes("\n");

/** A value within a line, or undefined when it is too long for one. */
const inLine = (view: ValueView | undefined): string | undefined => {
  if (view === undefined) return valueText(view);
  const text = valueText(view);
  return isShort(text) ? code(text) : undefined;
};

/** An item of a list: what it is about, and what a value was and became; long values below it. */
export function changeItem(
  about: string,
  before: ValueView | undefined,
  after: ValueView | undefined,
): string {
  const [left, right] = [inLine(before), inLine(after)];
  if (left !== undefined && right !== undefined) return `- ${about}: ${left} → ${right}`;
  const part = (name: string, view: ValueView | undefined) =>
    view === undefined ? `  ${name}: ${valueText(view)}` : `  ${name}:\n${block(valueText(view), "  ")}`;
  return [`- ${about}:`, part(t("report.before"), before), part(t("report.after"), after)].join("\n");
}

/** A text in a cell of a table: on one line, its bars escaped. */
const cell = (text: string): string => text.replace(/\s*\n\s*/g, " ").replaceAll("|", "\\|");

/** A table; none without rows. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(heads), `|${" --- |".repeat(heads.length)}`, ...rows.map(line)].join("\n");
}

/** Items of a list; none without items. */
export const list = (items: readonly string[]): string => items.map((item) => `- ${item}`).join("\n");

/** A part with its heading, when there is something in it. */
export const part = (heading: string, text: string): string =>
  text === "" ? "" : `## ${heading}\n\n${text}`;

/** A whole answer: its heading, and the parts that say something. */
export const report = (heading: string, ...parts: readonly string[]): string =>
  [`# ${heading}`, ...parts.filter((text) => text !== "")].join("\n\n");

/** A place that a reader can find again. */
export const momentLine = (threadId: string, checkpointId: string, step: number | undefined): string =>
  [
    t("report.thread", { id: code(threadId) }),
    ...(step === undefined ? [] : [t("debug.stepN", { n: step })]),
    t("report.checkpoint", { id: code(checkpointId) }),
  ].join(" · ");
