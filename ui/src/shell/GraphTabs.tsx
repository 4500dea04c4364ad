/** The graphs that are open in this window, as tabs: one click shows one, they close, change places, and overflow into a menu. */
import { ChevronDown, Home, Plus, X } from "lucide-react";
import { useEffect, useRef, useState, type DragEvent, type KeyboardEvent } from "react";
import { IconButton } from "../components/IconButton";
import { Menu } from "../components/Menu";
import { dirtyDotClass, iconButton } from "../components/recipes";
import { Tooltip } from "../components/Tooltip";
import { RunningMark } from "../debugger/run/RunningMark";
import { StoppedMark } from "../debugger/run/StoppedMark";
import { useDocumentState, useGraphMeta } from "../document/store";
import { shellIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { runCommand } from "../state/commands";
import { shortcutOf } from "../state/keymap";
import { useSession } from "../state/session";
import { moveTab, useTabs, type GraphTab } from "../state/tabs";
import { closeTab, showTab } from "./graph-tabs";

/** One graph needs no tabs; on the start screen they lead back. */
function useShown(): boolean {
  const count = useTabs((state) => state.tabs.length);
  const graphId = useSession((state) => state.graphId);
  return count > 1 || (count === 1 && graphId === null);
}

export function GraphTabs() {
  return useShown() ? <TabRow /> : null;
}

function TabRow() {
  const tabs = useTabs((state) => state.tabs);
  const graphId = useSession((state) => state.graphId);
  const meta = useGraphMeta();
  const row = useRef<HTMLDivElement>(null);
  const hidden = useOverflow(row, tabs);
  const [dragged, setDragged] = useState<string | null>(null);
  const labelled = tabs.map((tab) =>
    tab.graphId === meta.graphId ? { ...tab, name: meta.name, dirty: meta.dirty, path: meta.path } : tab,
  );
  useEffect(() => {
    row.current
      ?.querySelector("[aria-selected=true]")
      ?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [graphId, tabs.length]);

  const onKeyDown = (event: KeyboardEvent) => {
    const at = tabs.findIndex((tab) => tab.graphId === (event.target as HTMLElement).dataset["graph"]);
    const tab = tabs[at];
    // With Alt the arrows lead back and forth between nested graphs.
    if (!tab || event.altKey) return;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by !== undefined) {
      if (event.ctrlKey) moveTab(tab.graphId, at + by);
      else row.current?.querySelectorAll<HTMLElement>("[role=tab]")[at + by]?.focus();
    } else if (event.key === "Delete") void closeTab(tab.graphId);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onDragOver = (event: DragEvent, over: number) => {
    if (dragged === null) return;
    event.preventDefault();
    const from = tabs.findIndex((tab) => tab.graphId === dragged);
    const box = event.currentTarget.getBoundingClientRect();
    const half = event.clientX < box.left + box.width / 2;
    // It changes places when the pointer is past the middle of the other one.
    if ((over < from && half) || (over > from && !half)) moveTab(dragged, over);
  };
  return (
    <nav
      className="flex h-8 flex-none items-stretch border-b border-line bg-surface-0 pr-1"
      aria-label={t("tabs.label")}
      data-testid={shellIds.tabs}
    >
      <div
        className="flex min-w-0 items-stretch overflow-x-auto [scrollbar-width:none]"
        role="tablist"
        aria-label={t("tabs.label")}
        ref={row}
        onKeyDown={onKeyDown}
        onWheel={(event) => {
          if (row.current && event.deltaY !== 0) row.current.scrollLeft += event.deltaY;
        }}
      >
        {labelled.map((tab, index) => (
          <OneTab
            key={tab.graphId}
            tab={tab}
            selected={tab.graphId === graphId}
            dragged={tab.graphId === dragged}
            onDrag={setDragged}
            onDragOver={(event) => onDragOver(event, index)}
          />
        ))}
      </div>
      <div className="flex flex-none items-center gap-0.5 pl-1">
        {hidden && <Overflow tabs={labelled} shown={graphId} />}
        {graphId !== null && (
          <IconButton
            size="small"
            label={t("shell.menu.new")}
            shortcut={shortcutOf("graph.new")}
            onClick={() => runCommand("graph.new")}
            data-testid={shellIds.tabAdd}
          >
            <Plus size={14} aria-hidden />
          </IconButton>
        )}
      </div>
      {graphId === null && (
        <span className="inline-flex items-center gap-1 px-2 text-xs text-text-3">
          <Home size={13} aria-hidden />
          {t("tabs.start")}
        </span>
      )}
    </nav>
  );
}

function Overflow({ tabs, shown }: { tabs: readonly GraphTab[]; shown: string | null }) {
  return (
    <Menu
      trigger={
        <IconButton size="small" label={t("tabs.all")} data-testid={shellIds.tabsAll}>
          <ChevronDown size={14} aria-hidden />
        </IconButton>
      }
      entries={tabs.map(({ graphId, name, dirty }) => ({
        id: graphId,
        label: `${dirty ? "• " : ""}${name || t("shell.unnamed")}`,
        checked: graphId === shown,
        run: () => void showTab(graphId),
      }))}
    />
  );
}

interface OneTabProps {
  readonly tab: GraphTab;
  readonly selected: boolean;
  readonly dragged: boolean;
  onDrag(graphId: string | null): void;
  onDragOver(event: DragEvent): void;
}

function OneTab({ tab, selected, dragged, onDrag, onDragOver }: OneTabProps) {
  const { graphId, name, path, dirty } = tab;
  const shownMoved = useDocumentState((state) => state.moved);
  const moved = selected ? shownMoved : (tab.moved?.length ?? 0) > 0;
  const title = name || t("shell.unnamed");
  return (
    <div
      role="presentation"
      className="group relative flex max-w-55 min-w-28 flex-[0_1_auto] items-center border-r border-line text-xs text-text-2 data-selected:bg-surface-2 data-selected:text-text data-dragged:opacity-50 not-data-selected:hover:bg-surface-3"
      data-selected={selected || undefined}
      data-dragged={dragged || undefined}
      draggable
      onDragStart={(event) => {
        event.dataTransfer.effectAllowed = "move";
        event.dataTransfer.setData("text/plain", title);
        onDrag(graphId);
      }}
      onDragEnd={() => onDrag(null)}
      onDragOver={onDragOver}
      onDrop={(event) => event.preventDefault()}
      onMouseDown={(event) => {
        // The middle button would scroll.
        if (event.button === 1) event.preventDefault();
      }}
      onAuxClick={(event) => {
        if (event.button === 1) void closeTab(graphId);
      }}
    >
      <Tooltip label={path ?? t("shell.draft")}>
        <button
          type="button"
          role="tab"
          aria-selected={selected}
          tabIndex={selected ? 0 : -1}
          data-graph={graphId}
          className="flex h-full min-w-0 flex-1 items-center gap-1.5 pr-7 pl-3 focus-visible:-outline-offset-2"
          onClick={() => void showTab(graphId)}
          data-testid={shellIds.tab(title)}
        >
          <span className="truncate">{title}</span>
          <RunningMark path={path} />
          <StoppedMark path={path} />
          {dirty && (
            <span
              className={dirtyDotClass}
              data-moved={moved || undefined}
              role="img"
              aria-label={t(moved ? "shell.state.moved" : "shell.state.dirty")}
            />
          )}
        </button>
      </Tooltip>
      <button
        type="button"
        tabIndex={-1}
        className={`${iconButton("small")} absolute right-1 opacity-0 group-hover:opacity-100 group-data-selected:opacity-100 focus-visible:opacity-100`}
        // A list of tabs holds tabs only; by keys Delete closes one.
        aria-hidden
        title={`${t("tabs.closeShort")} (${shortcutOf("graph.closeTab").replace("Mod", "Ctrl")})`}
        onClick={() => void closeTab(graphId)}
        data-testid={shellIds.tabClose(title)}
      >
        <X size={13} aria-hidden />
      </button>
    </div>
  );
}

/** Do the tabs need more room than there is? */
function useOverflow(row: React.RefObject<HTMLDivElement | null>, tabs: readonly GraphTab[]): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const element = row.current;
    if (element === null || typeof ResizeObserver === "undefined") return;
    const measure = () => setOver(element.scrollWidth > element.clientWidth + 1);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [row, tabs]);
  return over;
}
