/**
 * The thread as a commit graph, newest on top: where each checkpoint came from, what it changed, what comes next, and
 * its forks. Selecting one moves the cursor, and the canvas and the state follow; a second one, chosen with Ctrl or
 * Shift, is compared with it.
 */
import { useVirtualizer } from "@tanstack/react-virtual";
import { Milestone } from "lucide-react";
import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef, useState } from "react";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { useStable } from "../../components/stable";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { loadCheckpoints, loadOlderCheckpoints } from "../../debugger/model/checkpoints";
import { snapshots, useCheckpoints } from "../../debugger/model/runStore";
import { useNow } from "../../debugger/parts/useNow";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { Bar } from "./Bar";
import { withoutAsides } from "../../debugger/timeline/without-what-ifs";
import type { Detail } from "../../debugger/timeline/detail";
import { chooseDetail, detailBy } from "../../debugger/timeline/chosen-detail";
import { entryOf, type Group, rowBy } from "../../debugger/timeline/fold";
import { GroupRow } from "./GroupRow";
import { strongLines } from "./Lanes";
import { ROW } from "./recipes";
import { useGroups } from "./useGroups";
import { Row } from "./TimelineRow";
import { timelineOf } from "../../debugger/timeline/rows";
import { trackOf, wayOn } from "../../debugger/timeline/walk";

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
  const scroller = useRef<HTMLDivElement>(null);

  const [only, setOnly] = useState(false);
  // The newest checkpoint is "now": choosing it lets the cursor follow the thread.
  const selectedRow = cursor.checkpointId === null ? 0 : (timeline.indexOf.get(cursor.checkpointId) ?? -1);
  const cursorRow = cursor.checkpointId === null ? null : selectedRow;
  const groups = useGroups({ timeline, compareWith, cursorRow, only });
  const { detail, entries } = groups;
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
  }, [last, entries.length, list.length, pages?.more, threadId]);
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
  const idAt = (row: number): string | null => (row === 0 ? null : (list[row]?.id ?? null));
  const onRow = (row: number, event: MouseEvent) => {
    const id = list[row]?.id;
    if (id === undefined) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey) compare(id);
    else move(idAt(row));
  };
  const onDetail = useStable((next: Detail) => {
    setOnly(false);
    chooseDetail(next);
  });
  const compare = (id: string) => useSession.getState().compare({ threadId, checkpointId: id });
  /** The button that was pressed goes with its row: the keys go on in the list. */
  const unfold = (group: Group) => {
    groups.unfold(group);
    scroller.current?.focus({ preventScroll: true });
  };
  const fold = (group: Group) => {
    groups.fold(group);
    scroller.current?.focus({ preventScroll: true });
    // The row that was shown is folded with the others: the newest stands for them.
    if (selectedRow > group.from && selectedRow < group.to) move(idAt(group.from));
  };
  /** Keys that unfold and fold what is selected, or change how much is shown. */
  const onFoldKey = (key: string): boolean => {
    const entry = entries[entryOf(entries, Math.max(0, selectedRow))];
    const unfolded = groups.unfoldedWith(selectedRow);
    if ((key === "ArrowRight" || key === "Enter") && entry && entry.kind !== "row") unfold(entry);
    else if (key === "ArrowLeft" && unfolded) fold(unfolded);
    else if (key === "+" || key === "=") chooseDetail(detailBy(detail, 1));
    else if (key === "-") chooseDetail(detailBy(detail, -1));
    else return false;
    return true;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey && onFoldKey(event.key)) {
      event.preventDefault();
      return;
    }
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? ROW) / ROW) - 1);
    const all = list.length;
    const by = { ArrowDown: 1, ArrowUp: -1, Home: -all, End: all, PageDown: page, PageUp: -page }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const row = rowBy(entries, selectedRow, by);
    if (row !== selectedRow) move(idAt(row));
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
      <Bar
        all={all}
        count={list.length}
        more={pages?.more === true}
        cursor={cursor.checkpointId}
        head={head}
        branch={branch}
        byId={byId}
        onMove={move}
        onCompare={compare}
        asides={asides}
        onAsides={setAsides}
        only={only}
        found={only ? entries.length : null}
        onOnly={setOnly}
        detail={detail}
        onDetail={onDetail}
      />
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
            if (entry.kind !== "row") {
              return (
                <div
                  key={row.checkpoint.id}
                  className="absolute inset-x-0"
                  style={{ top: item.start, height: ROW }}
                >
                  <GroupRow
                    group={entry}
                    rows={timeline.rows}
                    row={row}
                    threadId={threadId}
                    width={timeline.width}
                    height={ROW}
                    path={path}
                    selected={entry.from === selectedRow}
                    turn={groups.turns.get(row.checkpoint.id)}
                    onOpen={() => unfold(entry)}
                  />
                </div>
              );
            }
            const unfolded = groups.unfoldedWith(entry.at);
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
                  alone={only}
                  isHead={entry.at === 0}
                  now={now}
                  onFold={unfolded?.from === entry.at ? () => fold(unfolded) : undefined}
                />
              </div>
            );
          })}
        </div>
        {only && entries.length === 0 && pages?.more !== true && (
          <EmptyState
            compact
            title={t("debug.timeline.onlyNone")}
            action={<Button onClick={() => setOnly(false)}>{t("debug.timeline.onlyClear")}</Button>}
          />
        )}
        {pages?.state === "ready" && list.length === 0 && !only && (
          <p className="px-3 py-2 text-xs text-text-2">{t("debug.timeline.empty")}</p>
        )}
      </div>
    </section>
  );
}

const NONE: readonly CheckpointView[] = [];
