/**
 * The state as one tree that is drawn in a window: keys with what changed first, values level by level, differences in
 * place. Arrow keys walk it, Enter edits, Ctrl+C copies. Values that are too big to come along are fetched when opened.
 */
import { useVirtualizer } from "@tanstack/react-virtual";
import { ChevronDown, ChevronRight, History, MessagesSquare, Pencil, Search, Undo2, X } from "lucide-react";
import { type KeyboardEvent, memo, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { IconButton } from "../../components/IconButton";
import { TextField } from "../../components/TextField";
import { Conversation } from "../../debugger/Conversation";
import { CopyButton, copyText } from "../../debugger/CopyButton";
import { escapePointer, readablePath, valueAt } from "../../debugger/diff";
import { type KeyEdit, useEdits } from "../../debugger/edits";
import { bytes, count, preview } from "../../debugger/format";
import { pathTo } from "../../debugger/lanes";
import { Pre } from "../../debugger/Pre";
import { useRuns } from "../../debugger/runStore";
import type { Loaded } from "../../debugger/snapshots";
import {
  changeText,
  flattenState,
  gained,
  hereValue,
  isContainer,
  PAGE,
  type StateRow,
} from "../../debugger/state-rows";
import { loadTail, loadValue, tailId, useValues, valueId } from "../../debugger/values";
import { WordDiff } from "../../debugger/WordDiff";
import type { KeyView } from "../../ipc/bindings/KeyView";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { showToast } from "../../state/toasts";
import { ValueEditor } from "./ValueEditor";

const NO_EDITS: Readonly<Record<string, KeyEdit>> = {};

interface Editing {
  readonly key: string;
  readonly pointer: string;
}

export function StateTree({ loaded }: { loaded: Loaded }) {
  const { view, place } = loaded;
  // What is open stays open from checkpoint to checkpoint: stepping shows how the same place changes.
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [shown, setShown] = useState<ReadonlyMap<string, number>>(new Map());
  const [chat, setChat] = useState<ReadonlySet<string>>(new Set());
  const [fromStart, setFromStart] = useState<ReadonlySet<string>>(new Set());
  const [search, setSearch] = useState("");
  const [onlyChanged, setOnlyChanged] = useState(false);
  const [focused, setFocused] = useState<string | null>(null);
  const [editing, setEditing] = useState<Editing | null>(null);
  const pending = useEdits((store) => store.pending);
  const edits =
    pending && pending.threadId === place.threadId && pending.checkpointId === place.checkpointId
      ? pending.keys
      : NO_EDITS;
  const entries = useValues((store) => store.entries);
  const loadedValues = useMemo(
    () =>
      new Map(
        view.keys.flatMap((key) => {
          const found = entries.get(valueId(place, view, key));
          return found ? [[key.key, found] as const] : [];
        }),
      ),
    [entries, view, place],
  );

  const tails = useMemo(
    () =>
      new Map(
        view.keys.flatMap((key) => {
          const found = entries.get(tailId(valueId(place, view, key)));
          return found ? [[key.key, found] as const] : [];
        }),
      ),
    [entries, view, place],
  );

  // An open key whose value is not here is fetched.
  useEffect(() => {
    for (const key of view.keys) {
      if (!open.has(`/${escapePointer(key.key)}`)) continue;
      const have = loadedValues.get(key.key);
      if (hereValue(key, have).complete) continue;
      const fresh = fromStart.has(key.key) || chat.has(key.key) ? undefined : gained(key);
      if (fresh !== undefined) void loadTail(place, view, key, fresh);
      else if (!have) void loadValue(place, view, key);
    }
  }, [open, view, place, loadedValues, fromStart, chat]);

  // What is searched must be here; only what is really big has to be asked for by opening it.
  const searching = search.trim() !== "";
  useEffect(() => {
    if (!searching) return;
    const timer = setTimeout(() => {
      for (const key of view.keys) {
        const have = loadedValues.get(key.key);
        if (!hereValue(key, have).complete && !have?.problem && (key.value?.bytes ?? 0) <= SEARCH_BYTES) {
          void loadValue(place, view, key, "all");
        }
      }
    }, 200);
    return () => clearTimeout(timer);
  }, [searching, view, place, loadedValues]);
  const unsearched = searching
    ? view.keys.filter(
        (key) =>
          !hereValue(key, loadedValues.get(key.key)).complete && (key.value?.bytes ?? 0) > SEARCH_BYTES,
      )
    : [];

  const rows = useMemo(
    () =>
      flattenState(view.keys, {
        open,
        shown,
        loaded: loadedValues,
        tails,
        fromStart,
        edits,
        chat,
        search,
        onlyChanged,
      }),
    [view.keys, open, shown, loadedValues, tails, fromStart, edits, chat, search, onlyChanged],
  );

  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => ESTIMATE[rows[index]?.type ?? "node"],
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: 12,
  });

  const toggle = useCallback(
    (id: string, to?: boolean) =>
      setOpen((old) => {
        const next = new Set(old);
        if (to ?? !next.has(id)) next.add(id);
        else next.delete(id);
        return next;
      }),
    [],
  );
  const keyView = (name: string): KeyView | undefined => view.keys.find((key) => key.key === name);
  const beginEdit = useCallback(
    async (name: string, pointer: string) => {
      const key = view.keys.find((each) => each.key === name);
      if (!key) return;
      const already = useEdits.getState().pending?.keys[name];
      const value = hereValue(key, useValues.getState().entries.get(valueId(place, view, key)));
      // Only a whole value can be changed in one place: otherwise what is not here would be lost.
      if (!already && !value.complete) {
        const whole = await loadValue(place, view, key, "all");
        if (!whole?.complete) return;
      }
      setOpen((old) => new Set(old).add(`/${escapePointer(name)}`));
      setEditing({ key: name, pointer });
    },
    [view, place],
  );
  useEffect(() => setEditing(null), [place.threadId, place.checkpointId]);

  const readable = (row: StateRow): string | undefined =>
    row.type === "key"
      ? `state.${readablePath(row.id)}`
      : row.type === "node"
        ? statePath(row.id)
        : undefined;

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== scroller.current) return;
    const walk = rows
      .map((row, index) => ({ row, index }))
      .filter(({ row }) => row.type === "key" || row.type === "node" || row.type === "more");
    const at = walk.findIndex(({ row }) => row.id === focused);
    const go = (to: number) => {
      const target = walk[Math.max(0, Math.min(walk.length - 1, to))];
      if (!target) return;
      setFocused(target.row.id);
      virtual.scrollToIndex(target.index);
    };
    const row = walk[at]?.row;
    switch (event.key) {
      case "ArrowDown":
        go(at + 1);
        break;
      case "ArrowUp":
        go(at < 0 ? 0 : at - 1);
        break;
      case "Home":
        go(0);
        break;
      case "End":
        go(walk.length - 1);
        break;
      case "ArrowRight":
        if (row && "open" in row && !row.open) toggle(row.id, true);
        else go(at + 1);
        break;
      case "ArrowLeft":
        if (row && "open" in row && row.open) toggle(row.id, false);
        else if (row) {
          const parent = row.id.slice(0, row.id.lastIndexOf("/"));
          const index = walk.findIndex((each) => each.row.id === parent);
          if (index >= 0) go(index);
        }
        break;
      case "Enter":
      case "F2":
        if (row?.type === "key") void beginEdit(row.view.key, "");
        else if (row?.type === "node") void beginEdit(row.key, row.pointer);
        break;
      case " ":
        if (row && "open" in row) toggle(row.id);
        break;
      case "c":
        if (!(event.ctrlKey || event.metaKey) || !row || !("value" in row)) return;
        void copyText(event.shiftKey ? (readable(row) ?? "") : textOfValue(row.value));
        break;
      default:
        return;
    }
    event.preventDefault();
  };

  const changed = view.keys.filter((key) => key.change !== "same").length;
  const items = virtual.getVirtualItems();
  return (
    <>
      <div className="flex items-center gap-1 px-3 pb-2">
        <TextField
          className="min-w-0 flex-1"
          value={search}
          onChange={setSearch}
          placeholder={t("debug.state.search")}
          aria-label={t("debug.state.search")}
          data-testid={debugIds.stateSearch}
          prefix={<Search size={13} aria-hidden />}
          {...(search !== "" && {
            suffix: (
              <IconButton size="small" label={t("debug.clear")} onClick={() => setSearch("")}>
                <X size={13} aria-hidden />
              </IconButton>
            ),
          })}
        />
        <Button
          size="small"
          variant={onlyChanged ? "secondary" : "ghost"}
          aria-pressed={onlyChanged}
          onClick={() => setOnlyChanged(!onlyChanged)}
        >
          {t("debug.state.changedN", { n: changed })}
        </Button>
      </div>
      {unsearched.length > 0 && (
        <p className="px-3 pb-2 text-xs text-text-2">
          {t("debug.state.unsearched", { keys: unsearched.map((key) => key.key).join(", ") })}
        </p>
      )}
      {rows.length === 0 && (
        <EmptyState
          compact
          title={
            search !== ""
              ? t("debug.state.noMatch")
              : onlyChanged
                ? t("debug.state.noChange")
                : t("debug.state.noKeys")
          }
        />
      )}
      <div
        ref={scroller}
        className="min-h-0 flex-1 overflow-x-hidden overflow-y-auto focus-visible:outline-offset-[-2px]"
        role="tree"
        aria-label={t("debug.state")}
        aria-activedescendant={focused === null ? undefined : domId(focused)}
        tabIndex={0}
        onKeyDown={onKeyDown}
        data-testid={debugIds.stateTree}
      >
        <div className="relative" style={{ height: virtual.getTotalSize() }}>
          {/* One block in the flow: a row that grew pushes the next ones down at once, not a frame later. */}
          <div className="absolute inset-x-0" style={{ top: items[0]?.start ?? 0 }}>
            {items.map((item) => {
              const row = rows[item.index];
              if (!row) return null;
              const key = "view" in row ? row.view : keyView(row.key);
              if (!key) return null;
              const pointer = row.type === "key" ? "" : row.type === "node" ? row.pointer : undefined;
              const isEditing = editing !== null && key.key === editing.key && pointer === editing.pointer;
              return (
                <div
                  key={row.id}
                  ref={virtual.measureElement}
                  data-index={item.index}
                  onMouseDown={() => setFocused(row.id)}
                >
                  <Row
                    row={row}
                    place={place}
                    focused={focused === row.id}
                    chat={chat.has(key.key)}
                    onToggle={toggle}
                    onEdit={(name, at) => void beginEdit(name, at)}
                    onChat={(name) =>
                      setChat((old) => {
                        const next = new Set(old);
                        if (!next.delete(name)) next.add(name);
                        toggle(`/${escapePointer(name)}`, true);
                        return next;
                      })
                    }
                    onFromStart={(name) => setFromStart((old) => new Set(old).add(name))}
                    onMore={(more) => {
                      if (more.remote) void loadValue(place, view, key);
                      setShown((old) =>
                        new Map(old).set(more.id.slice(0, -"#more".length), more.shown + PAGE),
                      );
                    }}
                  />
                  {isEditing && (
                    <ValueEditor
                      view={key}
                      pointer={editing.pointer}
                      value={valueAt(
                        edits[key.key]?.value ?? hereValue(key, loadedValues.get(key.key)).value,
                        editing.pointer,
                      )}
                      onDone={(value) => {
                        const base = edits[key.key]?.base ?? hereValue(key, loadedValues.get(key.key)).value;
                        useEdits.getState().edit(place, key.key, base, editing.pointer, value);
                        setEditing(null);
                        scroller.current?.focus();
                      }}
                      onCancel={() => {
                        setEditing(null);
                        scroller.current?.focus();
                      }}
                    />
                  )}
                </div>
              );
            })}
          </div>
        </div>
      </div>
    </>
  );
}

