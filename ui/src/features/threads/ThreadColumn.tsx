/** The column of the thread list that a person has chosen: its head, the choice, and the value of one thread. */
import { Columns2, X } from "lucide-react";
import { useEffect, useState } from "react";
import { IconButton } from "../../components/IconButton";
import type { MenuEntry } from "../../components/Menu";
import { asProblem } from "../../debugger/parts/problem";
import { useRunContext } from "../../debugger/run/run-context";
import { evaluateAt, evaluatedText } from "../../debugger/state/evaluated";
import { keyExpression, showThreadColumn, useThreadColumn } from "../../debugger/state/thread-column";
import { useWatches } from "../../debugger/state/watches";
import { useIds } from "../../document/store";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";

/** Rows that are scrolled past, and steps of a run that goes on, are not evaluated. */
const PAUSE_MS = 120;
/** Height of the heads of the columns. */
export const HEADS = 28;
const NONE: readonly string[] = [];

const cellClass = "w-20 shrink-0 truncate text-right";

/** The choice, for the menu of the list: watches, which the list of watches reads, and state keys. */
export function useColumnEntries(): MenuEntry[] {
  const graph = useSession((session) => session.graphKey);
  const column = useThreadColumn(graph);
  const keys = useIds("key");
  const known = useWatches((store) => (graph === null ? NONE : store.of[graph]));
  if (graph === null) return [];
  const offered = [...new Set([...(known ?? NONE), ...keys.map(keyExpression)])];
  const all = column === null || offered.includes(column) ? offered : [column, ...offered];
  if (all.length === 0) return [];
  const entry = (id: string, label: string, expression: string | null) => ({
    id,
    label,
    checked: expression === column,
    run: () => showThreadColumn(graph, expression),
  });
  const entries = [
    entry("column.none", t("threads.column.none"), null),
    { id: "column.line", separator: true } as const,
    ...all.map((expression) => entry(`column:${expression}`, expression, expression)),
  ];
  return [{ id: "column", label: t("threads.column"), icon: <Columns2 size={14} aria-hidden />, entries }];
}

/** The heads of the columns: threads, and the one that was chosen, which can be taken away here. */
export function ColumnHeads({ column }: { column: string }) {
  const graph = useSession((session) => session.graphKey);
  return (
    <div
      role="row"
      style={{ height: HEADS }}
      className="sticky -top-1 z-1 flex items-center gap-2 border-b border-line bg-surface-1 pr-1 pl-3 text-2xs text-text-2"
      data-testid={debugIds.threadColumns}
    >
      <span role="columnheader" className="min-w-0 flex-1 truncate">
        {t("threads.column.thread")}
      </span>
      <span role="columnheader" className="flex max-w-1/2 min-w-20 items-center justify-end gap-0.5">
        <span className="min-w-0 truncate font-mono" title={column}>
          {column}
        </span>
        {graph !== null && (
          <IconButton
            size="small"
            label={t("threads.column.remove")}
            onClick={() => showThreadColumn(graph, null)}
          >
            <X size={12} aria-hidden />
          </IconButton>
        )}
      </span>
    </div>
  );
}

interface Shown {
  readonly text: string;
  /** Why there is no value. */
  readonly failed: boolean;
}

interface CellProps {
  readonly threadId: string;
  /** The checkpoint that the thread has come to; none has been stored without one. */
  readonly head: string | undefined;
  readonly column: string;
}

/** Asked for when the row is there to be seen, and again when its thread has moved on. */
function useValue({ threadId, head, column }: CellProps): Shown | null {
  const graphId = useSession((session) => session.graphId);
  const graphKey = useSession((session) => session.graphKey);
  const context = useRunContext((store) => (graphKey === null ? undefined : store.given[graphKey]));
  const [value, setValue] = useState<(Shown & { readonly of: string }) | null>(null);
  useEffect(() => {
    if (graphId === null || head === undefined) return;
    const abort = new AbortController();
    const pause = setTimeout(() => {
      const at = { threadId, checkpointId: head };
      evaluateAt(graphId, column, at, context, abort.signal).then(
        (answer) => setValue({ of: column, text: evaluatedText(answer), failed: answer.value === undefined }),
        (thrown: unknown) => {
          if (!abort.signal.aborted) setValue({ of: column, text: asProblem(thrown).message, failed: true });
        },
      );
    }, PAUSE_MS);
    return () => {
      abort.abort();
      clearTimeout(pause);
    };
  }, [graphId, threadId, head, column, context]);
  if (head === undefined) return { text: t("threads.column.nothing"), failed: true };
  return value?.of === column ? value : null;
}

export function ColumnCell(props: CellProps) {
  const value = useValue(props);
  return (
    <div
      role="gridcell"
      className={`${cellClass} font-mono text-xs text-text-2 data-failed:text-text-3`}
      title={value?.text}
      data-failed={value?.failed || undefined}
      data-testid={debugIds.threadValue}
    >
      {value === null ? (
        "…"
      ) : value.failed ? (
        <>
          <span aria-hidden>—</span>
          <span className="sr-only">{value.text}</span>
        </>
      ) : (
        value.text
      )}
    </div>
  );
}
