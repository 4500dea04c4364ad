/** What the values of a probe come to: numbers as a line, others counted. Pure. */
import type { Evaluated } from "../../ipc/bindings/Evaluated";
import { plain } from "../../debugger/parts/format";

export interface NumberSummary {
  readonly kind: "numbers";
  readonly low: number;
  readonly high: number;
  readonly mean: number;
  /** The oldest first; `index` is the row's. */
  readonly points: readonly { readonly index: number; readonly x: number; readonly y: number }[];
}

export interface CountSummary {
  readonly kind: "counts";
  /** The most frequent first. */
  readonly counts: readonly { readonly text: string; readonly n: number }[];
  /** Further values that are not listed. */
  readonly more: number;
}

const MOST_POINTS = 600;
const MOST_VALUES = 8;

/** `rows` are the newest first. Rows without a value do not count; nothing when there is none. */
export function summaryOf(
  rows: readonly { readonly result: Evaluated }[],
): NumberSummary | CountSummary | null {
  const values = rows.flatMap(({ result }, index) =>
    result.value === undefined ? [] : [{ index, value: result.value.value ?? result.value.head ?? null }],
  );
  if (values.length === 0) return null;
  if (values.every(({ value }) => typeof value === "number")) {
    const numbers = values.map(({ index, value }) => ({ index, value: value as number })).toReversed();
    return line(numbers);
  }
  const counts = new Map<string, number>();
  for (const { value } of values) {
    const text = plain(value, 60);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const sorted = [...counts].map(([text, n]) => ({ text, n })).sort((a, b) => b.n - a.n);
  return {
    kind: "counts",
    counts: sorted.slice(0, MOST_VALUES),
    more: Math.max(0, sorted.length - MOST_VALUES),
  };
}

function line(numbers: readonly { index: number; value: number }[]): NumberSummary {
  let [low, high, sum] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  for (const { value } of numbers) {
    low = Math.min(low, value);
    high = Math.max(high, value);
    sum += value;
  }
  const every = Math.max(1, Math.ceil(numbers.length / MOST_POINTS));
  const drawn = numbers.filter((_, at) => at % every === 0);
  return {
    kind: "numbers",
    low,
    high,
    mean: sum / numbers.length,
    points: drawn.map(({ index, value }, at) => ({
      index,
      x: drawn.length === 1 ? 0.5 : at / (drawn.length - 1),
      y: high === low ? 0.5 : (high - value) / (high - low),
    })),
  };
}
