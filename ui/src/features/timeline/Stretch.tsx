/** A row for several steps in which nothing but steps happened: how many, and what ran how often. */
import { UnfoldVertical } from "lucide-react";
import { useMemo } from "react";
import { START } from "../../document/types";
import { listed } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { type Entry, ranIn } from "../../debugger/timeline/fold";
import type { Way } from "../../debugger/timeline/walk";
import { Lanes, strongLines } from "./Lanes";
import { LATER } from "./recipes";
import type { TimelineRow } from "../../debugger/timeline/rows";

/** More nodes than this are not named. */
const NAMED = 4;

interface Props {
  readonly entry: Extract<Entry, { kind: "stretch" }>;
  readonly rows: readonly TimelineRow[];
  /** The newest of them. */
  readonly row: TimelineRow;
  readonly width: number;
  readonly height: number;
  readonly path: Way;
  onOpen(): void;
}

export function Stretch({ entry, rows, row, width, height, path, onOpen }: Props) {
  const { from, to } = entry;
  const ran = useMemo(() => ranIn(rows.slice(from, to)).filter(([node]) => node !== START), [rows, from, to]);
  const names = ran.slice(0, NAMED).map(([node, times]) => `${node} ×${times}`);
  if (ran.length > NAMED) names.push("…");
  const onPath = path.has(row.checkpoint.id);
  return (
    <div
      role="row"
      className={`group flex h-full items-center gap-2 pr-1 text-sm text-text-2 hover:bg-surface-3 ${path.after(row.checkpoint.id) ? LATER : ""}`}
      data-testid={debugIds.stretch}
      data-steps={entry.to - entry.from}
    >
      <div role="gridcell" className="contents">
        <Lanes
          row={row.lane}
          width={width}
          height={height}
          source="stretch"
          selected={false}
          onPath={onPath}
          strong={strongLines(row.lane, path)}
          tone={undefined}
        />
        <button
          type="button"
          tabIndex={-1}
          className="flex h-full min-w-0 flex-1 items-center gap-2 text-left"
          title={t("debug.timeline.stretchOpen")}
          onClick={onOpen}
        >
          <UnfoldVertical size={13} aria-hidden className="w-9 shrink-0 text-text-3" />
          <span className="shrink-0 font-medium tabular-nums">
            {t("debug.timeline.stretch", { n: entry.to - entry.from })}
          </span>
          <span className="truncate text-xs text-text-3">{listed(names)}</span>
        </button>
      </div>
    </div>
  );
}
