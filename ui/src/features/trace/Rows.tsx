/**
 * The rows of the waterfall that are in sight. They stand by themselves, so that scrolling asks nothing of what is above
 * them.
 */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, memo, useEffect, useRef } from "react";
import type { Axis } from "../../debugger/trace/axis";
import type { Marks, Span, TraceNode, TraceRow } from "../../debugger/trace/tree";
import { traceIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { labelOf, markOf } from "./format";
import { Row } from "./Row";

const ROW = 24;
/** Rows that are mounted, at least. */
const SLOTS = 64;

interface Props {
  readonly rows: readonly TraceRow[];
  /** The id of the row that is selected. */
  readonly chosen: string | null;
  readonly axis: Axis;
  /** The numbers of the runs. */
  readonly runs: ReadonlyMap<string, number>;
  readonly marks: Marks;
  /** Tasks of the critical path, when it is marked. */
  readonly path: ReadonlySet<Span> | null;
  onToggle(node: TraceNode): void;
  onSelect(node: TraceNode): void;
}

/** Is a row one of the critical path, or of a task on it? */
const isOnPath = (node: TraceNode, path: ReadonlySet<Span>): boolean =>
  node.critical || (node.children.length === 0 && node.span !== undefined && path.has(node.span));

export const Rows = memo(function Rows({ rows, chosen, axis, runs, marks, path, onToggle, onSelect }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 8,
  });
  const items = virtual.getVirtualItems();
  const slots = Math.max(SLOTS, items.length);

  const scrolledTo = useRef<string | null>(null);
  useEffect(() => {
    if (chosen === null || scrolledTo.current === chosen) return;
    const at = rows.findIndex((row) => row.node.id === chosen);
    if (at < 0) return;
    scrolledTo.current = chosen;
    virtual.scrollToIndex(at, { align: "auto" });
  }, [chosen, rows, virtual]);

  const onKeyDown = (event: KeyboardEvent) => {
    const at = rows.findIndex((row) => row.node.id === chosen);
    const row = rows[at];
    if (row && (event.key === "ArrowRight" || event.key === "ArrowLeft")) {
      event.preventDefault();
      if (row.node.children.length > 0 && row.open !== (event.key === "ArrowRight")) onToggle(row.node);
      return;
    }
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    const next = to === undefined ? undefined : rows[Math.max(0, Math.min(rows.length - 1, to))];
    if (!next) return;
    event.preventDefault();
    onSelect(next.node);
  };

  return (
    <div
      ref={scroller}
      role="treegrid"
      aria-label={t("shell.tab.trace")}
      tabIndex={0}
      className="min-h-0 flex-1 overflow-auto contain-strict focus-visible:outline-offset-[-2px]"
      onKeyDown={onKeyDown}
      data-testid={traceIds.rows}
    >
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const row = rows[item.index];
          if (!row) return null;
          return (
            <div
              // A row that scrolls in takes the place of one that scrolled out.
              key={item.index % slots}
              className="absolute inset-x-0 contain-strict"
              style={{ top: item.start, height: ROW }}
            >
              <Row
                node={row.node}
                depth={row.depth}
                open={row.open}
                label={labelOf(row.node, runs)}
                axis={axis}
                selected={row.node.id === chosen}
                mark={markOf(row.node, row.open, marks)}
                faded={path !== null && !isOnPath(row.node, path)}
                onToggle={onToggle}
                onSelect={onSelect}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
});
