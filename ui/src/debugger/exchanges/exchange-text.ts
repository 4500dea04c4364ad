/** How an exchange with a model reads: its answer frame by frame, and what several of them came to. Pure. */
import type { ExchangeView } from "../../ipc/bindings/ExchangeView";
import { money } from "../../lib/intl";

/** A line of the answer as it came: `event: data`, or only data. */
const FRAME = /^(?:([\w.-]+): )?([{[][\s\S]*)$/;

/** The frames of an answer with their JSON written out; a line that is none stays as it is. */
export function frames(response: string): string {
  return response
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [, event, data] = FRAME.exec(line) ?? [];
      if (data === undefined) return line;
      try {
        const text = JSON.stringify(JSON.parse(data), null, 2);
        return event === undefined ? text : `${event}: ${text}`;
      } catch {
        return line;
      }
    })
    .join("\n");
}

export interface Sum {
  readonly millis: number;
  readonly input: number;
  readonly output: number;
  /** By currency; null when one of them had no price, so that a part is not taken for the whole. */
  readonly cost: ReadonlyMap<string, number> | null;
}

type Counted = Pick<ExchangeView, "millis" | "tokens" | "cost" | "ended" | "by">;

export function sum(exchanges: readonly Counted[]): Sum {
  const cost = new Map<string, number>();
  let [millis, input, output, priced] = [0, 0, 0, true];
  for (const one of exchanges) {
    millis += one.millis;
    input += one.tokens?.input ?? 0;
    output += one.tokens?.output ?? 0;
    if (one.cost) cost.set(one.cost.currency, (cost.get(one.cost.currency) ?? 0) + one.cost.amount);
    // A script costs nothing.
    else if (one.ended === "done" && one.by !== "script") priced = false;
  }
  return { millis, input, output, cost: priced && cost.size > 0 ? cost : null };
}

/** What something cost, in the currencies that it cost. */
export const moneyOf = (cost: ReadonlyMap<string, number>): string =>
  [...cost].map(([currency, amount]) => money(amount, currency)).join(" + ");
