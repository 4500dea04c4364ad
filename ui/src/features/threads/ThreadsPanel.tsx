/**
 * The threads of the open graph, changed last first, with what each one waits for. Selecting one moves the cursor to its
 * present; everything else follows. Rows listen to their own thread only, so a busy run redraws one row.
 */
import { useVirtualizer } from "@tanstack/react-virtual";
import {
  ArrowRightLeft,
  CircleOff,
  Copy,
  Download,
  Ellipsis,
  Eraser,
  HardDrive,
  ListFilter,
  MessageCircleQuestionMark,
  Pencil,
  Plus,
  Search,
  Trash2,
  Upload,
  X,
} from "lucide-react";
import { type KeyboardEvent, memo, useEffect, useRef, useState } from "react";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { ConfirmDialog } from "../../components/Dialog";
import { EmptyState } from "../../components/EmptyState";
import { IconButton } from "../../components/IconButton";
import { Menu, type MenuEntry } from "../../components/Menu";
import { TextField } from "../../components/TextField";
import { newThread } from "../../debugger/run/run-form";
import { copyText } from "../../debugger/parts/CopyButton";
import { nodeList } from "../../debugger/parts/format";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import {
  ensureStarted,
  loadThreads,
  NO_FILTER,
  noteThread,
  programOf,
  setThreadFilter,
  statusOf,
  useLive,
  useRuns,
  useStatus,
  useThread,
} from "../../debugger/model/runStore";
import { StatusMark, statusText } from "../../debugger/parts/StatusMark";
import { copyThread, exportThread, importThread } from "../../debugger/run/thread-files";
import { useNow } from "../../debugger/parts/useNow";
import type { RunStatus } from "../../ipc/bindings/RunStatus";
import type { ThreadView } from "../../ipc/bindings/ThreadView";
import { rpc } from "../../ipc/client";
import { fullTime, since } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { askPrune, showStorage } from "../../state/storage";
import { isBusyElsewhere, takingOver } from "../../state/take-over";
import { showProblem } from "../../state/toasts";
import { BreakpointList } from "../breakpoints";
import { InvariantList } from "../invariants";
import { WatchList } from "../watches";
import { LabelsBadge, RowLabels, useLabelEntries } from "./labels";
import { FoundBadge, useSavedSearches } from "./saved-searches";

const ROW = 46;
const STATUSES: readonly RunStatus[] = ["running", "asking", "paused", "failed", "stopped", "done"];

export function ThreadsPanel() {
  useEffect(ensureStarted, []);
  const order = useRuns((store) => store.order);
  const total = useRuns((store) => store.total);
  const more = useRuns((store) => store.threadsNext !== null);
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
  const now = useNow(30_000);

  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: order.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 8,
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
    } else if (event.key === "Delete" && selected !== null) {
      setDeleting(selected);
      event.preventDefault();
    }
  };
  return (
    <section
      className="flex h-full min-h-0 flex-col"
      aria-label={t("debug.threads")}
      data-testid={debugIds.threads}
    >
      <div className="flex h-9 shrink-0 items-center gap-1 border-b border-line px-2">
        {total > 5 || filtered ? (
          <TextField
            className="min-w-0 flex-1"
            value={filter.search}
            onChange={(search) => setThreadFilter({ search, found: null })}
            placeholder={tn("debug.threads.searchOne", "debug.threads.search", total)}
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
            {
              id: "import",
              label: t("storage.thread.import"),
              icon: <Upload size={14} aria-hidden />,
              run: () => void importThread(),
            },
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
          label={t("debug.threads.new")}
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
      {problem && <ProblemNote problem={problem} onRetry={() => void loadThreads()} />}
      <div
        ref={scroller}
        className="min-h-0 flex-1 overflow-y-auto py-1"
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
              <Button size="small" onClick={newThread}>
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
                  onChoose={choose}
                  onRename={setRenaming}
                  onDelete={setDeleting}
                />
              </div>
            );
          })}
        </div>
      </div>
      <InvariantList />
      <WatchList />
      <BreakpointList />
      <DeleteThread threadId={deleting} onClose={() => setDeleting(null)} />
    </section>
  );
}

