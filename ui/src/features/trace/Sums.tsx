/** Time, tokens and cost by node or by model. */
import { useState } from "react";
import { cx } from "../../components/cx";
import type { SpanSum } from "../../debugger/trace/sums";
import { total } from "../../debugger/trace/tree";
import { count } from "../../lib/intl";
import { traceIds } from "../../lib/testIds";
import { t, type TextKey } from "../../lib/texts";
import { costOf, timeOf, tokensOf, unpricedText } from "./format";

type Column = "name" | "count" | "millis" | "waited" | "input" | "output" | "cost";

const COLUMNS: readonly Column[] = ["name", "count", "millis", "waited", "input", "output", "cost"];
const TEXT: Record<Column, TextKey> = {
  name: "trace.column.name",
  count: "trace.column.count",
  millis: "trace.column.millis",
  waited: "trace.column.waited",
  input: "trace.column.input",
  output: "trace.column.output",
  cost: "trace.column.cost",
};

const order = (a: SpanSum, b: SpanSum, column: Column): number =>
  column === "name"
    ? a.name.localeCompare(b.name, "en")
    : column === "cost"
      ? total(b.cost) - total(a.cost)
      : b[column] - a[column];

export function Sums({ sums, onSelect }: { sums: readonly SpanSum[]; onSelect(name: string): void }) {
  const [sort, setSort] = useState<Column>("millis");
  // Most graphs have no limits: then no task waited.
  const isWaiting = sums.some((sum) => sum.waited > 0);
  const columns = COLUMNS.filter((column) => column !== "waited" || isWaiting);
  return (
    <div className="min-h-0 flex-1 overflow-auto" data-testid={traceIds.sums}>
      <table className="w-full text-xs tabular-nums">
        <thead className="sticky top-0 bg-surface-1">
          <tr>
            {columns.map((column) => (
              <th
                key={column}
                aria-sort={sort === column ? (column === "name" ? "ascending" : "descending") : "none"}
                className={cx("px-2 font-medium", column === "name" ? "text-left" : "text-right")}
              >
                <button
                  type="button"
                  className={cx("h-6 hover:text-text", sort === column ? "text-text" : "text-text-3")}
                  onClick={() => setSort(column)}
                >
                  {t(TEXT[column])}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sums
            .toSorted((a, b) => order(a, b, sort))
            .map((sum) => (
              <tr key={sum.name} className="h-6 hover:bg-surface-3" onClick={() => onSelect(sum.name)}>
                <td className="max-w-60 truncate px-2">{sum.name}</td>
                <td className="px-2 text-right">{count(sum.count)}</td>
                <td className="px-2 text-right">{timeOf(sum.millis)}</td>
                {isWaiting && (
                  <td className="px-2 text-right text-text-2">{sum.waited > 0 ? timeOf(sum.waited) : ""}</td>
                )}
                <td className="px-2 text-right text-text-2">{tokensOf(sum.input)}</td>
                <td className="px-2 text-right text-text-2">{tokensOf(sum.output)}</td>
                <td className="px-2 text-right text-text-2" title={unpricedText(sum.unpriced)}>
                  {costOf(sum)}
                </td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}
