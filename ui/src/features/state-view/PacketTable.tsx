/** The tasks of a node in one step, each with the packet that it was sent, what it gave and how long it took. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import { type KeyboardEvent, useMemo, useRef, useState } from "react";
import { cx } from "../../components/cx";
import { TextField } from "../../components/TextField";
import { nodeName, readableError } from "../../debugger/parts/format";
import { StatusMark } from "../../debugger/parts/StatusMark";
import {
  FAILED_FIRST,
  filteredPackets,
  type PacketColumn,
  type PacketRow,
  packetRows,
  type PacketSort,
  sortedPackets,
} from "../../debugger/state/packets";
import type { TaskView } from "../../ipc/bindings/TaskView";
import { count, duration } from "../../lib/intl";
import { taskIds } from "../../lib/testIds";
import { t, type TextKey } from "../../lib/texts";
import { useSession } from "../../state/session";

const ROW = 24;
/** Rows that are shown at once where other tasks stand below. */
const FEW = 10;
const COLUMNS = "grid items-center gap-x-2 px-3";
const PLAIN = "grid-cols-[20px_minmax(0,1fr)_minmax(0,2fr)_3.5rem]";
/** Where a task was tried again. */
const WITH_ATTEMPTS = "grid-cols-[20px_minmax(0,1fr)_minmax(0,2fr)_2rem_3.5rem]";
const HEADS: readonly { column: PacketColumn; text: TextKey; look: string }[] = [
  { column: "status", text: "task.column.status", look: "" },
  { column: "input", text: "task.column.input", look: "text-left" },
  { column: "result", text: "task.column.result", look: "text-left" },
  { column: "attempts", text: "task.column.attempts", look: "justify-end" },
  { column: "millis", text: "task.column.millis", look: "justify-end" },
];

export function PacketTable({
  node,
  tasks,
  full = false,
}: {
  node: string;
  tasks: readonly TaskView[];
  /** Nothing else is below it. */
  full?: boolean;
}) {
  const [words, setWords] = useState("");
  const [sort, setSort] = useState<PacketSort>(FAILED_FIRST);
  const rows = useMemo(() => packetRows(tasks), [tasks]);
  const shown = useMemo(() => sortedPackets(filteredPackets(rows, words), sort), [rows, words, sort]);
  const failed = useMemo(() => tasks.filter((task) => task.status === "failed").length, [tasks]);
  const retried = useMemo(() => rows.some(({ retries }) => retries > 0), [rows]);
  const selected = useSession((session) => session.cursor.taskId);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  const [at, setAt] = useState(0);
  const open = (task: TaskView) => useSession.getState().setCursor({ taskId: task.id });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") {
      const row = shown[at];
      if (row) open(row.task);
      return;
    }
    const last = shown.length - 1;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(last, to));
    setAt(next);
    virtual.scrollToIndex(next, { align: "auto" });
  };
  return (
    <section
      className={cx("flex min-h-0 flex-col", full && "flex-1")}
      aria-label={t("task.packets", { n: tasks.length, node: nodeName(node) })}
      data-testid={taskIds.packets}
      data-node={node}
    >
      <div className="flex items-center gap-2 px-3 py-1.5 text-xs">
        <span className="tabular-nums min-w-0 truncate font-medium">
          {t("task.packets", { n: count(tasks.length), node: nodeName(node) })}
        </span>
        {failed > 0 && (
          <span className="shrink-0 text-failed">{t("task.packets.failed", { n: count(failed) })}</span>
        )}
        {shown.length < tasks.length && (
          <span className="tabular-nums shrink-0 text-text-2">
            {t("task.packets.shown", { n: count(shown.length), total: count(tasks.length) })}
          </span>
        )}
        <div className="ml-auto w-36 shrink-0">
          <TextField
            aria-label={t("task.packets.filter")}
            placeholder={t("task.packets.filter")}
            value={words}
            onChange={(next) => {
              setWords(next);
              setAt(0);
            }}
            onCommit={() => {
              const row = shown[0];
              if (row) open(row.task);
            }}
            data-testid={taskIds.packetFilter}
          />
        </div>
      </div>
      <Heads sort={sort} retried={retried} onSort={setSort} />
      {shown.length === 0 && <p className="px-3 py-2 text-xs text-text-2">{t("task.packets.none")}</p>}
      <div
        ref={scroller}
        role="grid"
        aria-label={t("task.packets", { n: tasks.length, node: nodeName(node) })}
        aria-rowcount={shown.length}
        tabIndex={0}
        className={cx("min-h-0 overflow-y-auto focus-visible:outline-offset-[-2px]", full && "flex-1")}
        style={full ? undefined : { height: Math.min(FEW, shown.length) * ROW }}
        onKeyDown={onKeyDown}
      >
        <div className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const row = shown[item.index];
            if (!row) return null;
            return (
              <Row
                key={row.task.id}
                row={row}
                retried={retried}
                place={item.index}
                top={item.start}
                current={item.index === at}
                selected={row.task.id === selected}
                onOpen={open}
              />
            );
          })}
        </div>
      </div>
    </section>
  );
}

