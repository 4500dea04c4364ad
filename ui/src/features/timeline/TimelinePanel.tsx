/**
 * The thread as a commit graph, newest on top: where each checkpoint came from, what it changed, what comes next, and
 * its forks. Selecting one moves the cursor, and the canvas and the state follow; a second one, chosen with Ctrl or
 * Shift, is compared with it.
 */
import { useVirtualizer } from "@tanstack/react-virtual";
import {
  Bookmark,
  CircleX,
  Ellipsis,
  FlaskConical,
  FoldVertical,
  History,
  MessageCircleQuestionMark,
  Milestone,
  UnfoldVertical,
} from "lucide-react";
import { type KeyboardEvent, memo, type MouseEvent, useEffect, useMemo, useRef, useState } from "react";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { IconButton } from "../../components/IconButton";
import { TextField } from "../../components/TextField";
import { Menu } from "../../components/Menu";
import { nodeList } from "../../debugger/parts/format";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import {
  loadCheckpoints,
  loadOlderCheckpoints,
  snapshots,
  useCheckpoints,
  useLive,
  useStatus,
} from "../../debugger/model/runStore";
import { StatusMark } from "../../debugger/parts/StatusMark";
import { useNow } from "../../debugger/parts/useNow";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { fullTime, listed, when } from "../../lib/intl";
import { debugIds, whatIfIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { goToStep } from "./commands";
import { checkpointEntries, sourceText, whatHappened } from "./entries";
import { Branches } from "./Branches";
import { hasAsides, withoutAsides } from "../../debugger/timeline/asides";
import { entryOf, everyRow, folded, opened } from "../../debugger/timeline/fold";
import { Lanes, strongLines } from "./Lanes";
import { LATER } from "./recipes";
import { Stretch } from "./Stretch";
import { type Timeline, timelineOf, type TimelineRow } from "../../debugger/timeline/rows";
import { trackOf, wayOn } from "../../debugger/timeline/walk";
import { Playback } from "./Playback";
import { Scrubber } from "./Scrubber";

const ROW = 28;
/** Threads with more checkpoints than this begin folded. */
const MANY = 40;

export function TimelinePanel() {
  const threadId = useSession((session) => session.cursor.threadId);
  if (threadId === null) {
    return (
      <EmptyState compact icon={<Milestone size={20} aria-hidden />} title={t("debug.timeline.none")}>
        {t("debug.timeline.noneText")}
      </EmptyState>
    );
  }
  return <ThreadTimeline key={threadId} threadId={threadId} />;
}

function ThreadTimeline({ threadId }: { threadId: string }) {
  const pages = useCheckpoints(threadId);
  const cursor = useSession((session) => session.cursor);
  const compareWith = useSession(({ compareWith }) =>
    compareWith?.threadId === threadId ? compareWith.checkpointId : null,
  );
  const setCursor = useSession((session) => session.setCursor);
  const all = pages?.list ?? NONE;
  const [asides, setAsides] = useState(false);
  const list = useMemo(
    () => (asides ? all : withoutAsides(all, [cursor.checkpointId, compareWith])),
    [all, asides, cursor.checkpointId, compareWith],
  );
  const timeline = useMemo(() => timelineOf(list), [list]);
  const head = list[0]?.id;
  const track = trackOf(list, cursor.checkpointId ?? head);
  const { branch, byId } = track;
  const path = useMemo(() => wayOn(track, cursor.checkpointId ?? head), [track, cursor.checkpointId, head]);
  const now = useNow(60_000);
  const [step, setStep] = useState("");
  const scroller = useRef<HTMLDivElement>(null);

  const [folds, setFolds] = useState<boolean | null>(null);
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(NO_IDS);
  const isFolded = folds ?? list.length > MANY;
  const base = useMemo(() => {
    if (!isFolded) return everyRow(timeline.rows);
    return folded(timeline.rows, (id) => id === compareWith || unfolded.has(id));
  }, [timeline, isFolded, compareWith, unfolded]);
  // The newest checkpoint is "now": choosing it lets the cursor follow the thread.
  const selectedRow = cursor.checkpointId === null ? 0 : (timeline.indexOf.get(cursor.checkpointId) ?? -1);
  const entries = useMemo(
    () => (cursor.checkpointId === null || selectedRow < 0 ? base : opened(base, selectedRow)),
    [base, cursor.checkpointId, selectedRow],
  );
  const rows = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 10,
  });
  const scrolledFor = useRef<string | null | undefined>(undefined);
  useEffect(() => {
    // Only when the cursor moves: new checkpoints arriving must not scroll what the person reads.
    if (scrolledFor.current === cursor.checkpointId || selectedRow < 0) return;
    scrolledFor.current = cursor.checkpointId;
    rows.scrollToIndex(entryOf(entries, selectedRow), { align: "auto" });
  }, [cursor.checkpointId, selectedRow, rows, entries]);
  const items = rows.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (pages?.more && last >= entries.length - 20) void loadOlderCheckpoints(threadId);
  }, [last, entries.length, pages?.more, threadId]);
  const unfold = (from: number, to: number) =>
    setUnfolded((known) => new Set([...known, ...list.slice(from, to).map(({ id }) => id)]));
  const toggleFolds = () => {
    setFolds(!isFolded);
    setUnfolded(NO_IDS);
  };

  const resting = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(resting.current), []);
  const move = (checkpointId: string | null) => {
    setCursor({ checkpointId });
    // The ones beside it are probably wanted next; while the key is held, only what is asked for counts.
    clearTimeout(resting.current);
    resting.current = setTimeout(() => {
      const at = checkpointId === null ? 0 : (timeline.indexOf.get(checkpointId) ?? 0);
      const neighbour = list[at + 1];
      if (neighbour) snapshots.prefetch({ threadId, checkpointId: neighbour.id });
    }, 300);
  };
  const onRow = (row: number, event: MouseEvent) => {
    const id = list[row]?.id;
    if (id === undefined) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey) compare(id);
    else move(row === 0 ? null : id);
  };
  const compare = (id: string) => useSession.getState().compare({ threadId, checkpointId: id });
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? ROW) / ROW) - 1);
    const to = {
      ArrowDown: selectedRow + 1,
      ArrowUp: selectedRow - 1,
      Home: 0,
      End: list.length - 1,
      PageDown: selectedRow + page,
      PageUp: selectedRow - page,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const row = Math.max(0, Math.min(list.length - 1, to));
    const id = row === 0 ? null : list[row]?.id;
    if (id !== undefined && row !== selectedRow) move(id);
  };

  if (pages?.state === "failed" && pages.problem) {
    return <ProblemNote problem={pages.problem} onRetry={() => void loadCheckpoints(threadId, true)} />;
  }
  return (
    <section
      className="@container flex h-full min-h-0 flex-col"
      aria-label={t("debug.timeline")}
      data-testid={debugIds.timeline}
    >
      <div className="flex h-8 shrink-0 items-center gap-2 px-2">
        <span className="tabular-nums hidden shrink-0 text-2xs text-text-2 @lg:inline">
          {tn("debug.timeline.countOne", "debug.timeline.count", list.length)}
          {pages?.more && "+"}
        </span>
        <Branches list={all} head={head} at={cursor.checkpointId ?? head} onGo={move} onCompare={compare} />
        <Playback disabled={branch.length < 2} />
        <Scrubber
          branch={branch}
          byId={byId}
          at={cursor.checkpointId === head ? null : cursor.checkpointId}
          onMove={move}
        />
        <div className="w-24 shrink-0">
          <TextField
            inputMode="numeric"
            aria-label={t("debug.goto")}
            placeholder={t("debug.goto")}
            data-testid={debugIds.gotoStep}
            value={step}
            onChange={(text) => setStep(text.replace(/[^0-9]/g, ""))}
            onCommit={(text) => {
              if (text !== "") void goToStep(Number(text));
              setStep("");
            }}
          />
        </div>
        {hasAsides(all) && (
          <IconButton
            size="small"
            label={t("whatIf.showBranches")}
            pressed={asides}
            onClick={() => setAsides(!asides)}
            data-testid={whatIfIds.showBranches}
          >
            <FlaskConical size={14} aria-hidden />
          </IconButton>
        )}
        <IconButton
          size="small"
          label={t(isFolded ? "debug.timeline.unfold" : "debug.timeline.fold")}
          pressed={isFolded}
          onClick={toggleFolds}
          data-testid={debugIds.foldSteps}
        >
          {isFolded ? <UnfoldVertical size={14} aria-hidden /> : <FoldVertical size={14} aria-hidden />}
        </IconButton>
        <Button
          size="small"
          variant={cursor.checkpointId === null ? "ghost" : "secondary"}
          icon={<History size={13} aria-hidden />}
          disabled={cursor.checkpointId === null}
          onClick={() => move(null)}
        >
          {t("debug.now")}
        </Button>
      </div>
      <div
        ref={scroller}
        className="@container relative min-h-0 flex-1 overflow-auto focus-visible:outline-offset-[-2px]"
        role={list.length > 0 ? "grid" : undefined}
        aria-label={t("debug.timeline")}
        aria-activedescendant={`checkpoint-${cursor.checkpointId ?? head ?? ""}`}
        tabIndex={0}
        onKeyDown={onKeyDown}
        data-testid={debugIds.checkpoints}
      >
        <div className="relative min-w-full" style={{ height: rows.getTotalSize() }}>
          {items.map((item) => {
            const entry = entries[item.index];
            const row = entry && timeline.rows[entry.kind === "row" ? entry.at : entry.from];
            if (!row) return null;
            if (entry.kind === "stretch") {
              return (
                <div
                  key={row.checkpoint.id}
                  className="absolute inset-x-0"
                  style={{ top: item.start, height: ROW }}
                >
                  <Stretch
                    entry={entry}
                    rows={timeline.rows}
                    row={row}
                    width={timeline.width}
                    height={ROW}
                    path={path}
                    onOpen={() => unfold(entry.from, entry.to)}
                  />
                </div>
              );
            }
            return (
              <div
                key={row.checkpoint.id}
                className="absolute inset-x-0"
                style={{ top: item.start, height: ROW }}
                onClick={(event) => onRow(entry.at, event)}
              >
                <Row
                  row={row}
                  threadId={threadId}
                  width={timeline.width}
                  selected={entry.at === selectedRow}
                  compared={row.checkpoint.id === compareWith}
                  onPath={path.has(row.checkpoint.id)}
                  later={path.after(row.checkpoint.id)}
                  strong={strongLines(row.lane, path)}
                  isHead={entry.at === 0}
                  now={now}
                />
              </div>
            );
          })}
        </div>
        {pages?.state === "ready" && list.length === 0 && (
          <p className="px-3 py-2 text-xs text-text-2">{t("debug.timeline.empty")}</p>
        )}
      </div>
    </section>
  );
}

