/**
 * The state as one tree that is drawn in a window: keys with what changed first, values level by level, differences in
 * place. Arrow keys walk it, Enter edits, Ctrl+C copies. Values that are too big to come along are fetched when opened.
 */
import { useVirtualizer } from "@tanstack/react-virtual";
import { Search, X } from "lucide-react";
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { IconButton } from "../../components/IconButton";
import { TextField } from "../../components/TextField";
import { copyText } from "../../debugger/CopyButton";
import { escapePointer, readablePath, valueAt } from "../../debugger/diff";
import { type KeyEdit, useEdits } from "../../debugger/edits";
import type { Loaded } from "../../debugger/snapshots";
import { flattenState, gained, hereValue, PAGE, type StateRow } from "../../debugger/state-rows";
import { loadTail, loadValue, tailId, useValues, valueId } from "../../debugger/values";
import type { KeyView } from "../../ipc/bindings/KeyView";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { ValueEditor } from "./ValueEditor";
import { domId, statePath, textOfValue, TreeRow } from "./TreeRow";

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
                  <TreeRow
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