const SEARCH_BYTES = 2_000_000;

const ESTIMATE: Record<StateRow["type"], number> = {
  key: 46,
  node: 24,
  text: 80,
  diff: 60,
  changes: 60,
  more: 32,
  before: 28,
  wait: 28,
  chat: 120,
};

const domId = (id: string): string => `state${id}`;

const statePath = (id: string): string => `state.${readablePath(id)}`;

const textOfValue = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value, null, 2);

interface RowProps {
  row: StateRow;
  place: Loaded["place"];
  focused: boolean;
  chat: boolean;
  onToggle(id: string): void;
  onEdit(key: string, pointer: string): void;
  onChat(key: string): void;
  onMore(row: Extract<StateRow, { type: "more" }>): void;
  onFromStart(key: string): void;
}

const indent = (depth: number) => ({ paddingLeft: 12 + depth * 14 });

function Row({ row, place, focused, chat, onToggle, onEdit, onChat, onMore, onFromStart }: RowProps) {
  switch (row.type) {
    case "key":
      return (
        <KeyRow
          row={row}
          place={place}
          focused={focused}
          chat={chat}
          onToggle={onToggle}
          onEdit={onEdit}
          onChat={onChat}
        />
      );
    case "node":
      return <NodeRow row={row} focused={focused} onToggle={onToggle} onEdit={onEdit} />;
    case "text":
      return (
        <div style={indent(row.depth)} className="py-1 pr-3">
          <Pre height="tall" tone="plain">
            {row.text}
          </Pre>
        </div>
      );
    case "diff":
      return (
        <div style={indent(1)} className="py-1 pr-3">
          <div className="max-h-80 overflow-y-auto rounded-sm bg-surface-2 px-2 py-1.5">
            <WordDiff before={row.before} after={row.after} />
          </div>
        </div>
      );
    case "changes":
      return (
        <ul style={indent(1)} className="py-1 pr-3 font-mono text-xs">
          {row.changes.map((change) => (
            <li key={change.pointer} className="flex flex-wrap gap-x-2 [overflow-wrap:anywhere]">
              <span className="text-text-2">{readablePath(change.pointer)}</span>
              {change.change !== "added" && (
                <del className="bg-diff-remove px-0.5 line-through decoration-failed">
                  {preview(change.before, 60)}
                </del>
              )}
              {change.change !== "removed" && (
                <ins className="bg-diff-add px-0.5 no-underline">{preview(change.after, 60)}</ins>
              )}
            </li>
          ))}
          {row.cut && <li className="text-text-3">{t("debug.state.moreChanges")}</li>}
        </ul>
      );
    case "more":
      return (
        <div style={indent(row.depth)} className="py-1">
          <Button size="small" variant="ghost" onClick={() => onMore(row)}>
            {t("debug.state.more", { n: count(Math.max(0, row.total - row.shown)) })}
          </Button>
        </div>
      );
    case "before":
      return (
        <div style={indent(1)} className="py-0.5">
          <Button size="small" variant="ghost" onClick={() => onFromStart(row.key)}>
            {t("debug.state.before", { n: count(row.count) })}
          </Button>
        </div>
      );
    case "wait":
      return (
        <p
          style={indent(1)}
          className={`py-1 pr-3 text-xs ${row.problem === undefined ? "text-text-2" : "text-failed"}`}
        >
          {row.problem ?? t("debug.loading")}
        </p>
      );
    case "chat":
      return (
        <div className="max-h-[480px] overflow-y-auto border-y border-line bg-surface-2">
          <Conversation messages={row.messages} fresh={row.fresh} />
        </div>
      );
  }
}