const NONE: readonly CheckpointView[] = [];
const NO_IDS: ReadonlySet<string> = new Set();

/** What the thread does now, on the row of its newest checkpoint. */
function NowMark({ threadId }: { threadId: string }) {
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
  isHead: boolean;
  now: number;
}

const Row = memo(function Row({
  row,
  threadId,
  width,
  selected,
  compared,
  onPath,
  later,
  strong,
  isHead,
  now,
}: RowProps) {
  const { checkpoint, lane, ran } = row;
  const what = whatHappened(checkpoint, ran);
  const entries = checkpointEntries(threadId, checkpoint, isHead);
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
    >
      <div role="gridcell" className="contents">
        <Lanes
          row={lane}
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
        <span className="min-w-24 flex-1 truncate" title={`${sourceText(checkpoint)} · ${what}`}>
          {what}
          {checkpoint.whatIf !== undefined && (
            <span className="ml-2 text-2xs text-text-3">
              {t("whatIf.branch", { row: checkpoint.whatIf.row + 1 })}
            </span>
          )}
          {checkpoint.bookmark !== undefined && (
            <span className="ml-2 inline-flex items-center gap-0.5 align-middle text-2xs text-accent-text">
              <Bookmark size={11} aria-hidden />
              {checkpoint.bookmark}
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
        <span className="w-[22%] min-w-16 shrink-0 truncate text-xs text-text-2 @lg:text-right">
          {checkpoint.next.length > 0 ? `→ ${nodeList(checkpoint.next)}` : t("debug.end")}
        </span>
        {compared && (
          <span className="shrink-0 text-2xs font-medium text-accent-text">{t("debug.compared")}</span>
        )}
        {isHead ? (
          <NowMark threadId={threadId} />
        ) : (
          <span
            className="tabular-nums hidden w-16 shrink-0 text-right text-2xs text-text-3 @xs:block"
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
        </span>
      </div>
    </div>
  );
});
