/** How much of the time or the cost of the thread a node took, below its card: the numbers, and a bar of its share. */
import { moneyOf } from "../debugger/exchanges/exchange-text";
import { useHeat, useNodeHeat } from "../debugger/trace/heat";
import { duration } from "../lib/intl";
import { traceIds } from "../lib/testIds";
import { t } from "../lib/texts";

export function HeatBadge({ name }: { name: string }) {
  const heat = useNodeHeat(name);
  const by = useHeat((store) => store.by);
  if (!heat || by === "off") return null;
  const [time, cost] = [duration(heat.millis), moneyOf(heat.cost)];
  const value = (by === "cost" ? [cost, time] : [time, cost]).filter((text) => text !== "").join(" · ");
  const share = Math.round(heat.share * 100);
  return (
    <span
      className="pointer-events-none absolute top-full left-2 z-1 -mt-1.5 inline-flex h-4.5 origin-top-left items-center overflow-hidden rounded-md border border-line-field bg-surface-2 px-1.5 text-[10px] font-semibold whitespace-nowrap text-text tabular-nums in-data-[drawing=middle]:[scale:min(var(--unzoom),1.8)]"
      title={t("trace.heat.card", { name, value, share })}
      data-testid={traceIds.heatBadge}
      data-share={share}
    >
      <span
        className="absolute inset-y-0 left-0 bg-heat opacity-60"
        style={{ width: `${Math.max(4, share)}%` }}
        aria-hidden
      />
      <span className="relative">{value}</span>
    </span>
  );
}