const KeyRow = memo(function KeyRow({
  row,
  place,
  focused,
  chat,
  onToggle,
  onEdit,
  onChat,
}: Omit<RowProps, "row" | "onMore" | "onFromStart"> & { row: Extract<StateRow, { type: "key" }> }) {
  const { view, edit, value, here } = row;
  const change = changeText(view);
  const Chevron = row.open ? ChevronDown : ChevronRight;
  const removed = view.value === undefined && view.change === "removed";
  const absent = view.value === undefined && !edit;
  return (
    <div
      id={domId(row.id)}
      role="treeitem"
      aria-level={1}
      aria-expanded={row.open}
      aria-selected={focused}
      data-testid={debugIds.stateKey}
      data-key={view.key}
      data-change={view.change}
      className={`group border-t border-line pr-2 pl-1 py-0.5 ${focused ? "bg-surface-3" : "hover:bg-surface-3"} ${edit ? "border-l-2 border-l-asking" : view.change !== "same" ? "border-l-2 border-l-done" : "border-l-2 border-l-transparent"}`}
      onClick={() => onToggle(row.id)}
    >
      <div className="flex h-6 items-center gap-1.5">
        <Chevron size={14} className="shrink-0 text-text-3" aria-hidden />
        <span className="max-w-3/5 shrink-0 truncate font-mono text-xs font-semibold" title={view.key}>
          {view.key}
        </span>
        {edit ? (
          <Badge tone="asking">{t("debug.edited")}</Badge>
        ) : change.kind === "appended" ? (
          <Badge tone="done">+{change.items ?? ""}</Badge>
        ) : change.kind !== "same" ? (
          <Badge tone={change.kind === "removed" ? "failed" : "done"}>
            {t(`debug.change.${change.kind}`)}
          </Badge>
        ) : null}
        {!edit && view.writers.length > 0 && (
          <span
            className="min-w-0 truncate text-2xs text-text-2"
            title={t("debug.writers", { nodes: view.writers.join(", ") })}
          >
            {t("debug.by", { nodes: view.writers.join(", ") })}
          </span>
        )}
        {absent && !removed && <span className="text-2xs text-text-3">{t("debug.state.notSet")}</span>}
        <span className="tabular ml-auto min-w-0 shrink-[2] truncate text-2xs text-text-3 group-focus-within:hidden group-hover:hidden">
          {view.declared}
          {view.reducer !== "overwrite" && ` · ${view.reducer}`}
          {view.value && view.value.bytes > 200 && ` · ${bytes(view.value.bytes)}`}
        </span>
        <span
          className="ml-auto hidden shrink-0 group-focus-within:inline-flex group-hover:inline-flex"
          onClick={(event) => event.stopPropagation()}
        >
          {view.change === "same" && !absent && <LastWrite place={place} name={view.key} />}
          {(view.reducer === "add_messages" || view.key === "messages") && Array.isArray(value) && (
            <IconButton
              size="small"
              pressed={chat}
              label={t("debug.state.asChat")}
              onClick={() => onChat(view.key)}
            >
              <MessagesSquare size={13} aria-hidden />
            </IconButton>
          )}
          <CopyButton text={statePath(row.id)} label={t("debug.copyPath")} path />
          {here && !absent && <CopyButton text={() => textOfValue(value)} label={t("debug.copyValue")} />}
          {edit ? (
            <IconButton
              size="small"
              label={t("debug.edit.revert")}
              onClick={() => useEdits.getState().revert(view.key)}
            >
              <Undo2 size={13} aria-hidden />
            </IconButton>
          ) : null}
          <IconButton
            size="small"
            label={t("debug.edit.key", { key: view.key })}
            onClick={() => onEdit(view.key, "")}
            data-testid={debugIds.stateEdit}
          >
            <Pencil size={13} aria-hidden />
          </IconButton>
        </span>
      </div>
      {!(absent && !removed) &&
        !(
          row.open &&
          (isList(view) || isContainer(value) || (typeof value === "string" && value.length > 60))
        ) && (
          <div className="truncate pb-0.5 pl-5 font-mono text-xs" onDoubleClick={() => onEdit(view.key, "")}>
            {removed ? (
              <del className="text-text-2 line-through decoration-failed">
                {preview(view.previous?.value ?? view.previous?.head ?? "")}
              </del>
            ) : (
              <OldNew view={view} edit={edit} value={value} here={here} />
            )}
          </div>
        )}
    </div>
  );
});

