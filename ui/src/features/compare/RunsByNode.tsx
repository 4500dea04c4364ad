/** What two threads took, node by node: the node whose time differs most comes first. A click leads to its longest visit. */
import { ChartGantt } from "lucide-react";
import { useEffect, useMemo } from "react";
import { EmptyState } from "../../components/EmptyState";
import { Spinner } from "../../components/Spinner";
import { cx } from "../../components/cx";
import { helpClass } from "../../components/recipes";
import { moneyOf } from "../../debugger/exchanges/exchange-text";
import { ensureStarted } from "../../debugger/model/connect";
import { useCheckpoints } from "../../debugger/model/runStore";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import {
  compareByNode,
  tookAll,
  type NodeComparison,
  type NodeShare,
} from "../../debugger/trace/compare-runs";
import { byTaskOf, outermost } from "../../debugger/trace/sums";
import type { Span } from "../../debugger/trace/tree";
import { useTrace } from "../../debugger/trace/useTrace";
import { count, duration } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, type TextKey } from "../../lib/texts";
import { swapCompared, useSession } from "../../state/session";

interface Props {
  /** The threads. */
  left: string;
  right: string;
}

type Measure = Exclude<keyof NodeShare, "longest" | "unpriced">;

const COLUMNS: readonly { measure: Measure; text: TextKey }[] = [
  { measure: "millis", text: "trace.column.millis" },
  { measure: "waited", text: "trace.column.waited" },
  { measure: "visits", text: "trace.column.count" },
  { measure: "retries", text: "debug.compare.retries" },
  { measure: "failed", text: "debug.compare.failed" },
  { measure: "tokens", text: "debug.compare.tokens" },
  { measure: "cost", text: "trace.column.cost" },
];

const isAbsent = (share: NodeShare | undefined, measure: Measure): boolean =>
  share === undefined ||
  (measure === "cost" ? share.cost.size === 0 && share.unpriced === 0 : share[measure] === 0);

function textOf(share: NodeShare | undefined, measure: Measure): string {
  if (share === undefined) return "–";
  switch (measure) {
    case "millis":
    case "waited":
      return duration(share[measure]);
    case "cost":
      if (share.unpriced === 0) return share.cost.size === 0 ? "–" : moneyOf(share.cost);
      return share.cost.size === 0
        ? t("trace.noPrice")
        : t("trace.incomplete", { cost: moneyOf(share.cost) });
    default:
      return count(share[measure]);
  }
}

const signed = (millis: number): string => `${millis < 0 ? "−" : "+"}${duration(Math.abs(millis))}`;

export function RunsByNode({ left, right }: Props) {
  useEffect(ensureStarted, []);
  const [ours, theirs] = [useTrace(left), useTrace(right)];
  const rows = useMemo(() => compareByNode(ours.spans, theirs.spans), [ours.spans, theirs.spans]);
  const head = useCheckpoints(right)?.list[0]?.id;
  const otherHead = useCheckpoints(left)?.list[0]?.id;
  for (const trace of [ours, theirs])
    if (trace.problem) return <ProblemNote problem={trace.problem} onRetry={trace.again} />;
  if (ours.loading || theirs.loading)
    return (
      <div className="grid min-h-24 place-items-center">
        <Spinner />
      </div>
    );
  if (ours.spans.length === 0 || theirs.spans.length === 0) {
    const side = ours.spans.length > 0 ? "right" : theirs.spans.length > 0 ? "left" : "both";
    return (
      <EmptyState
        compact
        icon={<ChartGantt size={20} aria-hidden />}
        title={t(`debug.compare.noTimes.${side}`)}
      >
        {t("debug.compare.noTimesText")}
      </EmptyState>
    );
  }
  const more = tookAll(rows, "right") - tookAll(rows, "left");
  const first = rows[0];
  const columns = COLUMNS.filter(
    ({ measure }) =>
      measure === "millis" ||
      rows.some((row) => !isAbsent(row.left, measure) || !isAbsent(row.right, measure)),
  );
  const go = (row: NodeComparison) => {
    const isRight = row.right !== undefined;
    const share = row.right ?? row.left;
    if (!share) return;
    // What the cursor is on is the right side.
    if (!isRight) swapCompared();
    show(
      share.longest,
      isRight ? theirs.spans : ours.spans,
      isRight ? right : left,
      isRight ? head : otherHead,
    );
  };
  return (
    <div data-testid={debugIds.compareRuns}>
      <p className="px-3 py-2 text-xs" role="status" data-testid={debugIds.compareWhy}>
        {Math.abs(more) < 1
          ? t("debug.compare.asLong")
          : t(more > 0 ? "debug.compare.longer" : "debug.compare.shorter", {
              time: duration(Math.abs(more)),
            })}
        {first !== undefined && Math.abs(first.more) >= 1 && (
          <span className="text-text-2">
            {" "}
            {t("debug.compare.most", { node: first.node, time: signed(first.more) })}
          </span>
        )}
      </p>
      <div className="overflow-x-auto">
        <table className="w-full text-xs tabular-nums">
          <thead>
            <tr>
              <th className="px-3 text-left font-medium text-text-3">{t("trace.column.name")}</th>
              <th className="px-2 text-right font-medium text-text-3">{t("debug.compare.more")}</th>
              {columns.map(({ measure, text }) => (
                <th key={measure} className="px-2 text-right font-medium text-text-3">
                  {t(text)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr
                key={row.node}
                className="h-7 border-t border-line hover:bg-surface-3"
                data-testid={debugIds.compareNode}
                data-node={row.node}
              >
                <th scope="row" className="max-w-60 px-3 text-left font-normal">
                  <button
                    type="button"
                    className="max-w-full truncate text-left hover:underline"
                    title={t("debug.compare.showVisit")}
                    onClick={() => go(row)}
                  >
                    {row.node}
                  </button>
                  {(row.left === undefined || row.right === undefined) && (
                    <span className="ml-1.5 text-2xs text-text-3">
                      {t(row.left === undefined ? "debug.compare.rightOnly" : "debug.compare.leftOnly")}
                    </span>
                  )}
                </th>
                <td className="px-2 text-right font-medium">
                  {Math.abs(row.more) < 1 ? "0" : signed(row.more)}
                </td>
                {columns.map(({ measure }) => (
                  <td key={measure} className="px-2 text-right whitespace-nowrap text-text-2">
                    <Pair row={row} measure={measure} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {(ours.leftOut || theirs.leftOut) && (
        <p className={cx(helpClass, "px-3 py-2")}>{t("debug.compare.leftOut")}</p>
      )}
      <p className={cx(helpClass, "px-3 py-2")}>{t("debug.compare.timesHelp")}</p>
    </div>
  );
}

/** Left and right, or one where both are alike. */
function Pair({ row, measure }: { row: NodeComparison; measure: Measure }) {
  const [left, right] = [textOf(row.left, measure), textOf(row.right, measure)];
  if (left === right) return <>{left}</>;
  return (
    <>
      {left}
      <span className="px-1 text-text-3" aria-label={t("debug.compare.then")}>
        →
      </span>
      <span className="text-text">{right}</span>
    </>
  );
}

function show(span: Span, spans: readonly Span[], threadId: string, head: string | undefined): void {
  const root = outermost(byTaskOf(spans), span);
  const session = useSession.getState();
  session.select({ nodes: [root.node] });
  if (root.checkpointId !== "")
    session.setCursor({
      threadId,
      checkpointId: root.checkpointId === head ? null : root.checkpointId,
      taskId: root.taskId,
    });
  session.showTab("bottom", "trace");
}
