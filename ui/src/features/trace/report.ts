/** What the trace shows as text, for a report: its rows or its sums, and what all of it came to. Pure. */
import { readableError } from "../../debugger/parts/format";
import { code, report, table } from "../../debugger/parts/report";
import type { SpanSum } from "../../debugger/trace/sums";
import type { TraceRow } from "../../debugger/trace/tree";
import { clock, count } from "../../lib/intl";
import { t } from "../../lib/texts";
import { costOf, labelOf, timeOf, tokensOf } from "./format";

/** Rows that a report has. */
const MOST = 2_000;

interface Shown {
  readonly threadId: string;
  /** What all of it came to, in a line. */
  readonly summary: string;
}

const head = ({ threadId, summary }: Shown): string =>
  `${t("report.thread", { id: code(threadId) })} · ${summary}`;

/** Rows as they are open, those within a row moved to the right. */
export function traceText(
  shown: Shown,
  rows: readonly TraceRow[],
  runs: ReadonlyMap<string, number>,
): string {
  return report(
    t("shell.tab.trace"),
    head(shown),
    table(
      [
        t("trace.column.name"),
        t("trace.column.start"),
        t("trace.column.millis"),
        t("trace.column.input"),
        t("trace.column.output"),
        t("trace.column.cost"),
        t("debug.tasks.error"),
      ],
      rows
        .slice(0, MOST)
        .map(({ node, depth }) => [
          `${"· ".repeat(depth)}${labelOf(node, runs)}${node.tasks > 1 && node.kind !== "task" ? ` ×${node.tasks}` : ""}`,
          clock(node.from),
          timeOf(node.millis),
          tokensOf(node.input),
          tokensOf(node.output),
          costOf(node),
          node.error === undefined ? "" : readableError(node.error),
        ]),
    ),
    rows.length > MOST ? t("report.more", { n: count(rows.length - MOST) }) : "",
  );
}

export function sumsText(shown: Shown, sums: readonly SpanSum[]): string {
  return report(
    t("shell.tab.trace"),
    head(shown),
    table(
      [
        t("trace.column.name"),
        t("trace.column.count"),
        t("trace.column.millis"),
        t("trace.column.waited"),
        t("trace.column.input"),
        t("trace.column.output"),
        t("trace.column.cost"),
      ],
      sums
        .toSorted((a, b) => b.millis - a.millis)
        .map((sum) => [
          sum.name,
          count(sum.count),
          timeOf(sum.millis),
          sum.waited > 0 ? timeOf(sum.waited) : "",
          tokensOf(sum.input),
          tokensOf(sum.output),
          costOf(sum),
        ]),
    ),
  );
}