const isList = (view: KeyView): boolean => view.value?.kind === "array" || view.value?.kind === "object";

/** A longer old value would push the new one out of the line; opening the key shows both. */
const SHORT = 28;

/** One line: the value, or old → new when it changed and both are short. */
function OldNew({
  view,
  edit,
  value,
  here,
}: {
  view: KeyView;
  edit: KeyEdit | undefined;
  value: unknown;
  here: boolean;
}) {
  const text = here ? preview(value, 200) : `${view.value?.head ?? ""}…`;
  const summary =
    view.value && (view.value.kind === "array" || view.value.kind === "object") && !edit
      ? tn(
          view.value.kind === "array" ? "debug.itemsOne" : "debug.fieldsOne",
          view.value.kind === "array" ? "debug.items" : "debug.fields",
          view.value.length,
        )
      : undefined;
  const old = edit ? edit.base : view.change === "changed" ? view.previous?.value : undefined;
  if (old !== undefined && !isContainer(old) && preview(old).length <= SHORT) {
    return (
      <>
        <del className="bg-diff-remove line-through decoration-failed">{preview(old, 60)}</del>
        <span className="text-text-3"> → </span>
        <ins className="bg-diff-add no-underline">{text}</ins>
      </>
    );
  }
  return (
    <>
      {summary !== undefined && <span className="mr-2 font-sans text-2xs text-text-2">{summary}</span>}
      <span className="text-text-2">{text}</span>
    </>
  );
}

