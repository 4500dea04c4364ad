/**
 * Everything that comes over the stream of the selected thread, with its time: tasks, text, log lines, checkpoints. It
 * follows the cursor: of a moment of the past it shows the events of its step, and an event leads to its moment.
 */
import { Eraser, Radio } from "lucide-react";
import { memo, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { Select } from "../../components/Select";
import { Switch } from "../../components/Switch";
import { nodeName } from "../../debugger/parts/format";
import { ensureStarted } from "../../debugger/model/connect";
import { streamLog, useRuns } from "../../debugger/model/runStore";
import { momentOfEntry, reachOf, shownEntries, type StreamFilter } from "../../debugger/model/stream-lines";
import type { LogEntry } from "../../debugger/model/stream-log";
import { useStreamLog } from "../../debugger/model/useStreamLog";
import { debugIds } from "../../lib/testIds";
import { t, type TextKey } from "../../lib/texts";
import { useSession } from "../../state/session";
import { FollowList } from "./FollowList";
import { StreamEntry } from "./StreamEntry";

const FILTERS: readonly { value: StreamFilter["what"]; text: TextKey }[] = [
  { value: "all", text: "debug.stream.all" },
  { value: "logs", text: "debug.stream.logs" },
  { value: "wrong", text: "debug.stream.wrong" },
];

export function StreamPanel() {
  useEffect(ensureStarted, []);
  const threadId = useSession((session) => session.cursor.threadId);
  const entries = useStreamLog(threadId);
  if (threadId === null || entries.length === 0) {
    return (
      <EmptyState compact icon={<Radio size={20} aria-hidden />} title={t("debug.stream.none")}>
        {t("debug.stream.noneText")}
      </EmptyState>
    );
  }
  return <ThreadStream key={threadId} threadId={threadId} entries={entries} />;
}

/** Selects the node of an entry and goes to its moment. */
function goTo(threadId: string, entries: readonly LogEntry[], entry: LogEntry): void {
  const session = useSession.getState();
  if ("node" in entry) session.select({ nodes: [entry.node] });
  const list = useRuns.getState().checkpoints.get(threadId)?.list ?? [];
  const moment = momentOfEntry(entries, entry.id, (id) => list.find((one) => one.id === id)?.parent);
  if (!moment) return;
  const { checkpointId, taskId } = moment;
  session.setCursor({ checkpointId: checkpointId === list[0]?.id ? null : checkpointId, taskId });
}

function ThreadStream({ threadId, entries }: { threadId: string; entries: readonly LogEntry[] }) {
  const [follow, setFollow] = useState(true);
  const [what, setWhat] = useState<StreamFilter["what"]>("all");
  const [own, setOwn] = useState(false);
  const selected = useSession(({ selection }) =>
    selection.nodes.length === 1 ? (selection.nodes[0] ?? null) : null,
  );
  const checkpointId = useSession((session) => session.cursor.checkpointId);
  const taskId = useSession((session) => session.cursor.taskId ?? null);
  const shown = useMemo(
    () => shownEntries(entries, { what, node: own ? selected : null }),
    [entries, what, own, selected],
  );
  const reach = useMemo(() => reachOf(entries, checkpointId, taskId), [entries, checkpointId, taskId]);
  const past = checkpointId !== null;
  // The end of the moment: where a person reads on from.
  const target = useMemo(() => {
    if (!past) return null;
    const at = reach === null ? -1 : shown.findLastIndex(({ id }) => id <= reach.to);
    return at < 0 ? undefined : at;
  }, [past, reach, shown]);
  const now = useRef(entries);
  now.current = entries;
  const select = useCallback((entry: LogEntry) => goTo(threadId, now.current, entry), [threadId]);
  return (
    <section
      className="@container flex h-full min-h-0 flex-col"
      aria-label={t("debug.stream")}
      data-testid={debugIds.stream}
    >
      <StreamBar
        threadId={threadId}
        follow={follow}
        onFollow={setFollow}
        what={what}
        onWhat={setWhat}
        own={own}
        onOwn={setOwn}
        selected={selected}
        isNotKept={past && reach === null}
      />
      {shown.length === 0 ? (
        <EmptyState
          compact
          title={t("debug.stream.noMatch")}
          action={
            <Button
              onClick={() => {
                setWhat("all");
                setOwn(false);
              }}
            >
              {t("debug.stream.showAll")}
            </Button>
          }
        />
      ) : (
        <FollowList
          items={shown}
          keyOf={(entry) => entry.id}
          estimate={24}
          follow={follow}
          target={target}
          onFollow={setFollow}
          label={t("debug.stream")}
        >
          {(entry) => (
            <StreamEntry
              entry={entry}
              here={
                reach !== null && entry.id >= reach.from && entry.id <= reach.to && isOf(entry, taskId, past)
              }
              later={past && reach !== null && entry.id > reach.to}
              onSelect={select}
            />
          )}
        </FollowList>
      )}
    </section>
  );
}

interface BarProps {
  readonly threadId: string;
  readonly follow: boolean;
  onFollow(follow: boolean): void;
  readonly what: StreamFilter["what"];
  onWhat(what: StreamFilter["what"]): void;
  readonly own: boolean;
  onOwn(own: boolean): void;
  readonly selected: string | null;
  /** Of the moment under the cursor no event was kept. */
  readonly isNotKept: boolean;
}

/** The switches above the list; drawn again when one of them changes, not with each word that comes. */
const StreamBar = memo(function StreamBar(props: BarProps) {
  const { threadId, follow, onFollow, what, onWhat, own, onOwn, selected, isNotKept } = props;
  return (
    <FollowBar follow={follow} onFollow={onFollow} label={t("debug.stream.follow")}>
      {isNotKept && <span className="min-w-0 truncate text-xs text-text-3">{t("debug.stream.notKept")}</span>}
      <label className="flex min-w-0 items-center gap-2 text-xs text-text-2">
        <Switch
          checked={own}
          disabled={selected === null && !own}
          onChange={onOwn}
          aria-label={t("debug.stream.own")}
          data-testid={debugIds.streamOwn}
        />
        <span className="truncate">
          {own && selected !== null
            ? t("debug.stream.ownNode", { node: nodeName(selected) })
            : t("debug.stream.own")}
        </span>
      </label>
      <div className="w-40 shrink-0">
        <Select
          size="small"
          aria-label={t("debug.stream.filter")}
          data-testid={debugIds.streamFilter}
          value={what}
          options={FILTERS.map(({ value, text }) => ({ value, label: t(text) }))}
          onChange={onWhat}
        />
      </div>
      <Button
        size="small"
        variant="ghost"
        icon={<Eraser size={13} aria-hidden />}
        onClick={() => streamLog.clear(threadId)}
      >
        {t("debug.clear")}
      </Button>
    </FollowBar>
  );
});

/** Between the first and the last event of a task stand those of the tasks beside it. */
const isOf = (entry: LogEntry, taskId: string | null, past: boolean): boolean =>
  taskId === null ? past : "taskId" in entry && entry.taskId === taskId;

export function FollowBar({
  follow,
  onFollow,
  label = t("debug.follow"),
  children,
}: {
  follow: boolean;
  onFollow(follow: boolean): void;
  label?: string;
  children?: ReactNode;
}) {
  return (
    <div className="flex h-8 shrink-0 items-center gap-3 border-b border-line px-3">
      <label className="flex shrink-0 items-center gap-2 text-xs text-text-2">
        <Switch checked={follow} onChange={onFollow} aria-label={label} data-testid={debugIds.follow} />
        {label}
      </label>
      <span className="flex-1" />
      {children}
    </div>
  );
}
