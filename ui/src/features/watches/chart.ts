/** A watch as marks and, where all values are numbers, a line of steps. Pure. */
import type { WatchChange } from "../../ipc/bindings/WatchChange";
import type { WatchHistory } from "../../ipc/bindings/WatchHistory";

export interface Drawn {
  /** Corners of the line in a box of one by one; null when a value is no number. */
  readonly line: readonly { readonly x: number; readonly y: number }[] | null;
  readonly marks: readonly { readonly x: number; readonly change: WatchChange }[];
}

/** Marks that are drawn; closer ones are left out. */
const MOST_MARKS = 120;

export function drawn({ changes, steps }: WatchHistory): Drawn {
  const last = Math.max(1, steps - 1);
  const x = (change: WatchChange) => change.place / last;
  const every = Math.max(1, Math.ceil(changes.length / MOST_MARKS));
  const marks = changes.filter((_, at) => at % every === 0).map((change) => ({ x: x(change), change }));
  // What cannot be evaluated yet leaves a gap at the beginning, and no line elsewhere.
  const begun = changes.findIndex(({ result }) => result.value !== undefined);
  const values = begun < 0 ? [] : changes.slice(begun);
  const numbers = values.flatMap(({ result }) =>
    typeof result.value?.value === "number" ? [result.value.value] : [],
  );
  if (values.length === 0 || numbers.length !== values.length) return { line: null, marks };
  const low = numbers.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = numbers.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const y = (value: number) => (high === low ? 0.5 : (high - value) / (high - low));
  const line = values.flatMap((change, at) => {
    const here = { x: x(change), y: y(numbers[at] ?? 0) };
    const before = at === 0 ? [] : [{ x: here.x, y: y(numbers[at - 1] ?? 0) }];
    return [...before, here];
  });
  const end = line.at(-1);
  return { line: end && end.x < 1 ? [...line, { x: 1, y: end.y }] : line, marks };
}
