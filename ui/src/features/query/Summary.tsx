/** The values of a probe in one picture: a line for numbers, bars that count the others. */
import { useMemo } from "react";
import type { Evaluated } from "../../ipc/bindings/Evaluated";
import { number } from "../../lib/intl";
import { queryIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { summaryOf, type CountSummary, type NumberSummary } from "./summary";

interface Props {
  rows: readonly { readonly result: Evaluated }[];
  chosen: number;
  onChoose(index: number): void;
}

const figure = (value: number): string => number(value, { maximumSignificantDigits: 6 });

export function Summary({ rows, chosen, onChoose }: Props) {
  const summary = useMemo(() => summaryOf(rows), [rows]);
  if (summary === null) return null;
  return summary.kind === "numbers" ? (
    <Line summary={summary} chosen={chosen} onChoose={onChoose} />
  ) : (
    <Counts summary={summary} />
  );
}

const HEIGHT = 48;

function Line({ summary, chosen, onChoose }: { summary: NumberSummary } & Omit<Props, "rows">) {
  const { points, low, high, mean } = summary;
  const at = (point: (typeof points)[number]) =>
    `${(point.x * 100).toFixed(2)},${(4 + point.y * (HEIGHT - 8)).toFixed(2)}`;
  const here = points.find(({ index }) => index === chosen);
  const values = { low: figure(low), high: figure(high), mean: figure(mean) };
  return (
    <div className="flex shrink-0 gap-3 px-2" data-testid={queryIds.summary}>
      <div
        className="relative min-w-0 flex-1 cursor-pointer"
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          const place = Math.round(((event.clientX - box.left) / box.width) * (points.length - 1));
          const point = points[place];
          if (point) onChoose(point.index);
        }}
      >
        <svg
          className="block h-12 w-full overflow-visible"
          viewBox={`0 0 100 ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={t("probe.chart", values)}
        >
          <polyline
            points={points.map(at).join(" ")}
            className="fill-none stroke-accent stroke-[1.5]"
            vectorEffect="non-scaling-stroke"
          />
        </svg>
        {here && (
          <span
            className="absolute size-2 -translate-1/2 rounded-full bg-accent"
            style={{ left: `${here.x * 100}%`, top: 4 + here.y * (HEIGHT - 8) }}
          />
        )}
      </div>
      <dl className="grid shrink-0 grid-cols-[auto_auto] content-between gap-x-2 text-2xs text-text-2 tabular-nums">
        <dt>{t("probe.high")}</dt>
        <dd className="text-right">{values.high}</dd>
        <dt>{t("probe.mean")}</dt>
        <dd className="text-right">{values.mean}</dd>
        <dt>{t("probe.low")}</dt>
        <dd className="text-right">{values.low}</dd>
      </dl>
    </div>
  );
}

function Counts({ summary: { counts, more } }: { summary: CountSummary }) {
  const most = counts[0]?.n ?? 1;
  return (
    <ul className="flex shrink-0 flex-col gap-0.5 px-2" data-testid={queryIds.summary}>
      {counts.map(({ text, n }) => (
        <li
          key={text}
          className="grid grid-cols-[minmax(60px,220px)_minmax(0,1fr)_auto] items-center gap-2 text-2xs"
        >
          <code className="truncate font-mono" title={text}>
            {text}
          </code>
          <span className="h-2 rounded-[2px] bg-accent" style={{ width: `${(n / most) * 100}%` }} />
          <span className="text-text-2 tabular-nums">{n}</span>
        </li>
      ))}
      {more > 0 && <li className="text-2xs text-text-3">{t("probe.more", { n: more })}</li>}
    </ul>
  );
}
