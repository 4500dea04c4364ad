/** The watched expressions of the open graph with their values at the cursor. */
import { Ellipsis, OctagonPause, Pencil, Plus, X } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { ExpressionField } from "../../components/ExpressionField";
import { IconButton } from "../../components/IconButton";
import { InlineCode } from "../../components/InlineCode";
import { Menu } from "../../components/Menu";
import { UnknownKeys } from "../../components/UnknownKeys";
import { useRowMenu } from "../../components/useRowMenu";
import { PanelSection } from "../../components/PanelSection";
import { addBreakpoint } from "../../debugger/run/breakpoint-dialog";
import { showThreadColumn, useThreadColumn } from "../../debugger/state/thread-column";
import { addWatch, changeWatch, MOST_WATCHES, useWatches, watchesOf } from "../../debugger/state/watches";
import { addInvariant } from "../../document/invariants";
import { edit } from "../../document/edit";
import { useIds } from "../../document/store";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { registerCommands } from "../../state/commands";
import { useSession } from "../../state/session";
import { showToast } from "../../state/toasts";
import { addColumn } from "../query";
import { WatchChart } from "./WatchChart";
import { useWatchValue } from "./useWatchValue";

/** The place of the row that is written in: that of a watch, or of a new one. */
const NEW = "";

function makeInvariant(expression: string): void {
  if (edit(t("invariants.edit.add"), (document) => addInvariant(document, "doc", expression)))
    showToast({ tone: "done", text: t("watches.madeInvariant", { expression }) });
}

export function WatchList() {
  const graph = useSession((session) => session.graphKey);
  const hasThread = useSession((session) => session.cursor.threadId !== null);
  const known = useWatches((store) => (graph === null ? undefined : store.of[graph]));
  useEffect(() => {
    if (graph !== null) watchesOf(graph);
  }, [graph]);
  const watches = known ?? [];
  const column = useThreadColumn(graph);
  const [open, setOpen] = useState(true);
  const [writing, setWriting] = useState<string | null>(null);
  useEffect(
    () =>
      registerCommands([
        {
          id: "debug.watch",
          group: t("debug.group"),
          title: t("watches.add"),
          enabled: () => useSession.getState().use === "debug" && useSession.getState().graphId !== null,
          run: () => {
            setOpen(true);
            setWriting(NEW);
          },
        },
      ]),
    [],
  );
  if (graph === null) return null;
  const finish = (from: string, to: string) => {
    setWriting(null);
    if (from !== NEW) changeWatch(graph, from, to);
    else if (!addWatch(graph, to)) showToast({ tone: "info", text: t("watches.many", { n: MOST_WATCHES }) });
  };
  return (
    <PanelSection
      title={t("watches")}
      count={watches.length}
      open={open}
      onOpen={setOpen}
      data-testid={debugIds.watches}
      action={
        <IconButton
          size="small"
          label={t("watches.add")}
          data-testid={debugIds.watchAdd}
          onClick={() => {
            setOpen(true);
            setWriting(NEW);
          }}
        >
          <Plus size={14} aria-hidden />
        </IconButton>
      }
    >
      <ul className="max-h-64 overflow-y-auto pb-1">
        {watches.length === 0 && writing === null && (
          <li className="px-3 pb-2 text-xs text-text-2">{t("watches.none")}</li>
        )}
        {watches.map((watch) =>
          writing === watch ? (
            <Writing key={watch} from={watch} onFinish={finish} />
          ) : (
            <Row
              key={watch}
              expression={watch}
              hasThread={hasThread}
              isColumn={watch === column}
              onColumn={(shown) => showThreadColumn(graph, shown ? watch : null)}
              onEdit={() => setWriting(watch)}
              onRemove={() => changeWatch(graph, watch, "")}
            />
          ),
        )}
        {writing === NEW && <Writing from={NEW} onFinish={finish} />}
      </ul>
    </PanelSection>
  );
}

function Writing({ from, onFinish }: { from: string; onFinish(from: string, to: string): void }) {
  const [text, setText] = useState(from);
  const done = useRef(false);
  const finish = (to: string) => {
    // Leaving the field after a key has ended it says it once more.
    if (done.current) return;
    done.current = true;
    onFinish(from, to);
  };
  const names = useIds("key");
  const keys = useMemo(() => names.map((name) => ({ name, type: "", description: undefined })), [names]);
  return (
    <li
      className="px-2 py-1"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        finish(from);
      }}
    >
      <ExpressionField
        value={text}
        onChange={setText}
        onCommit={() => finish(text)}
        onBlur={() => finish(text)}
        keys={keys}
        placeholder={t("watches.placeholder")}
        tellsUnknownKeys
        autoFocus
        aria-label={t("watches.expression")}
        data-testid={debugIds.watchField}
      />
    </li>
  );
}

interface RowProps {
  readonly expression: string;
  readonly hasThread: boolean;
  readonly isColumn: boolean;
  onColumn(shown: boolean): void;
  onEdit(): void;
  onRemove(): void;
}

function Row({ expression, hasThread, isColumn, onColumn, onEdit, onRemove }: RowProps) {
  const value = useWatchValue(expression);
  const keys = useIds("key");
  const entries = [
    { id: "invariant", label: t("invariants.fromWatch"), run: () => makeInvariant(expression) },
    { id: "column", label: t("watches.column"), run: () => addColumn(expression) },
    { id: "threads", label: t("watches.threadColumn"), checked: isColumn, run: () => onColumn(!isColumn) },
  ];
  const { onContextMenu, menu } = useRowMenu(entries);
  return (
    <li
      className="group flex min-h-7 items-start gap-1 py-0.5 pr-1 pl-3 hover:bg-surface-3"
      onContextMenu={onContextMenu}
      data-testid={debugIds.watch}
    >
      <div className="min-w-0 flex-1">
        <button type="button" className="block w-full text-left" title={expression} onDoubleClick={onEdit}>
          <span className="block truncate font-mono text-xs text-text-2">{expression}</span>
          <span
            className="block text-sm line-clamp-2 wrap-anywhere data-changed:text-done data-failed:text-xs data-failed:text-text-3"
            data-changed={value?.changed || undefined}
            data-failed={value?.failed || undefined}
            title={value?.text}
            data-testid={debugIds.watchValue}
          >
            {value === null ? (
              <span className="text-text-3">{hasThread ? "…" : t("watches.noThread")}</span>
            ) : value.failed ? (
              <InlineCode text={value.text} />
            ) : (
              <span className="font-mono">{value.text}</span>
            )}
          </span>
        </button>
        <UnknownKeys text={expression} keys={keys} />
        <WatchChart expression={expression} />
      </div>
      <span className="flex opacity-0 group-focus-within:opacity-100 group-hover:opacity-100">
        <IconButton
          size="small"
          label={t("watches.stop")}
          onClick={() => addBreakpoint({ when: "watch", condition: expression })}
        >
          <OctagonPause size={13} aria-hidden />
        </IconButton>
        <Menu
          align="end"
          trigger={
            <IconButton size="small" label={t("watches.more")} data-testid={debugIds.watchMore}>
              <Ellipsis size={13} aria-hidden />
            </IconButton>
          }
          entries={entries}
        />
        {menu}
        <IconButton size="small" label={t("watches.edit")} onClick={onEdit}>
          <Pencil size={13} aria-hidden />
        </IconButton>
        <IconButton size="small" label={t("watches.remove")} onClick={onRemove}>
          <X size={13} aria-hidden />
        </IconButton>
      </span>
    </li>
  );
}
