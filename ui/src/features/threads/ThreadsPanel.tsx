/**
 * The threads of the open graph, changed last first, with what each one waits for. Selecting one moves the cursor to its
 * present; everything else follows. Rows listen to their own thread only, so a busy run redraws one row.
 */
import { hintClass, rowsClass } from "../../components/recipes";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ChartColumn, HardDrive, Import, ListFilter, Plus, Search, Upload, X } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { IconButton } from "../../components/IconButton";
import { Menu } from "../../components/Menu";
import { TextField } from "../../components/TextField";
import { newThread } from "../../debugger/run/run-form";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { ensureStarted } from "../../debugger/model/connect";
import { loadThreads, setThreadFilter } from "../../debugger/model/thread-list";
import { NO_FILTER, useRuns } from "../../debugger/model/runStore";
import { StatusMark, statusText } from "../../debugger/parts/StatusMark";
import { useThreadColumn } from "../../debugger/state/thread-column";
import { importThread } from "../../debugger/run/thread-files";
import { useNow } from "../../debugger/parts/useNow";
import type { RunStatus } from "../../ipc/bindings/RunStatus";
import { debugIds, overviewIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { runCommand } from "../../state/commands";
import { useSession } from "../../state/session";
import { askCopy } from "../../state/seen-dialogs";
import { showStorage } from "../../state/storage";
import { BreakpointList } from "../breakpoints";
import { InvariantList } from "../invariants";
import { TestList } from "../tests";
import { WatchList } from "../watches";
import { LabelsBadge, useLabelEntries } from "./labels";
import { FoundBadge, useSavedSearches } from "./saved-searches";
import { ColumnHeads, HEADS, useColumnEntries } from "./ThreadColumn";
import { ThreadRow } from "./ThreadRow";
import { cannotRun, useOnlyRead } from "../../debugger/model/only-read";
import { DeleteThread } from "./DeleteThread";

const ROW = 46;
const STATUSES: readonly RunStatus[] = ["running", "asking", "paused", "failed", "stopped", "done"];

export function ThreadsPanel() {
  useEffect(ensureStarted, []);
  const order = useRuns((store) => store.order);
  const total = useRuns((store) => store.total);
  const more = useRuns((store) => store.threadsNext !== null);
  const sorting = useRuns((store) => store.threadsSorting);
  const state = useRuns((store) => store.threadsState);
  const problem = useRuns((store) => store.threadsProblem);
  const filter = useRuns((store) => store.filter);
  const selected = useSession((session) => session.cursor.threadId);
  const setCursor = useSession((session) => session.setCursor);
  const [renaming, setRenaming] = useState<string | null>(null);
  const [deleting, setDeleting] = useState<string | null>(null);
  const narrowed = filter.status !== null || filter.labels !== null || filter.found !== null;
  const filtered = filter.search !== "" || narrowed;
  const savedSearches = useSavedSearches();
  const labelEntries = useLabelEntries();
  const columnEntries = useColumnEntries();
  const onlyRead = useOnlyRead((store) => store.onlyRead);
  const noRuns = useOnlyRead(cannotRun);
  const now = useNow(30_000);
  const column = useThreadColumn(useSession((session) => session.graphKey));

  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: order.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 8,
    paddingStart: column === null ? 0 : HEADS,
    scrollPaddingStart: column === null ? 0 : HEADS,
    getItemKey: (index) => order[index] ?? index,
  });
  const items = rows.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (state === "ready" && last >= order.length - 10 && more) void loadThreads(true);
  }, [last, order.length, more, state]);

  const choose = (threadId: string) => setCursor({ threadId, checkpointId: null });
  const onKeyDown = (event: KeyboardEvent) => {
    if (renaming !== null || event.target instanceof HTMLInputElement) return;
    const at = selected === null ? -1 : order.indexOf(selected);
    const go = (to: number) => {
      const id = order[Math.max(0, Math.min(order.length - 1, to))];
      if (id === undefined) return;
      choose(id);
      rows.scrollToIndex(order.indexOf(id));
      event.preventDefault();
    };
    if (event.key === "ArrowDown") go(at + 1);
    else if (event.key === "ArrowUp") go(at < 0 ? 0 : at - 1);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(order.length - 1);
    else if (event.key === "F2" && selected !== null) {
      setRenaming(selected);
      event.preventDefault();
    } else if (event.key === "Delete" && selected !== null && !useOnlyRead.getState().onlyRead) {
      setDeleting(selected);
      event.preventDefault();
    }
  };
  return (
    <section
      className="flex h-full min-h-0 flex-col short:h-auto short:min-h-full short:shrink-0"
      aria-label={t("debug.threads")}
      data-testid={debugIds.threads}
    >
      <div className="flex h-9 shrink-0 items-center gap-1 border-b border-line px-2">
        {total > 5 || filtered ? (
          <TextField
            className="min-w-0 flex-1"
            value={filter.search}
            onChange={(search) => setThreadFilter({ search, found: null })}
            placeholder={
              sorting
                ? t("debug.threads.searchLabel")
                : tn("debug.threads.searchOne", "debug.threads.search", total)
            }
            aria-label={t("debug.threads.searchLabel")}
            prefix={<Search size={13} aria-hidden />}
            {...(filter.search !== "" && {
              suffix: (
                <IconButton
                  size="small"
                  label={t("debug.clear")}
                  onClick={() => setThreadFilter({ search: "" })}
                >
                  <X size={13} aria-hidden />
                </IconButton>
              ),
            })}
          />
        ) : (
          <span className="tabular-nums min-w-0 flex-1 truncate px-1 text-xs text-text-2">
            {tn("debug.threads.countOne", "debug.threads.count", total)}
          </span>
        )}
        <Menu
          align="end"
          trigger={
            <IconButton
              size="small"
              label={t("debug.threads.filter")}
              data-testid={debugIds.threadFilter}
              pressed={narrowed}
            >
              <ListFilter size={15} aria-hidden />
            </IconButton>
          }
          entries={[
            {
              id: "all",
              label: t("debug.threads.all"),
              checked: !narrowed,
              run: () => setThreadFilter({ status: null, labels: null, found: null }),
            },
            { id: "line", separator: true },
            ...savedSearches,
            ...labelEntries,
            ...STATUSES.map((status) => ({
              id: status,
              label: statusText(status),
              icon: <StatusMark status={status} />,
              checked: filter.status === status,
              run: () => setThreadFilter({ status, found: null }),
            })),
            { id: "files", separator: true },
            ...columnEntries,
            {
              id: "import",
              label: t("storage.thread.import"),
              icon: <Upload size={14} aria-hidden />,
              off: onlyRead ? t("debug.off.onlyRead") : null,
              run: () => void importThread(),
            },
            ...(onlyRead
              ? [
                  {
                    id: "copyAllOwn",
                    label: t("seen.copyAll"),
                    icon: <Import size={14} aria-hidden />,
                    run: () => askCopy({ title: "" }),
                  },
                ]
              : []),
            {
              id: "storage",
              label: t("storage.title"),
              icon: <HardDrive size={14} aria-hidden />,
              run: () => showStorage("size"),
            },
          ]}
        />
        <IconButton
          size="small"
          label={t("overview.title")}
          onClick={() => runCommand("overview.open")}
          data-testid={overviewIds.open}
        >
          <ChartColumn size={15} aria-hidden />
        </IconButton>
        <IconButton
          size="small"
          label={!noRuns ? t("debug.threads.new") : t("debug.off.onlyRead")}
          disabled={noRuns}
          onClick={newThread}
          data-testid={debugIds.newThread}
        >
          <Plus size={16} aria-hidden />
        </IconButton>
      </div>
      {filter.status !== null && (
        <div className="flex items-center gap-1 px-2 pt-2">
          <Badge icon={<StatusMark status={filter.status} size={12} />}>{statusText(filter.status)}</Badge>
          <Button size="small" variant="ghost" onClick={() => setThreadFilter({ status: null })}>
            {t("debug.threads.showAll")}
          </Button>
        </div>
      )}
      <LabelsBadge />
      <FoundBadge />
      {sorting && (
        <p className={`${hintClass} px-3 pt-2`} role="status" data-testid={debugIds.threadsSorting}>
          {t("debug.threads.sorting")}
        </p>
      )}
      {problem && <ProblemNote problem={problem} onRetry={() => void loadThreads()} />}
      <div
        ref={scroller}
        className={`min-h-0 flex-1 overflow-y-auto py-1 short:flex-[1_0_10rem] ${rowsClass}`}
        role={order.length > 0 ? "grid" : undefined}
        aria-label={t("debug.threads")}
        aria-activedescendant={selected === null ? undefined : `thread-${selected}`}
        tabIndex={order.length > 0 ? 0 : -1}
        onKeyDown={onKeyDown}
      >
        {!problem && state === "ready" && order.length === 0 && !filtered && (
          <EmptyState
            compact
            title={t("debug.threads.none")}
            action={
              <Button size="small" disabled={noRuns} onClick={newThread}>
                {t("debug.threads.start")}
              </Button>
            }
          >
            {t("debug.threads.noneText")}
          </EmptyState>
        )}
        {state === "ready" && order.length === 0 && filtered && (
          <EmptyState
            compact
            title={t("debug.threads.noMatch")}
            action={
              <Button size="small" onClick={() => setThreadFilter(NO_FILTER)}>
                {t("debug.threads.showAll")}
              </Button>
            }
          />
        )}
        <div className="relative" style={{ height: rows.getTotalSize() }}>
          {column !== null && order.length > 0 && <ColumnHeads column={column} />}
          {items.map((item) => {
            const id = order[item.index];
            if (id === undefined) return null;
            return (
              <div
                key={item.key}
                className="absolute inset-x-0 px-1"
                style={{ top: item.start, height: ROW }}
              >
                <ThreadRow
                  threadId={id}
                  selected={id === selected}
                  renaming={id === renaming}
                  now={now}
                  column={column}
                  onChoose={choose}
                  onRename={setRenaming}
                  onDelete={setDeleting}
                />
              </div>
            );
          })}
        </div>
      </div>
      <TestList />
      <InvariantList />
      <WatchList />
      <BreakpointList />
      <DeleteThread threadId={deleting} onClose={() => setDeleting(null)} />
    </section>
  );
}
