/** Long-term memory: what graphs keep across threads, found by namespace and words, and changed by hand. */
import { BrainCircuit, Plus, RefreshCw, Search, Settings2 } from "lucide-react";
import { useCallback, useEffect, useRef, useState, type KeyboardEvent } from "react";
import { create } from "zustand";
import { Button } from "../../components/Button";
import { ConfirmDialog, Dialog } from "../../components/Dialog";
import { EmptyState } from "../../components/EmptyState";
import { IconButton } from "../../components/IconButton";
import { Select } from "../../components/Select";
import { Spinner } from "../../components/Spinner";
import { Tabs } from "../../components/Tabs";
import { TextField } from "../../components/TextField";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { useRuns } from "../../debugger/model/runStore";
import { useNow } from "../../debugger/parts/useNow";
import type { FoundBy } from "../../ipc/bindings/FoundBy";
import type { ItemView } from "../../ipc/bindings/ItemView";
import { useOffOnlyRead } from "../../debugger/model/only-read";
import { rpc } from "../../ipc/client";
import { when } from "../../lib/intl";
import { memoryIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { registerCommands } from "../../state/commands";
import { useSession } from "../../state/session";
import { showSettings } from "../../state/settings";
import { useAnswer } from "../../debugger/model/useAnswer";
import { ItemForm } from "./ItemForm";
import { readOutdated } from "./reembedding";
import { OutdatedLine } from "./OutdatedLine";
import { idOf, lineOf, placeText } from "./namespaces";
import { hintClass } from "../../components/recipes";
import { cx } from "../../components/cx";

const PAGE = 50;
const FOUND_BY: readonly FoundBy[] = ["vectors", "words"];

const useAsked = create<{ readonly open: boolean }>(() => ({ open: false }));

export function MemoryDialog() {
  const open = useAsked((asked) => asked.open);
  useEffect(
    () =>
      registerCommands([
        {
          id: "memory.open",
          title: t("memory.open"),
          group: t("storage.group"),
          run: () => useAsked.setState({ open: true }),
        },
      ]),
    [],
  );
  return open ? <Memory onClose={() => useAsked.setState({ open: false })} /> : null;
}

/** What is to happen once changes that were not saved may go. */
type Next = (() => void) | null;

function Memory({ onClose }: { onClose(): void }) {
  const [namespace, setNamespace] = useState<readonly string[]>([]);
  const [query, setQuery] = useState("");
  const [limit, setLimit] = useState(PAGE);
  const [selected, setSelected] = useState<ItemView | "new" | null>(null);
  const [changed, setChanged] = useState(false);
  const [leaving, setLeaving] = useState<Next>(null);
  const words = useQuiet(query, 200);
  const vectors = useSession((session) => session.appInfo?.settings.memory?.embedding !== undefined);
  const [by, setBy] = useState<FoundBy>("vectors");
  const looksFor = vectors && words !== "" ? { by } : {};

  const off = useOffOnlyRead();
  const spaces = useAnswer("namespaces", (signal) => rpc("store.namespaces", {}, signal), true);
  const items = useAnswer(
    JSON.stringify([namespace, words, limit, looksFor]),
    (signal) => rpc("store.items", { namespace: [...namespace], query: words, limit, ...looksFor }, signal),
    // A search may ask a model for an embedding: it is not repeated by itself.
    words === "",
  );
  // While another list is read the one before stays: who is in it by keys would be put out of the dialog.
  const listed = useLast(items.value);
  const { again: readSpaces } = spaces;
  const { again: readItems } = items;
  const read = useCallback(() => {
    readSpaces();
    readItems();
  }, [readSpaces, readItems]);
  // A run that begins or ends may have changed what is remembered.
  const latest = useRuns(({ order, threads }) =>
    order[0] === undefined ? "" : `${order[0]} ${threads.get(order[0])?.status}`,
  );
  useEffect(read, [latest, read]);

  const safely = (next: () => void) => {
    if (changed) setLeaving(() => next);
    else next();
  };
  const select = (item: ItemView | "new" | null) => safely(() => setSelected(item));
  const shownId = selected === null || selected === "new" ? selected : idOf(selected);
  const asked = words !== "" || namespace.length > 0;
  const nothing = selected === null && listed?.items.length === 0;

  return (
    <Dialog
      open
      onClose={() => safely(onClose)}
      title={t("memory.title")}
      size="large"
      data-testid={memoryIds.dialog}
    >
      <div className="flex flex-col gap-3 h-[min(620px,calc(100vh-170px))] min-h-0">
        <div className="grid shrink-0 grid-cols-[minmax(140px,220px)_1fr] auto-cols-auto grid-flow-col items-center gap-2">
          <Select
            aria-label={t("memory.namespace")}
            value={namespace}
            same={(a, b) => placeText(a) === placeText(b)}
            options={[
              { value: [], label: t("memory.all") },
              ...(spaces.value?.namespaces ?? []).map((one) => ({ value: one, label: placeText(one) })),
            ]}
            onChange={(one) => {
              setNamespace(one);
              setLimit(PAGE);
            }}
            data-testid={memoryIds.namespace}
          />
          <TextField
            type="search"
            aria-label={t("memory.search")}
            placeholder={t("memory.search")}
            prefix={<Search size={14} aria-hidden />}
            value={query}
            onChange={(text) => {
              setQuery(text);
              setLimit(PAGE);
            }}
            data-testid={memoryIds.search}
          />
          {vectors && (
            <Tabs
              look="segmented"
              label={t("memory.by")}
              value={by}
              onChange={(next) => setBy(next as FoundBy)}
              tabs={FOUND_BY.map((id) => ({ id, label: t(`memory.by.${id}`) }))}
            />
          )}
          <IconButton
            size="small"
            label={t("memory.settings.open")}
            onClick={() =>
              safely(() => {
                onClose();
                showSettings("storage");
              })
            }
          >
            <Settings2 size={14} aria-hidden />
          </IconButton>
          <IconButton
            size="small"
            label={t("memory.refresh")}
            onClick={() => {
              read();
              void readOutdated();
            }}
          >
            <RefreshCw size={14} aria-hidden />
          </IconButton>
          <Button
            icon={<Plus size={14} aria-hidden />}
            disabled={off !== null}
            title={off ?? undefined}
            onClick={() => select("new")}
            data-testid={memoryIds.add}
          >
            {t("memory.new")}
          </Button>
        </div>
        <OutdatedLine onDone={read} />
        {spaces.value?.more && <p className={hintClass}>{t("memory.moreNamespaces")}</p>}
        {items.problem ? (
          <ProblemNote problem={items.problem} onRetry={read} />
        ) : nothing && !asked ? (
          <EmptyState icon={<BrainCircuit size={20} aria-hidden />} title={t("memory.none")}>
            {t("memory.noneText")}
          </EmptyState>
        ) : nothing ? (
          <EmptyState icon={<Search size={20} aria-hidden />} title={t("memory.nothingFound")}>
            {t(looksFor.by === "vectors" ? "memory.nothingLike" : "memory.nothingFoundText")}
          </EmptyState>
        ) : (
          <div className="grid flex-1 grid-cols-[minmax(220px,1fr)_minmax(300px,1.3fr)] gap-3 min-h-0">
            <ItemList
              items={listed?.items ?? null}
              more={listed?.more ?? false}
              selected={shownId}
              onSelect={select}
              onMore={() => setLimit((now) => now + PAGE)}
            />
            <div className="min-h-0 overflow-y-auto">
              {selected === null ? (
                <p className={cx(hintClass, "p-2")}>{t("memory.choose")}</p>
              ) : (
                <ItemForm
                  key={shownId}
                  item={selected === "new" ? null : selected}
                  namespace={namespace}
                  onChanged={setChanged}
                  onSaved={(saved) => {
                    setSelected(saved);
                    read();
                  }}
                  onRemoved={() => {
                    setSelected(null);
                    read();
                  }}
                  onPutBack={read}
                  onOpened={() => safely(onClose)}
                />
              )}
            </div>
          </div>
        )}
      </div>
      <ConfirmDialog
        open={leaving !== null}
        title={t("memory.leave")}
        text={t("memory.leaveText", {
          key: selected === "new" || selected === null ? t("memory.new") : selected.key,
        })}
        confirm={t("memory.leaveYes")}
        onCancel={() => setLeaving(null)}
        onConfirm={() => {
          setChanged(false);
          setLeaving(null);
          leaving?.();
        }}
      />
    </Dialog>
  );
}

interface ListProps {
  items: readonly ItemView[] | null;
  more: boolean;
  selected: string | null;
  onSelect(item: ItemView): void;
  onMore(): void;
}

function ItemList({ items, more, selected, onSelect, onMore }: ListProps) {
  const now = useNow(15_000);
  if (items === null) return <Spinner label={t("storage.loading")} />;
  if (items.length === 0) return <p className={hintClass}>{t("memory.nothingFound")}</p>;
  const onKeyDown = (event: KeyboardEvent<HTMLUListElement>) => {
    const at = items.findIndex((item) => idOf(item) === selected);
    const to = { ArrowDown: at + 1, ArrowUp: Math.max(0, at - 1), Home: 0, End: items.length - 1 }[event.key];
    const next = to === undefined ? undefined : items[to];
    if (!next) return;
    event.preventDefault();
    event.currentTarget.children[items.indexOf(next)]?.scrollIntoView({ block: "nearest" });
    onSelect(next);
  };
  const chosen = items.findIndex((item) => idOf(item) === selected);
  return (
    <div className="min-h-0 overflow-y-auto [&>p]:p-2 [&_li]:grid [&_li]:grid-cols-[minmax(0,1fr)_auto] [&_li]:gap-y-px [&_li]:gap-x-2 [&_li]:py-1.5 [&_li]:px-2 [&_li]:rounded-md [&_li]:text-sm/inherit [&_li:hover]:bg-surface-3 [&_li[aria-selected=true]]:bg-accent-soft">
      <ul
        role="listbox"
        tabIndex={0}
        aria-label={t("memory.list")}
        aria-activedescendant={chosen < 0 ? undefined : `memory-${chosen}`}
        onKeyDown={onKeyDown}
      >
        {items.map((item, index) => (
          <li
            key={idOf(item)}
            id={`memory-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => onSelect(item)}
            data-testid={memoryIds.item}
          >
            <span className="truncate font-medium">{item.key}</span>
            <span className="text-2xs/inherit text-text-3 tabular-nums">{when(item.updatedAt, now)}</span>
            <span className="col-span-full truncate text-2xs/inherit text-text-3">
              {placeText(item.namespace)}
            </span>
            <code className="col-span-full truncate text-2xs/inherit text-text-2">{lineOf(item.value)}</code>
          </li>
        ))}
      </ul>
      {more && (
        <Button size="small" variant="ghost" onClick={onMore}>
          {t("memory.more")}
        </Button>
      )}
    </div>
  );
}

/** A value once it has not changed for a moment. */
function useQuiet<T>(value: T, millis: number): T {
  const [quiet, setQuiet] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setQuiet(value), millis);
    return () => clearTimeout(timer);
  }, [value, millis]);
  return quiet;
}

/** The last value that there was. */
function useLast<T>(value: T | null): T | null {
  const last = useRef(value);
  if (value !== null) last.current = value;
  return last.current;
}
