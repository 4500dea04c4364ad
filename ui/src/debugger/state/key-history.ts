/** Requests, drawing and report of the history of a key. Pure. */
import type { KeyHistory } from "../../ipc/bindings/KeyHistory";
import type { KeyWrite } from "../../ipc/bindings/KeyWrite";
import { fullTime } from "../../lib/intl";
import { t, tn } from "../../lib/texts";
import { nodeList } from "../parts/format";
import { changeItem, code, report } from "../parts/report";

/** `< 0` means `value < 0`: the value is what the condition is about. */
export function conditionOf(text: string): string {
  const words = text.trim();
  if (/^[.[]/.test(words)) return `value${words}`;
  return /^([<>]=?|[!=]=|\||(in|not|is|and|or)\b)/.test(words) ? `value ${words}` : words;
}

export interface Point {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly value: number;
}

/** The numbers of a key from the oldest to the newest, in a box of one by one; none when a value is no number. */
export function points(writes: readonly KeyWrite[]): Point[] {
  const values = writes
    .toReversed()
    .map((write) => ({ id: write.checkpointId, value: write.after?.value as unknown }));
  if (
    values.length < 2 ||
    !values.every((each) => typeof each.value === "number" && Number.isFinite(each.value))
  )
    return [];
  const numbers = values as { id: string; value: number }[];
  const low = numbers.reduce((least, { value }) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = numbers.reduce((most, { value }) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  return numbers.map(({ id, value }, at) => ({
    id,
    value,
    x: at / (numbers.length - 1),
    y: high === low ? 0.5 : (high - value) / (high - low),
  }));
}

/** The same condition for a breakpoint of the key: there the value is called `new`. */
export const breakCondition = (text: string): string =>
  conditionOf(text).replace(/(?<![.\w'"])value\b/g, "new");

/** Who wrote, in words. */
export function writerText({ source, writers }: KeyWrite): string {
  if (source === "update") return t("debug.editedAs", { node: writers[0] ?? "?" });
  return writers.length > 0 ? nodeList(writers) : t("debug.source.input");
}

/** The writes that are listed, for a report; `found` is what a search for the first one came to. */
export function historyText(
  key: string,
  threadId: string,
  { writes, total }: KeyHistory,
  found: string | undefined,
): string {
  const left = total - writes.length;
  return report(
    t("debug.history.of", { key }),
    `${t("report.thread", { id: code(threadId) })} · ${tn("debug.history.writesOne", "debug.history.writes", total)}`,
    found ?? "",
    [
      ...writes.map((write) =>
        changeItem(
          `${t("debug.stepN", { n: write.step })}, ${writerText(write)}, ${fullTime(write.at)}`,
          write.before,
          write.after,
        ),
      ),
      ...(left > 0 ? [`- ${t("report.more", { n: left })}`] : []),
    ].join("\n"),
  );
}