function Heads({
  sort,
  retried,
  onSort,
}: {
  sort: PacketSort;
  retried: boolean;
  onSort(sort: PacketSort): void;
}) {
  const Arrow = sort.down ? ArrowDown : ArrowUp;
  return (
    <div
      role="row"
      className={cx(
        COLUMNS,
        retried ? WITH_ATTEMPTS : PLAIN,
        "h-6 shrink-0 border-b border-line text-2xs text-text-3",
      )}
    >
      {HEADS.filter(({ column }) => retried || column !== "attempts").map(({ column, text, look }) => {
        const on = sort.column === column;
        return (
          <button
            key={column}
            type="button"
            aria-pressed={on}
            aria-label={t(text)}
            title={t(text)}
            className={cx("flex min-w-0 items-center gap-0.5 hover:text-text aria-pressed:text-text", look)}
            // The most attempts are looked for, not the fewest.
            onClick={() => onSort({ column, down: on ? !sort.down : column === "attempts" })}
          >
            {column !== "status" && <span className="truncate">{t(text)}</span>}
            {(on || column === "status") && <Arrow size={11} className="shrink-0" aria-hidden />}
          </button>
        );
      })}
    </div>
  );
}

function Row({
  row: { task, input, result, retries },
  retried,
  place,
  top,
  current,
  selected,
  onOpen,
}: {
  row: PacketRow;
  retried: boolean;
  place: number;
  top: number;
  current: boolean;
  selected: boolean;
  onOpen(task: TaskView): void;
}) {
  return (
    <div
      role="row"
      aria-rowindex={place + 1}
      aria-selected={selected}
      data-current={current || undefined}
      className={cx(
        COLUMNS,
        retried ? WITH_ATTEMPTS : PLAIN,
        "absolute inset-x-0 cursor-default text-xs hover:bg-surface-3 aria-selected:bg-accent-soft data-current:bg-surface-2",
      )}
      style={{ top, height: ROW }}
      onClick={() => onOpen(task)}
      data-testid={taskIds.packet}
      data-status={task.status}
    >
      <StatusMark status={task.status} size={13} />
      <span className="truncate font-mono" title={input}>
        {input}
      </span>
      <span className={cx("truncate font-mono", task.status === "failed" && "text-failed")} title={result}>
        {result}
      </span>
      {retried && (
        <span
          className="tabular-nums text-right text-text-2"
          title={(task.attempts ?? []).map(({ error }) => readableError(error)).join("\n")}
          data-testid={taskIds.packetAttempts}
        >
          {retries > 0 ? count(retries + (task.status === "waiting" ? 0 : 1)) : ""}
        </span>
      )}
      <span className="tabular-nums text-right text-text-3">
        {task.millis === undefined ? "" : duration(task.millis)}
      </span>
    </div>
  );
}