/** Leads to the checkpoint that gave an unchanged key its value. */
function LastWrite({ place, name }: { place: Loaded["place"]; name: string }) {
  const go = () => {
    const list = useRuns.getState().checkpoints.get(place.threadId)?.list ?? [];
    const path = pathTo(list, place.checkpointId ?? list[0]?.id);
    const target = list.find((checkpoint) => path.has(checkpoint.id) && checkpoint.updated.includes(name));
    if (target) useSession.getState().setCursor({ checkpointId: target.id });
    else showToast({ tone: "info", text: t("debug.state.neverWritten", { key: name }) });
  };
  return (
    <IconButton size="small" label={t("debug.state.lastWrite")} onClick={go}>
      <History size={13} aria-hidden />
    </IconButton>
  );
}

const NodeRow = memo(function NodeRow({
  row,
  focused,
  onToggle,
  onEdit,
}: Pick<RowProps, "focused" | "onToggle" | "onEdit"> & { row: Extract<StateRow, { type: "node" }> }) {
  const Chevron = row.open ? ChevronDown : ChevronRight;
  const container = row.kind === "array" || row.kind === "object";
  return (
    <div
      id={domId(row.id)}
      role="treeitem"
      aria-level={row.depth + 1}
      aria-expanded={row.children > 0 ? row.open : undefined}
      aria-selected={focused}
      style={indent(row.depth)}
      className={`group flex h-6 items-center gap-1.5 pr-1 font-mono text-xs ${row.mark === "added" ? "bg-diff-add/60" : ""} ${focused ? "bg-surface-3" : "hover:bg-surface-3"}`}
      onClick={() => row.children > 0 && onToggle(row.id)}
      onDoubleClick={() => !container && onEdit(row.key, row.pointer)}
    >
      {row.children > 0 ? (
        <Chevron size={13} className="shrink-0 text-text-3" aria-hidden />
      ) : (
        <span className="w-[13px] shrink-0" />
      )}
      <span className={`shrink-0 text-text-2 ${row.hit ? "rounded-sm bg-asking-soft" : ""}`}>{row.name}</span>
      {row.mark !== undefined && (
        <span className="shrink-0 text-2xs text-done">
          {t(row.mark === "added" ? "debug.change.added" : "debug.change.changed")}
        </span>
      )}
      <span className={`min-w-0 flex-1 truncate ${container ? "text-text-3" : ""}`}>
        {container && (
          <span className="mr-1.5 font-sans text-2xs">
            {tn(
              row.kind === "array" ? "debug.itemsOne" : "debug.fieldsOne",
              row.kind === "array" ? "debug.items" : "debug.fields",
              row.children,
            )}
          </span>
        )}
        {!row.open && preview(row.value, 160)}
      </span>
      <span className="hidden shrink-0 group-hover:inline-flex" onClick={(event) => event.stopPropagation()}>
        <CopyButton text={statePath(row.id)} label={t("debug.copyPath")} path />
        <CopyButton text={() => textOfValue(row.value)} label={t("debug.copyValue")} />
        <IconButton size="small" label={t("debug.edit.value")} onClick={() => onEdit(row.key, row.pointer)}>
          <Pencil size={12} aria-hidden />
        </IconButton>
      </span>
    </div>
  );
});
