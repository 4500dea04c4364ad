/**
 * The state as one tree that is drawn in a window: keys with what changed first, values level by level, differences in
 * place. Arrow keys walk it, Enter edits, Ctrl+C copies. Values that are too big to come along are fetched when opened.
 */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { EmptyState } from "../../components/EmptyState";
import { useStable } from "../../components/stable";
import { escapePointer, valueAt } from "../../debugger/parts/diff";
import { type KeyEdit, useEdits } from "../../debugger/state/edits";
import { cannotEdit, useOnlyRead } from "../../debugger/model/only-read";
import type { Loaded } from "../../debugger/model/snapshots";
import { flattenState, hereValue, PAGE, type StateRow } from "../../debugger/state/state-rows";
import { loadValue, useValues, valueId } from "../../debugger/state/values";
import type { KeyView } from "../../ipc/bindings/KeyView";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { askWhatIf } from "../../state/what-if";
import { KeyHistory } from "./KeyHistory";
import { Provenance } from "./Provenance";
import { StateToolbar } from "./StateToolbar";
import { domId, textOfValue, TreeRow, UnsetRow } from "./TreeRow";
import { useTreeKeys } from "./useTreeKeys";
import { useTreeValues } from "./useTreeValues";
import { ValueEditor } from "./ValueEditor";
import { keyOf, useStateKey } from "../../debugger/state/selected-key";

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
  // The place is the one that the history leads to; going to one of its steps does not change it.
  const [history, setHistory] = useState<{ name: string; place: Loaded["place"] } | null>(null);
  const [asked, setAsked] = useState<{ pointer: string; place: Loaded["place"] } | null>(null);
  const [editing, setEditing] = useState<Editing | null>(null);
  const pending = useEdits((store) => store.pending);
  const edits =
    pending && pending.threadId === place.threadId && pending.checkpointId === place.checkpointId
      ? pending.keys
      : NO_EDITS;
  const { loadedValues, tails, unsearched } = useTreeValues(loaded, { open, chat, fromStart, search });

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
  const beginEdit = useStable(async (name: string, pointer: string) => {
    const key = view.keys.find((each) => each.key === name);
    if (!key || cannotEdit(useOnlyRead.getState())) return;
    const already = useEdits.getState().pending?.keys[name];
    const value = hereValue(key, useValues.getState().entries.get(valueId(place, view, key)));
    // Only a whole value can be changed in one place: otherwise what is not here would be lost.
    if (!already && !value.complete) {
      const whole = await loadValue(place, view, key, "all");
      if (!whole?.complete) return;
    }
    setOpen((old) => new Set(old).add(`/${escapePointer(name)}`));
    setEditing({ key: name, pointer });
  });
  useEffect(() => setEditing(null), [place.threadId, place.checkpointId]);

  const key = history?.name ?? keyOf(focused);
  useEffect(() => useStateKey.setState({ key }), [key]);

  // The same from step to step, so that rows draw again only what differs.
  const edit = useStable((name: string, pointer: string) => void beginEdit(name, pointer));
  const readAsChat = useStable((name: string) => {
    setChat((old) => {
      const next = new Set(old);
      if (!next.delete(name)) next.add(name);
      return next;
    });
    toggle(`/${escapePointer(name)}`, true);
  });
  const askWhy = useStable((pointer: string) => setAsked({ pointer, place }));
  const showHistory = useStable((name: string) => setHistory({ name, place }));
  const readFromStart = useStable((name: string) => setFromStart((old) => new Set(old).add(name)));
  const rowOf = (name: string) => rows.find((row) => row.type === "key" && row.view.key === name);
  const whatIf = useStable((name: string) => {
    const row = rowOf(name);
    if (row?.type !== "key") return;
    const value = row.here ? row.value : undefined;
    askWhatIf({ ...place, key: { name, declared: row.view.declared, value } });
  });
  const textOf = useStable((name: string) => {
    const row = rowOf(name);
    return row?.type === "key" ? textOfValue(row.value) : "";
  });

  const onKeyDown = useTreeKeys({
    rows,
    virtual,
    focused,
    setFocused,
    toggle,
    beginEdit: edit,
  });

  if (asked && asked.place.threadId === place.threadId)
    return <Provenance {...asked} onClose={() => setAsked(null)} />;
  if (history && history.place.threadId === place.threadId)
    return <KeyHistory {...history} onClose={() => setHistory(null)} />;
  const items = virtual.getVirtualItems();
  return (
    <>
      <StateToolbar keys={view.keys} {...{ unsearched, search, setSearch, onlyChanged, setOnlyChanged }} />
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
              if (row.type === "unset") {
                return (
                  <div
                    key={row.id}
                    ref={virtual.measureElement}
                    data-index={item.index}
                    onMouseDown={() => setFocused(row.id)}
                  >
                    <UnsetRow row={row} focused={focused === row.id} onToggle={toggle} />
                  </div>
                );
              }
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
                    focused={focused === row.id}
                    chat={chat.has(key.key)}
                    onToggle={toggle}
                    onEdit={edit}
                    onChat={readAsChat}
                    onWhy={askWhy}
                    onHistory={showHistory}
                    onWhatIf={whatIf}
                    textOf={textOf}
                    onFromStart={readFromStart}
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

const ESTIMATE: Record<StateRow["type"], number> = {
  key: 46,
  node: 24,
  text: 80,
  diff: 60,
  changes: 60,
  more: 32,
  before: 28,
  wait: 28,
  unset: 28,
  chat: 120,
};
