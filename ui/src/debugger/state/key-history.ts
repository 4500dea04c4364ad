/** How the history of a key is asked and drawn. Pure. */
import type { KeyWrite } from "../../ipc/bindings/KeyWrite";

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
