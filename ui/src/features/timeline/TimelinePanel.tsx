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
import { ProblemNote } from "../../debugger/run/ProblemNote";
import {
  loadCheckpoints,
  loadOlderCheckpoints,
  snapshots,
  useCheckpoints,
} from "../../debugger/model/runStore";
import { useNow } from "../../debugger/parts/useNow";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { Bar } from "./Bar";
import { withoutAsides } from "../../debugger/timeline/asides";
import { entryOf, everyRow, folded, opened, rowBy } from "../../debugger/timeline/fold";
import { strongLines } from "./Lanes";
import { ROW } from "./recipes";
import { Row } from "./Row";
import { Stretch } from "./Stretch";
import { timelineOf } from "../../debugger/timeline/rows";
import { unsettled } from "../../debugger/timeline/unsettled";
import { trackOf, wayOn } from "../../debugger/timeline/walk";

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
  const scroller = useRef<HTMLDivElement>(null);

  const [folds, setFolds] = useState<boolean | null>(null);
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(NO_IDS);
  const isFolded = folds ?? list.length > MANY;
  const [only, setOnly] = useState(false);
  const base = useMemo(() => {
    if (only) return unsettled(timeline.rows);
    if (!isFolded) return everyRow(timeline.rows);
    return folded(timeline.rows, (id) => id === compareWith || unfolded.has(id));
  }, [timeline, only, isFolded, compareWith, unfolded]);
  // The newest checkpoint is "now": choosing it lets the cursor follow the thread.
  const selectedRow = cursor.checkpointId === null ? 0 : (timeline.indexOf.get(cursor.checkpointId) ?? -1);
  const entries = useMemo(
    () => (only || cursor.checkpointId === null || selectedRow < 0 ? base : opened(base, selectedRow)),
    [base, only, cursor.checkpointId, selectedRow],
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
  }, [last, entries.length, list.length, pages?.more, threadId]);
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
    const by = {
      ArrowDown: 1,
      ArrowUp: -1,
      Home: -list.length,
      End: list.length,
      PageDown: page,
      PageUp: -page,
    }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const row = only
      ? rowBy(entries, selectedRow, by)
      : Math.max(0, Math.min(list.length - 1, selectedRow + by));
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
        found={only ? base.length : null}
        onOnly={setOnly}
        folded={isFolded}
        onFold={toggleFolds}
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
                  alone={only}
                  isHead={entry.at === 0}
                  now={now}
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
const NO_IDS: ReadonlySet<string> = new Set();
