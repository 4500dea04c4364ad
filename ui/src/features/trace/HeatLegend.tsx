/**
 * The legend of the heat on the canvas. While it is shown it reads the trace of the thread and puts the share of each node
 * on its card.
 */
import { X } from "lucide-react";
import { useEffect, useMemo } from "react";
import { IconButton } from "../../components/IconButton";
import { isRunning } from "../../debugger/model/live";
import { useCheckpoints, useLive } from "../../debugger/model/runStore";
import { useNow } from "../../debugger/parts/useNow";
import { setHeat, sharesOf, showHeat, useHeat } from "../../debugger/trace/heat";
import { heatOf } from "../../debugger/trace/sums";
import { useSpans, useTrace } from "../../debugger/trace/useTrace";
import { traceIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { moneyOf } from "../../debugger/exchanges/exchange-text";
import { timeOf } from "./format";

export function HeatLegend() {
  const by = useHeat((heat) => heat.by);
  const threadId = useSession((session) => (session.use === "debug" ? session.cursor.threadId : null));
  useEffect(() => () => showHeat(new Map()), [threadId]);
  if (by === "off" || threadId === null) return null;
  return <ThreadHeat key={threadId} threadId={threadId} by={by} />;
}

function ThreadHeat({ threadId, by }: { threadId: string; by: "time" | "cost" }) {
  const trace = useTrace(threadId);
  const live = useLive(threadId);
  const now = useNow(isRunning(live) ? 500 : null);
  const head = useCheckpoints(threadId)?.list[0]?.id;
  const spans = useSpans(trace, live, head, now);
  const shares = useMemo(() => sharesOf(heatOf(spans), by), [spans, by]);
  useEffect(() => showHeat(shares), [shares]);
  const most = [...shares.values()].find(({ share }) => share === 1);
  return (
    <div
      className="absolute top-11 right-2 z-11 flex items-center gap-2 rounded-lg border border-line bg-surface-2 py-1 pr-1 pl-2.5 text-2xs text-text-2 shadow-popup"
      role="status"
      data-testid={traceIds.heatLegend}
    >
      <span>{t(by === "time" ? "trace.heat.timeLegend" : "trace.heat.costLegend")}</span>
      {most ? (
        <span className="inline-flex items-center gap-1 tabular-nums">
          0
          <span
            className="inline-block h-2.5 w-20 rounded-full border border-line-field bg-linear-to-r from-surface-2 to-heat"
            aria-hidden
          />
          {by === "time" ? timeOf(most.millis) : moneyOf(most.cost)}
        </span>
      ) : (
        !trace.loading && <span>{t(by === "time" ? "trace.heat.noTime" : "trace.heat.none")}</span>
      )}
      <IconButton size="small" label={t("trace.heat.close")} onClick={() => setHeat("off")}>
        <X size={13} aria-hidden />
      </IconButton>
    </div>
  );
}