interface RowProps {
  threadId: string;
  selected: boolean;
  renaming: boolean;
  now: number;
  onChoose(threadId: string): void;
  onRename(threadId: string | null): void;
  onDelete(threadId: string): void;
}

const ThreadRow = memo(function ThreadRow({
  threadId,
  selected,
  renaming,
  now,
  onChoose,
  onRename,
  onDelete,
}: RowProps) {
  const thread = useThread(threadId);
  const status = useStatus(threadId);
  const live = useLive(threadId);
  const canCompare = useSession((session) => session.cursor.threadId !== null);
  if (!thread || !status) return null;
  const program = status === "running" ? programOf(thread, live) : undefined;
  const entries: MenuEntry[] = [
    {
      id: "rename",
      label: t("debug.rename"),
      icon: <Pencil size={14} aria-hidden />,
      shortcut: "F2",
      run: () => onRename(threadId),
    },
    { id: "copy", label: t("debug.threads.copyId"), run: () => void copyText(threadId) },
    {
      id: "compare",
      label: t("debug.threads.compare"),
      icon: <ArrowRightLeft size={14} aria-hidden />,
      disabled: selected || !canCompare || thread.head === undefined,
      run: () => useSession.getState().compare({ threadId, checkpointId: null }),
    },
    { id: "files", separator: true },
    {
      id: "duplicate",
      label: t("storage.thread.copy"),
      icon: <Copy size={14} aria-hidden />,
      disabled: thread.head === undefined,
      run: () => void copyThread(thread),
    },
    {
      id: "export",
      label: t("storage.thread.export"),
      icon: <Download size={14} aria-hidden />,
      disabled: thread.head === undefined,
      run: () => void exportThread(thread),
    },
    {
      id: "lens",
      label: t("storage.thread.lens"),
      icon: <HardDrive size={14} aria-hidden />,
      run: () => showStorage("size", threadId),
    },
    { id: "line", separator: true },
    {
      id: "prune",
      label: t("storage.prune"),
      icon: <Eraser size={14} aria-hidden />,
      disabled: status === "running",
      run: () => askPrune({ threadId, title: thread.title }),
    },
    {
      id: "delete",
      label: t("debug.delete"),
      icon: <Trash2 size={14} aria-hidden />,
      shortcut: "Delete",
      danger: true,
      run: () => onDelete(threadId),
    },
  ];
  return (
    <div
      id={`thread-${threadId}`}
      role="row"
      aria-selected={selected}
      data-testid={debugIds.thread}
      data-thread={threadId}
      data-status={status}
      className={`group flex h-full items-center gap-2 rounded-md px-2 ${selected ? "bg-accent-soft" : "hover:bg-surface-3"}`}
      onClick={() => onChoose(threadId)}
      onDoubleClick={() => onRename(threadId)}
    >
      <div role="gridcell" className="contents">
        <StatusMark status={status} />
        <div className="min-w-0 flex-1">
          {renaming ? (
            <Rename thread={thread} onDone={() => onRename(null)} />
          ) : (
            <>
              <div className="truncate text-sm leading-5" title={thread.title}>
                {thread.title === "" ? t("debug.threads.untitled") : thread.title}
              </div>
              <div className="tabular-nums flex items-center gap-1.5 text-2xs text-text-2">
                <span className="truncate" title={program}>
                  {program !== undefined && `${t("debug.runningIn", { program })} · `}
                  {t("debug.stepN", { n: Math.max(0, thread.step) })}
                  {thread.next.length > 0 && status !== "done" && ` · ${nodeList(thread.next)}`}
                </span>
                <RowLabels labels={thread.labels} />
                {(thread.disabled?.length ?? 0) > 0 && (
                  <span
                    className="inline-flex shrink-0 items-center gap-0.5"
                    title={tn("disabled.runOne", "disabled.run", thread.disabled?.length ?? 0)}
                  >
                    <CircleOff size={11} aria-hidden />
                    {thread.disabled?.length}
                  </span>
                )}
                {thread.questions > 0 && (
                  <span
                    className="inline-flex shrink-0 items-center gap-0.5 text-asking"
                    title={tn("debug.questionsOne", "debug.questions", thread.questions)}
                  >
                    <MessageCircleQuestionMark size={11} aria-hidden />
                    {thread.questions}
                  </span>
                )}
              </div>
            </>
          )}
        </div>
        {!renaming && (
          <>
            <span
              className="tabular-nums shrink-0 text-2xs text-text-3 group-focus-within:hidden group-hover:hidden group-has-[[data-popup-open]]:hidden"
              title={fullTime(thread.updatedAt)}
            >
              {since(thread.updatedAt, now)}
            </span>
            <span
              className="hidden group-focus-within:inline-flex group-hover:inline-flex has-[[data-popup-open]]:inline-flex"
              onClick={(event) => event.stopPropagation()}
            >
              <Menu
                align="end"
                trigger={
                  <IconButton size="small" label={t("debug.more")} tabIndex={-1}>
                    <Ellipsis size={15} aria-hidden />
                  </IconButton>
                }
                entries={entries}
              />
            </span>
          </>
        )}
      </div>
    </div>
  );
});

