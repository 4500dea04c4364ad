/** One thread in the list: how it stands, its name, and what can be done with it. */
import {
  ArrowRightLeft,
  CircleOff,
  ClipboardCheck,
  Copy,
  Download,
  Ellipsis,
  Eraser,
  FlaskConical,
  HardDrive,
  Import,
  MessageCircleQuestionMark,
  Pencil,
  Trash2,
} from "lucide-react";
import { memo } from "react";
import { IconButton } from "../../components/IconButton";
import { Menu, type MenuEntry } from "../../components/Menu";
import { useRowMenu } from "../../components/useRowMenu";
import { copyText } from "../../debugger/parts/CopyButton";
import { nodeList } from "../../debugger/parts/format";
import { programOf, useStatus } from "../../debugger/model/status";
import { useOnlyRead } from "../../debugger/model/only-read";
import { useLive, useThread } from "../../debugger/model/runStore";
import { SummaryLine } from "../../debugger/parts/Summary";
import { type ShownStatus, StatusMark } from "../../debugger/parts/StatusMark";
import { StoppedMark } from "../../debugger/run/StoppedMark";
import { askAddRow, askMakeTest } from "../../debugger/state/asked";
import { copyThread, exportThread } from "../../debugger/run/thread-files";

import type { ThreadView } from "../../ipc/bindings/ThreadView";
import { fullTime, since } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { askCopy } from "../../state/seen-dialogs";
import { askPrune, showStorage } from "../../state/storage";
import { useBegun } from "./begun";
import { RowLabels } from "./labels";
import { ColumnCell } from "./ThreadColumn";
import { RenameThread } from "./RenameThread";

interface RowProps {
  threadId: string;
  selected: boolean;
  renaming: boolean;
  now: number;
  /** The expression whose value has a column. */
  column: string | null;
  onChoose(threadId: string): void;
  onRename(threadId: string | null): void;
  onDelete(threadId: string): void;
}

export const ThreadRow = memo(function ThreadRow(props: RowProps) {
  const thread = useThread(props.threadId);
  const status = useStatus(props.threadId);
  return thread && status ? <Row {...props} thread={thread} status={status} /> : null;
});

function Row({
  threadId,
  selected,
  renaming,
  now,
  column,
  onChoose,
  onRename,
  onDelete,
  thread,
  status,
}: RowProps & { thread: ThreadView; status: ShownStatus }) {
  const begun = useBegun(thread);
  const live = useLive(threadId);
  const onlyRead = useOnlyRead((store) => store.onlyRead);
  const off = onlyRead ? t("debug.off.onlyRead") : null;
  const canCompare = useSession((session) => session.cursor.threadId !== null);
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
    {
      id: "test",
      label: t("tests.make"),
      icon: <FlaskConical size={14} aria-hidden />,
      disabled: thread.head === undefined || status === "running",
      off,
      run: () => askMakeTest({ threadId, title: thread.title === "" ? threadId : thread.title }),
    },
    {
      id: "row",
      label: t("evaluations.add"),
      icon: <ClipboardCheck size={14} aria-hidden />,
      disabled: thread.head === undefined || status === "running",
      off,
      run: () => askAddRow({ threadId, title: thread.title === "" ? threadId : thread.title }),
    },
    { id: "files", separator: true },
    {
      id: "duplicate",
      label: t("storage.thread.copy"),
      icon: <Copy size={14} aria-hidden />,
      disabled: thread.head === undefined,
      off,
      run: () => void copyThread(thread),
    },
    ...(onlyRead
      ? [
          {
            id: "copyOwn",
            label: t("seen.copy"),
            icon: <Import size={14} aria-hidden />,
            disabled: thread.head === undefined,
            run: () => askCopy({ threadId, title: thread.title }),
          },
        ]
      : []),
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
      off,
      run: () => askPrune({ threadId, title: thread.title }),
    },
    {
      id: "delete",
      label: t("debug.delete"),
      icon: <Trash2 size={14} aria-hidden />,
      shortcut: "Delete",
      danger: true,
      off,
      run: () => onDelete(threadId),
    },
  ];
  const { onContextMenu, menu } = useRowMenu(entries);
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
      onContextMenu={onContextMenu}
    >
      <div role="gridcell" className="contents">
        <StatusMark status={status} />
        <div className="min-w-0 flex-1">
          {renaming ? (
            <RenameThread thread={thread} onDone={() => onRename(null)} />
          ) : (
            <>
              <div className="flex items-baseline gap-1.5 text-sm leading-5">
                <span className="truncate" title={thread.title}>
                  {thread.title === "" ? t("debug.threads.untitled") : thread.title}
                </span>
                {begun !== "" && <span className="tabular-nums shrink-0 text-2xs text-text-3">{begun}</span>}
              </div>
              <div className="tabular-nums flex items-center gap-1.5 text-2xs text-text-2">
                <span className="truncate" title={program}>
                  {program !== undefined && `${t("debug.runningIn", { program })} · `}
                  {t("debug.stepN", { n: Math.max(0, thread.step) })}
                  {thread.next.length > 0 && status !== "done" && ` · ${nodeList(thread.next)}`}
                </span>
                {status === "done" && thread.run?.summary !== undefined && (
                  <SummaryLine text={thread.run.summary} />
                )}
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
                <StoppedMark threadId={threadId} />
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
              {menu}
            </span>
          </>
        )}
      </div>
      {column !== null && <ColumnCell threadId={threadId} head={thread.head} column={column} />}
    </div>
  );
}
