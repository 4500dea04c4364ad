/** What a search has found, as a table of which only the visible lines are there. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import { fullTime, nodeList, plain, since } from "../../debugger/parts/format";
import { StatusMark } from "../../debugger/parts/StatusMark";
import { useNow } from "../../debugger/parts/useNow";
import type { MomentFound } from "../../ipc/bindings/MomentFound";
import type { MomentReason } from "../../ipc/bindings/MomentReason";
import { queryIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";

const ROW = 44;

interface Props {
  id: string;
  moments: readonly MomentFound[];
  columns: readonly string[];
  chosen: number;
  onChoose(index: number): void;
  onOpen(moment: MomentFound): void;
}

const grid = (columns: number) => ({
  gridTemplateColumns: `minmax(120px, 200px) 52px minmax(0, 1fr) ${"minmax(60px, 140px) ".repeat(columns)}76px`,
});

export function Results({ id, moments, columns, chosen, onChoose, onOpen }: Props) {
  const now = useNow(30_000);
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: moments.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 8,
  });
  useEffect(() => {
    if (chosen >= 0) rows.scrollToIndex(chosen);
  }, [chosen, rows]);
  return (
    <div className="flex min-h-0 flex-1 flex-col" role="presentation">
      <div
        className="grid shrink-0 gap-2 border-b border-line px-2 pb-1 text-2xs font-semibold text-text-3"
        style={grid(columns.length)}
        aria-hidden
      >
        <span>{t("query.column.thread")}</span>
        <span>{t("query.column.step")}</span>
        <span>{t("query.column.match")}</span>
        {columns.map((column, index) => (
          <code key={index} className="truncate font-mono" title={column}>
            {column}
          </code>
        ))}
        <span className="text-right">{t("query.column.time")}</span>
      </div>
      <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto">
        <div
          className="relative"
          style={{ height: rows.getTotalSize() }}
          role="listbox"
          id={id}
          aria-label={t("query.results")}
        >
          {rows.getVirtualItems().map(({ index, start }) => {
            const moment = moments[index];
            if (!moment) return null;
            return (
              <div
                key={index}
                id={`${id}-${index}`}
                role="option"
                aria-selected={index === chosen}
                aria-posinset={index + 1}
                aria-setsize={moments.length}
                className="absolute inset-x-0 grid h-11 cursor-default items-center gap-2 rounded-md px-2 text-xs hover:bg-surface-3 aria-selected:bg-accent-soft"
                style={{ ...grid(columns.length), transform: `translateY(${start}px)` }}
                onMouseDown={(event) => {
                  // The search field keeps the focus, and with it the arrow keys.
                  event.preventDefault();
                  onChoose(index);
                }}
                onClick={() => onOpen(moment)}
                data-testid={queryIds.result}
                data-step={moment.step}
              >
                <span className="flex min-w-0 items-center gap-1.5">
                  <StatusMark status={moment.status} size={13} />
                  <span className="min-w-0">
                    <span className="block truncate font-medium">{moment.title}</span>
                    <span className="block truncate text-2xs text-text-3">{moment.graphName}</span>
                  </span>
                </span>
                <span className="tabular-nums text-text-2">{moment.step}</span>
                <Match moment={moment} />
                {columns.map((column, at) => (
                  <Cell key={`${at} ${column}`} moment={moment} at={at} />
                ))}
                <time className="text-right text-2xs text-text-2" title={fullTime(moment.at)}>
                  {since(moment.at, now)}
                </time>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Cell({ moment, at }: { moment: MomentFound; at: number }) {
  const result = moment.columns?.[at];
  if (result?.message !== undefined)
    return (
      <span className="truncate text-2xs text-text-3" title={result.message}>
        {t("query.column.unknown")}
      </span>
    );
  const text = plain(result?.value?.value ?? result?.value?.head ?? null, 100);
  return (
    <code className="truncate font-mono text-2xs" title={text}>
      {text}
    </code>
  );
}

const REASONS: Readonly<
  Partial<Record<MomentReason, "query.reason.title" | "query.reason.error" | "query.reason.question">>
> = { title: "query.reason.title", error: "query.reason.error", question: "query.reason.question" };

function Match({ moment }: { moment: MomentFound }) {
  const reason = REASONS[moment.reason];
  const place = moment.pointer?.slice(1) ?? (reason === undefined ? undefined : t(reason));
  const by = moment.nodes.length > 0 ? t("query.by", { node: nodeList(moment.nodes) }) : t("query.byInput");
  return (
    <span className="min-w-0">
      {moment.snippet && (
        <span className="block truncate">
          {moment.snippet.map((part, index) =>
            part.hit ? (
              <mark key={index} className="rounded-[3px] bg-accent-soft px-px font-semibold text-accent-text">
                {part.text}
              </mark>
            ) : (
              <span key={index}>{part.text}</span>
            ),
          )}
        </span>
      )}
      <span className="block truncate text-2xs text-text-3">
        {place !== undefined && <span className="font-mono">{place} · </span>}
        {by}
        {moment.more > 0 && ` · ${tn("query.moreOne", "query.more", moment.more)}`}
      </span>
    </span>
  );
}
