/** A row for several steps: a straight stretch, the rounds of a loop, a turn. How many, what ran how often, and the way in. */
import {
  Bookmark,
  CircleX,
  MessageCircleQuestionMark,
  MessageSquare,
  RefreshCw,
  UnfoldVertical,
} from "lucide-react";
import { useMemo } from "react";
import { START } from "../../document/types";
import { listed } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { type Group, ranIn } from "../../debugger/timeline/fold";
import type { TimelineRow } from "../../debugger/timeline/rows";
import type { Way } from "../../debugger/timeline/walk";
import { Lanes, strongLines } from "./Lanes";
import { LATER } from "./recipes";
import { NowMark } from "./TimelineRow";

/** More nodes than this are not named. */
const NAMED = 4;

interface Props {
  readonly group: Group;
  readonly rows: readonly TimelineRow[];
  /** The newest of them, which stands for all when the cursor is on it. */
  readonly row: TimelineRow;
  readonly threadId: string;
  readonly width: number;
  readonly height: number;
  readonly path: Way;
  readonly selected: boolean;
  /** The number of a turn; absent where it is not known. */
  readonly turn: number | undefined;
  /** Opens it. */
  onOpen(): void;
}

const ICON = { stretch: UnfoldVertical, loop: RefreshCw, turn: MessageSquare };

function title(group: Group, turn: number | undefined): string {
  const steps = tn("debug.timeline.stretchOne", "debug.timeline.stretch", group.to - group.from);
  if (group.kind === "loop") return `${t("debug.timeline.rounds", { n: group.rounds })} · ${steps}`;
  if (group.kind === "stretch") return steps;
  return `${turn === undefined ? t("debug.timeline.turn") : t("debug.timeline.turnN", { n: turn })} · ${steps}`;
}

export function GroupRow(props: Props) {
  const { group, rows, row, threadId, width, height, path, selected, turn, onOpen } = props;
  const { from, to } = group;
  const inside = useMemo(() => rows.slice(from, to), [rows, from, to]);
  const ran = useMemo(() => ranIn(inside).filter(([node]) => node !== START), [inside]);
  const names = ran.slice(0, NAMED).map(([node, times]) => (times > 1 ? `${node} ×${times}` : node));
  if (ran.length > NAMED) names.push("…");
  const sum = (count: (row: TimelineRow) => number) => inside.reduce((all, one) => all + count(one), 0);
  const failed = sum(({ checkpoint }) => checkpoint.failed);
  const questions = sum(({ checkpoint }) => checkpoint.questions);
  const Icon = ICON[group.kind];
  const { id, step } = row.checkpoint;
  return (
    <div
      id={`checkpoint-${id}`}
      role="row"
      aria-selected={selected}
      className={`group flex h-full items-center gap-2 pr-1 text-sm text-text-2 ${selected ? "bg-accent-soft" : "hover:bg-surface-3"} ${path.after(id) ? LATER : ""}`}
      data-testid={debugIds.stretch}
      data-kind={group.kind}
      data-steps={to - from}
      {...(group.kind === "loop" && { "data-rounds": group.rounds })}
    >
      <div role="gridcell" className="contents">
        <Lanes
          row={row.lane}
          width={width}
          height={height}
          source="stretch"
          selected={selected}
          onPath={path.has(id)}
          strong={strongLines(row.lane, path)}
          tone={failed > 0 ? "failed" : questions > 0 ? "asking" : undefined}
        />
        <button
          type="button"
          tabIndex={-1}
          aria-expanded={false}
          className="flex h-full min-w-0 flex-1 items-center gap-2 text-left"
          title={t("debug.timeline.stretchOpen")}
          onClick={onOpen}
        >
          <span
            className="tabular-nums w-9 shrink-0 text-xs text-text-2"
            title={t("debug.stepN", { n: step })}
          >
            {step < 0 ? "–" : step}
          </span>
          <Icon size={13} aria-hidden className="shrink-0 text-text-3" />
          <span className="shrink-0 font-medium tabular-nums">{title(group, turn)}</span>
          <span className="truncate text-xs text-text-3">{listed(names)}</span>
        </button>
        <span className="flex shrink-0 gap-1">
          {inside.some(({ checkpoint }) => checkpoint.bookmark !== undefined) && (
            <Bookmark size={13} className="text-accent-text" aria-hidden />
          )}
          {failed > 0 && (
            <span className="text-failed" title={tn("debug.failedOne", "debug.failedMany", failed)}>
              <CircleX size={14} aria-hidden />
            </span>
          )}
          {questions > 0 && (
            <span className="text-asking" title={tn("debug.questionsOne", "debug.questions", questions)}>
              <MessageCircleQuestionMark size={14} aria-hidden />
            </span>
          )}
        </span>
        {from === 0 && <NowMark threadId={threadId} />}
      </div>
    </div>
  );
}
