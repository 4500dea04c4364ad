/** A row of the waterfall: its name, when it worked, and what it took. */
import { Bot, ChevronDown, ChevronRight, CircleX } from "lucide-react";
import { memo } from "react";
import type { Axis } from "../../debugger/trace/axis";
import { readableError } from "../../debugger/parts/format";
import type { Bar, TraceNode } from "../../debugger/trace/tree";
import { cx } from "../../components/cx";
import { traceIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { costOf, timeOf, tokensOf, unpricedText } from "./format";

/** Name, time line, time; where there is room tokens and cost too. */
export const COLUMNS =
  "grid grid-cols-[minmax(9rem,38%)_minmax(0,1fr)_4.25rem] items-center gap-x-2 px-2 @2xl:grid-cols-[minmax(12rem,30%)_minmax(0,1fr)_4.5rem_4rem_4rem_6.5rem]";
export const WIDE = "hidden @2xl:block";

const TONES: Record<Bar["tone"], string> = {
  work: "fill-done",
  failed: "fill-failed",
  tried: "fill-paused",
  asking: "fill-asking",
  left: "fill-text-3",
  running: "fill-running",
  wait: "fill-line-strong",
  model: "fill-accent",
  queued: "fill-text-3",
};
/** Units of the drawing from left to right. */
const UNITS = 2000;
/** What is shorter is drawn at this width. */
const LEAST = 5;

/** A wait for a place is hatched: strokes apart from each other, where work is a full bar. */
const HATCH = 12;
const MOST_STROKES = 60;

function hatched(x: number, width: number): string {
  const strokes = Math.max(1, Math.min(MOST_STROKES, Math.floor(width / HATCH)));
  const each = width / strokes;
  let path = "";
  for (let at = 0; at < strokes; at += 1)
    path += `M${(x + at * each).toFixed(1)} 4h${(each * 0.4).toFixed(1)}v8h-${(each * 0.4).toFixed(1)}z`;
  return path;
}

interface Drawn {
  readonly tone: Bar["tone"];
  readonly faded: boolean;
  path: string;
}

/** `marks`: those that are not on the critical path are faint. */
function paths(bars: readonly Bar[], axis: Axis, marks: boolean): readonly Drawn[] {
  const drawn = new Map<string, Drawn>();
  for (const { from, to, tone, critical } of bars) {
    const x = Math.min(axis.at(from) * UNITS, UNITS - LEAST);
    const width = Math.max(LEAST, axis.at(to) * UNITS - x);
    const faded = marks && critical !== true;
    const key = `${tone}${faded}`;
    let group = drawn.get(key);
    if (!group) drawn.set(key, (group = { tone, faded, path: "" }));
    const [top, height] = tone === "wait" ? [7, 2] : [3, 10];
    group.path +=
      tone === "queued"
        ? hatched(x, width)
        : `M${x.toFixed(1)} ${top}h${width.toFixed(1)}v${height}h-${width.toFixed(1)}z`;
  }
  // What is marked is drawn over the rest.
  return [...drawn.values()].toSorted((a, b) => Number(b.faded) - Number(a.faded));
}

interface Props {
  readonly node: TraceNode;
  readonly depth: number;
  readonly open: boolean;
  readonly label: string;
  readonly axis: Axis;
  readonly selected: boolean;
  readonly mark: "longest" | "dearest" | null;
  /** The critical path is marked, and it is not on it. */
  readonly faded: boolean;
  onToggle(node: TraceNode): void;
  onSelect(node: TraceNode): void;
}

export const Row = memo(function Row({
  node,
  depth,
  open,
  label,
  axis,
  selected,
  mark,
  faded,
  onToggle,
  onSelect,
}: Props) {
  const gap = node.kind === "pause" || node.kind === "wait";
  const Arrow = open ? ChevronDown : ChevronRight;
  const marks = faded || node.critical;
  // The tasks of a group worked at the same time: their sum says nothing of how long it took.
  const span = node.to - node.from;
  const isGroup = node.kind !== "task" && node.kind !== "run" && node.tasks > 1;
  const details = [
    isGroup && t("trace.span", { time: timeOf(span) }),
    node.waited >= 1 && t("trace.waited", { time: timeOf(node.waited) }),
    node.kind === "task" && node.retries > 0 && tn("trace.retriesOne", "trace.retries", node.retries),
    node.kind !== "task" && node.tasks > 1 && node.failed > 0 && t("trace.failed", { n: node.failed }),
  ].filter((text) => text !== false);
  const title = [
    label,
    isGroup ? t("trace.spanTitle", { time: timeOf(span), sum: timeOf(node.millis) }) : timeOf(node.millis),
    node.waited >= 1 ? t("trace.waitedTitle", { time: timeOf(node.waited) }) : "",
    node.error === undefined ? "" : readableError(node.error),
  ]
    .filter((text) => text !== "")
    .join(" · ");
  return (
    <div
      role="row"
      aria-level={depth + 1}
      aria-selected={selected}
      {...(node.children.length > 0 && { "aria-expanded": open })}
      data-testid={traceIds.row}
      data-kind={node.kind}
      data-name={node.label}
      data-mark={mark ?? undefined}
      data-critical={node.critical || undefined}
      data-waited={node.waited > 0 ? Math.round(node.waited) : undefined}
      title={title}
      className={cx(
        COLUMNS,
        "h-6 cursor-default text-xs",
        selected ? "bg-accent-soft" : "hover:bg-surface-3",
        gap && "text-text-2 italic",
        faded && "text-text-3",
      )}
      onClick={() => onSelect(node)}
    >
      <span role="rowheader" className="flex min-w-0 items-center gap-1" style={{ paddingLeft: depth * 12 }}>
        {node.children.length > 0 ? (
          <button
            type="button"
            tabIndex={-1}
            aria-label={t(open ? "trace.collapse" : "trace.expand")}
            data-testid={traceIds.toggle}
            className="shrink-0 rounded-sm text-text-3 hover:text-text"
            onClick={(event) => {
              event.stopPropagation();
              onToggle(node);
            }}
          >
            <Arrow size={13} aria-hidden />
          </button>
        ) : (
          <span className="w-[13px] shrink-0" />
        )}
        {node.kind === "call" && <Bot size={12} aria-hidden className="shrink-0 text-accent-text" />}
        {node.failed > 0 && <CircleX size={12} aria-hidden className="shrink-0 text-failed" />}
        <span className={cx("truncate", node.kind === "run" && "font-semibold")}>{label}</span>
        {node.tasks > 1 && node.kind !== "task" && (
          <span className="shrink-0 text-2xs text-text-3 tabular-nums">×{node.tasks}</span>
        )}
        {details.map((text) => (
          <span key={text} className="shrink-0 text-2xs text-text-3">
            {text}
          </span>
        ))}
        {mark !== null && (
          <span className="shrink-0 rounded-sm bg-asking-soft px-1 text-2xs text-asking">
            {t(mark === "longest" ? "trace.longest" : "trace.dearest")}
          </span>
        )}
      </span>
      <span role="gridcell" className="h-4 min-w-0">
        <svg className="h-4 w-full" viewBox={`0 0 ${UNITS} 16`} preserveAspectRatio="none" aria-hidden>
          {paths(node.bars, axis, marks && node.kind !== "run").map(({ tone, faded: faint, path }) => (
            <path key={`${tone}${faint}`} d={path} className={cx(TONES[tone], faint && "opacity-25")} />
          ))}
          {gap && node.bars.length === 0 && (
            <path
              d={`M${axis.at(node.from) * UNITS} 7h${Math.max(LEAST, (axis.at(node.to) - axis.at(node.from)) * UNITS)}v2H${axis.at(node.from) * UNITS}z`}
              className="fill-line-strong"
            />
          )}
        </svg>
      </span>
      <span role="gridcell" className="text-right tabular-nums">
        {timeOf(node.millis)}
      </span>
      <span role="gridcell" className={cx(WIDE, "text-right text-text-2 tabular-nums")}>
        {tokensOf(node.input)}
      </span>
      <span role="gridcell" className={cx(WIDE, "text-right text-text-2 tabular-nums")}>
        {tokensOf(node.output)}
      </span>
      <span
        role="gridcell"
        className={cx(WIDE, "truncate text-right text-text-2 tabular-nums")}
        title={unpricedText(node.unpriced)}
      >
        {costOf(node)}
      </span>
    </div>
  );
});
