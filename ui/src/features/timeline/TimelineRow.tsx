/** A checkpoint in the timeline: where it came from, what it changed, what comes next. */
import { Bookmark, CircleX, Ellipsis, FoldVertical, MessageCircleQuestionMark } from "lucide-react";
import { memo, useMemo } from "react";
import { IconButton } from "../../components/IconButton";
import { Menu } from "../../components/Menu";
import { useRowMenu } from "../../components/useRowMenu";
import { useLive } from "../../debugger/model/runStore";
import { useStatus } from "../../debugger/model/status";
import { nodeList } from "../../debugger/parts/format";
import { StatusMark } from "../../debugger/parts/StatusMark";
import { firstLine } from "../../debugger/parts/Summary";
import type { Timeline, TimelineRow } from "../../debugger/timeline/rows";
import { fullTime, listed, when } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { checkpointEntries, sourceText, whatHappened } from "./entries";
import { Lanes } from "./Lanes";
import { LATER, ROW } from "./recipes";

/** What the thread does now, on the row of its newest checkpoint. */
export function NowMark({ threadId }: { threadId: string }) {
  const status = useStatus(threadId);
  const live = useLive(threadId);
  const running = useMemo(
    () =>
      [...(live?.tasks.values() ?? [])].filter((task) => task.status === "running").map((task) => task.node),
    [live],
  );
  return (
    <span
      className="inline-flex shrink-0 items-center justify-end gap-1 text-2xs font-medium text-text @xs:min-w-16"
      data-testid={debugIds.nowRow}
    >
      {status && <StatusMark status={status} size={13} />}
      {running.length > 0 && <span className="text-running">{nodeList(running)}</span>}
      {t("debug.now")}
    </span>
  );
}

interface RowProps {
  row: TimelineRow;
  threadId: string;
  width: Timeline["width"];
  selected: boolean;
  compared: boolean;
  onPath: boolean;
  /** It comes after the moment that is shown. */
  later: boolean;
  strong: string;
  /** The rows beside it are not those of the list: no lines lead to them. */
  alone: boolean;
  isHead: boolean;
  now: number;
  /** Folds those that it was unfolded with; it is the newest of them. */
  onFold: (() => void) | undefined;
}

export const Row = memo(function Row({
  row,
  threadId,
  width,
  selected,
  compared,
  onPath,
  later,
  strong,
  alone,
  isHead,
  now,
  onFold,
}: RowProps) {
  const { checkpoint, lane, ran } = row;
  const what = whatHappened(checkpoint, ran);
  const entries = checkpointEntries(threadId, checkpoint, isHead);
  const { onContextMenu, menu } = useRowMenu(entries);
  return (
    <div
      id={`checkpoint-${checkpoint.id}`}
      role="row"
      aria-selected={selected}
      data-testid={debugIds.checkpoint}
      data-checkpoint={checkpoint.id}
      data-step={checkpoint.step}
      data-source={checkpoint.source}
      className={`group flex h-full items-center gap-2 pr-1 text-sm ${selected ? "bg-accent-soft" : compared ? "bg-surface-4" : "hover:bg-surface-3"} ${onPath ? "" : "text-text-2"} ${later ? LATER : ""}`}
      data-later={later || undefined}
      onContextMenu={onContextMenu}
    >
      <div role="gridcell" className="contents">
        <Lanes
          row={alone ? { ...lane, lines: [] } : lane}
          width={width}
          height={ROW}
          source={checkpoint.source}
          selected={selected}
          onPath={onPath}
          strong={strong}
          tone={checkpoint.failed > 0 ? "failed" : checkpoint.questions > 0 ? "asking" : undefined}
        />
        <span
          className="tabular-nums w-9 shrink-0 text-xs text-text-2"
          title={t("debug.stepN", { n: checkpoint.step })}
        >
          {checkpoint.step < 0 ? "–" : checkpoint.step}
        </span>
        {onFold && (
          <IconButton
            size="small"
            label={t("debug.timeline.foldAgain")}
            tabIndex={-1}
            onClick={(event) => {
              event.stopPropagation();
              onFold();
            }}
            data-testid={debugIds.foldAgain}
          >
            <FoldVertical size={13} aria-hidden />
          </IconButton>
        )}
        <span className="min-w-24 flex-1 truncate" title={`${sourceText(checkpoint)} · ${what}`}>
          {what}
          {checkpoint.whatIf !== undefined && (
            <span className="ml-2 text-2xs text-text-3">
              {t("whatIf.branch", { row: checkpoint.whatIf.row + 1 })}
            </span>
          )}
          {checkpoint.bookmark !== undefined && (
            <span
              className="ml-2 inline-flex items-center gap-0.5 align-middle text-2xs text-accent-text"
              title={checkpoint.bookmarkNote}
              data-testid={debugIds.bookmark}
            >
              <Bookmark size={11} aria-hidden />
              {checkpoint.bookmark}
              {checkpoint.bookmarkNote !== undefined && (
                <span className="ml-1 text-text-3">{firstLine(checkpoint.bookmarkNote)}</span>
              )}
            </span>
          )}
          {lane.children > 1 && (
            <span className="ml-2 text-2xs text-text-3">
              {t("debug.timeline.forks", { n: lane.children })}
            </span>
          )}
        </span>
        <span className="flex w-9 shrink-0 gap-1">
          {checkpoint.failed > 0 && (
            <span
              className="text-failed"
              title={tn("debug.failedOne", "debug.failedMany", checkpoint.failed)}
            >
              <CircleX size={14} aria-hidden />
            </span>
          )}
          {checkpoint.questions > 0 && (
            <span
              className="text-asking"
              title={tn("debug.questionsOne", "debug.questions", checkpoint.questions)}
            >
              <MessageCircleQuestionMark size={14} aria-hidden />
            </span>
          )}
        </span>
        <span
          className="hidden min-w-0 flex-[1.2] truncate text-xs text-text-2 @lg:block"
          title={t("debug.changedKeys", { keys: listed(checkpoint.updated) })}
        >
          {listed(checkpoint.updated)}
        </span>
        <span className="w-[22%] min-w-16 shrink-0 truncate pr-0.5 text-xs text-text-2 @lg:text-right">
          {checkpoint.next.length > 0 ? `→ ${nodeList(checkpoint.next)}` : t("debug.end")}
        </span>
        {compared && (
          <span className="shrink-0 text-2xs font-medium text-accent-text">{t("debug.compared")}</span>
        )}
        {isHead ? (
          <NowMark threadId={threadId} />
        ) : (
          <span
            className="tabular-nums hidden min-w-16 shrink-0 whitespace-nowrap text-right text-2xs text-text-3 @xs:block"
            title={fullTime(checkpoint.at)}
          >
            {when(checkpoint.at, now)}
          </span>
        )}
        <span
          className="shrink-0 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100"
          onClick={(event) => event.stopPropagation()}
        >
          <Menu
            align="end"
            trigger={
              <IconButton
                size="small"
                label={t("debug.more")}
                tabIndex={selected ? 0 : -1}
                data-testid={debugIds.checkpointMenu}
              >
                <Ellipsis size={15} aria-hidden />
              </IconButton>
            }
            entries={entries}
          />
          {menu}
        </span>
      </div>
    </div>
  );
});
