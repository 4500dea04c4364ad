/** What came of an evaluation, by row: a line for each run of a row, with what each variant made of it. */
import type { EvaluatedRow } from "../../ipc/bindings/EvaluatedRow";
import type { EvaluatedVariant } from "../../ipc/bindings/EvaluatedVariant";
import type { EvaluationResult } from "../../ipc/bindings/EvaluationResult";
import { number } from "../../lib/intl";

/** A run of a row in all variants that ran it. */
export interface ComparedRow {
  readonly row: number;
  readonly repeat: number;
  readonly name: string;
  /** By the variant's name. */
  readonly runs: ReadonlyMap<string, EvaluatedRow>;
}

/** Which rows are shown. */
export type RowFilter = "all" | "missed" | "turned";

const isMissed = (run: EvaluatedRow): boolean => run.passed === false;

/** Some variant passed the row, and some did not. */
const isTurned = ({ runs }: ComparedRow): boolean =>
  new Set([...runs.values()].flatMap(({ passed }) => (passed === undefined ? [] : [passed]))).size > 1;

/** The rows in the order of the data set. */
export function comparedRows({ rows }: Pick<EvaluationResult, "rows">): ComparedRow[] {
  const lines = new Map<string, ComparedRow & { runs: Map<string, EvaluatedRow> }>();
  for (const run of rows) {
    const key = `${run.row}.${run.repeat}`;
    const line = lines.get(key) ?? {
      row: run.row,
      repeat: run.repeat,
      name: run.name,
      runs: new Map<string, EvaluatedRow>(),
    };
    line.runs.set(run.variant, run);
    lines.set(key, line);
  }
  return [...lines.values()].sort((a, b) => a.row - b.row || a.repeat - b.repeat);
}

export function filtered(rows: readonly ComparedRow[], filter: RowFilter): readonly ComparedRow[] {
  if (filter === "missed") return rows.filter(({ runs }) => [...runs.values()].some(isMissed));
  if (filter === "turned") return rows.filter(isTurned);
  return rows;
}

export const percent = (part: number): string => number(part, { style: "percent" });

/** The interval of a rate, such as “69–96 %”. */
export const intervalOf = ([, low, high]: NonNullable<EvaluatedVariant["rate"]>): string =>
  `${number(Math.round(low * 100))}–${percent(high)}`;

/** Whether a difference may be coloured: not under 20 rows, where chance alone may make it. */
export const isTelling = ({ tooFew }: EvaluatedVariant): boolean => !tooFew;
