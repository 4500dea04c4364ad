/** Moments of threads as a table of which only the visible lines are there: thread, step, what is shown of each, and time. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from "react";
import { StatusMark } from "../../debugger/parts/StatusMark";
import { useNow } from "../../debugger/parts/useNow";
import type { RunStatus } from "../../ipc/bindings/RunStatus";
import { fullTime, since } from "../../lib/intl";
import { t } from "../../lib/texts";

const ROW = 44;

/** What every row is about. */
export interface AnyMoment {
  readonly threadId: string;
  readonly title: string;
  readonly checkpointId: string;
  readonly step: number;
  readonly at: string;
  readonly status?: RunStatus;
  readonly graphName?: string;
}

export interface Column<Row> {
  readonly title: string;
  /** The title is an expression. */
  readonly mono?: boolean;
  readonly wide?: boolean;
  cell(row: Row): ReactNode;
}

interface Props<Row> {
  id: string;
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  chosen: number;
  onChoose(index: number): void;
  onOpen(row: Row): void;
  /** Keys of a list that has no field above it: it takes the focus itself then. */
  onKeyDown?(event: KeyboardEvent): void;
  "data-testid": string;
}

const grid = (columns: readonly Column<never>[]) => ({
  gridTemplateColumns: `minmax(120px, 200px) 52px ${columns
    .map(({ wide }) => (wide ? "minmax(0, 1fr)" : "minmax(60px, 140px)"))
    .join(" ")} 76px`,
});

export function MomentRows<Row extends AnyMoment>({
  id,
  label,
  rows: moments,
  columns,
  chosen,
  onChoose,
  onOpen,
  onKeyDown,
  ...rest
}: Props<Row>) {
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
        style={grid(columns)}
        aria-hidden
      >
        <span>{t("query.column.thread")}</span>
        <span>{t("query.column.step")}</span>
        {columns.map(({ title, mono }, index) => (
          <span
            key={index}
            className="truncate data-mono:font-mono"
            data-mono={mono || undefined}
            title={title}
          >
            {title}
          </span>
        ))}
        <span className="text-right">{t("query.column.time")}</span>
      </div>
      <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto">
        <div
          className="relative"
          style={{ height: rows.getTotalSize() }}
          role="listbox"
          id={id}
          aria-label={label}
          {...(onKeyDown && {
            tabIndex: 0,
            onKeyDown,
            "aria-activedescendant": chosen >= 0 ? `${id}-${chosen}` : undefined,
          })}
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
                style={{ ...grid(columns), transform: `translateY(${start}px)` }}
                onMouseDown={(event) => {
                  // The field above keeps the focus, and with it the arrow keys.
                  event.preventDefault();
                  onChoose(index);
                }}
                onClick={() => onOpen(moment)}
                data-testid={rest["data-testid"]}
                data-step={moment.step}
              >
                <span className="flex min-w-0 items-center gap-1.5">
                  {moment.status !== undefined && <StatusMark status={moment.status} size={13} />}
                  <span className="min-w-0">
                    <span className="block truncate font-medium">{moment.title}</span>
                    {moment.graphName !== undefined && (
                      <span className="block truncate text-2xs text-text-3">{moment.graphName}</span>
                    )}
                  </span>
                </span>
                <span className="tabular-nums text-text-2">{moment.step}</span>
                {columns.map((column, at) => (
                  <span key={at} className="min-w-0">
                    {column.cell(moment)}
                  </span>
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