function Rename({ thread, onDone }: { thread: ThreadView; onDone(): void }) {
  const [title, setTitle] = useState(thread.title);
  const done = useRef(false);
  const commit = async () => {
    if (done.current) return;
    done.current = true;
    onDone();
    const next = title.trim();
    if (next === "" || next === thread.title) return;
    try {
      noteThread(await rpc("thread.rename", { threadId: thread.threadId, title: next }));
    } catch (problem) {
      showProblem(problem);
    }
  };
  return (
    <input
      className="w-full rounded-sm border border-line-field bg-surface-2 px-1 text-sm"
      value={title}
      autoFocus
      aria-label={t("debug.rename")}
      onFocus={(event) => event.currentTarget.select()}
      onChange={(event) => setTitle(event.target.value)}
      onClick={(event) => event.stopPropagation()}
      onDoubleClick={(event) => event.stopPropagation()}
      onBlur={() => void commit()}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") void commit();
        if (event.key === "Escape") {
          done.current = true;
          onDone();
        }
      }}
    />
  );
}

function DeleteThread({ threadId, onClose }: { threadId: string | null; onClose(): void }) {
  const thread = useThread(threadId);
  const running = useRuns((store) => statusOf(store, threadId) === "running");
  const [busy, setBusy] = useState(false);
  const remove = async () => {
    if (threadId === null) return;
    setBusy(true);
    try {
      await takingOver((flag) => rpc("thread.delete", { ...flag, threadId }));
      onClose();
    } catch (problem) {
      if (!isBusyElsewhere(problem)) showProblem(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <ConfirmDialog
      open={threadId !== null && thread !== undefined}
      title={t("debug.threads.deleteTitle", { title: thread?.title ?? "" })}
      text={
        <>
          <p>{tn("debug.threads.deleteOne", "debug.threads.deleteText", thread?.checkpoints ?? 0)}</p>
          {thread !== undefined && thread.questions > 0 && (
            <p>{tn("debug.threads.deleteQuestionOne", "debug.threads.deleteQuestions", thread.questions)}</p>
          )}
          {running && <p>{t("debug.threads.deleteRunning")}</p>}
        </>
      }
      confirm={t("debug.threads.deleteConfirm")}
      onConfirm={() => void remove()}
      onCancel={onClose}
      busy={busy}
    />
  );
}
