/** A side of the window with tabs. Which tab is shown is kept for each use of the window. */
import { Maximize2, Minimize2, PanelBottomClose, PanelLeftClose, PanelRightClose } from "lucide-react";
import type { ReactNode } from "react";
import { cx } from "../components/cx";
import { IconButton } from "../components/IconButton";
import { Tabs, type TabItem } from "../components/Tabs";
import { shellIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { shortcutOf } from "../state/keymap";
import { partOf, useSession, type Side } from "../state/session";
import { PanelBoundary } from "./PanelBoundary";
import { Splitter } from "./Splitter";

export interface PanelTab {
  readonly id: string;
  readonly label: string;
  readonly badge?: ReactNode;
  readonly content: ReactNode;
}

/** Without a size of its own a panel takes what the window has room for. */
const SIZES = {
  left: "w-[min(var(--left,260px),50vw)] max-[1201px]:w-[min(var(--left,224px),50vw)] min-[1921px]:w-[min(var(--left,320px),50vw)]",
  right:
    "w-[min(var(--right,360px),50vw)] max-[1201px]:w-[min(var(--right,320px),50vw)] min-[1921px]:w-[min(var(--right,560px),50vw)]",
  bottom:
    "h-[min(var(--bottom,240px),60vh)] [@media(max-height:760px)]:h-[min(var(--bottom,208px),60vh)] [@media(min-height:1201px)]:h-[min(var(--bottom,360px),60vh)]",
};
const FOLD_ICONS = { left: PanelLeftClose, right: PanelRightClose, bottom: PanelBottomClose };

/** The part of a side that a row of tabs belongs to: all of it, or one of two. */
type Part = Side | "bottom.bottom" | "bottom.beside";

/** The tab of a part that is to be shown: the one chosen, as long as it exists. */
function useTab(part: Part, tabs: readonly PanelTab[]): string {
  const chosen = useSession((state) => state.tabs[`${state.use}.${part}`]);
  return tabs.find((tab) => tab.id === chosen)?.id ?? tabs[0]?.id ?? "";
}

/** Buttons that fold the panel, or make it larger. */
function PanelButtons({ side }: { side: Side }) {
  const setPanel = useSession((state) => state.setPanel);
  const canEnlarge = useCanEnlarge(side);
  const isLarge = useSession((state) => state.panels.bottom.large === true) && canEnlarge;
  const Icon = FOLD_ICONS[side];
  const Size = isLarge ? Minimize2 : Maximize2;
  return (
    <>
      {canEnlarge && (
        <IconButton
          size="small"
          label={t(isLarge ? "shell.panel.shrink" : "shell.panel.enlarge")}
          shortcut={shortcutOf("panel.bottomLarge")}
          pressed={isLarge}
          onClick={() => setPanel(side, { large: !isLarge })}
          data-testid={shellIds.enlargePanel}
        >
          <Size size={14} aria-hidden />
        </IconButton>
      )}
      <IconButton
        size="small"
        label={t("shell.panel.fold")}
        shortcut={shortcutOf(`panel.${side}`)}
        onClick={() => setPanel(side, { folded: true })}
        data-testid={shellIds.foldPanel(side)}
      >
        <Icon size={15} aria-hidden />
      </IconButton>
    </>
  );
}

/** While a graph is designed the canvas is what there is to see. */
const useCanEnlarge = (side: Side) => useSession((state) => side === "bottom" && state.use === "debug");

export function Panel({ side, tabs }: { side: Side; tabs: readonly PanelTab[] }) {
  const canEnlarge = useCanEnlarge(side);
  const isLarge = useSession((state) => state.panels.bottom.large === true) && canEnlarge;
  const inParts = useSession((state) => state.room === "large") && canEnlarge;
  const buttons = <PanelButtons side={side} />;
  return (
    <section
      className={cx(
        "flex min-h-0 min-w-0 flex-none overflow-hidden bg-surface-1",
        // The canvas stays what and where it is below.
        isLarge ? "absolute inset-0 z-25" : cx("relative", SIZES[side]),
      )}
      aria-label={t(`shell.panel.${side}`)}
      data-testid={shellIds.panel(side)}
    >
      {inParts ? (
        <>
          <PanelPart part="bottom.bottom" tabs={tabs.filter(({ id }) => partOf(id) === "bottom")} />
          <Splitter side="beside" />
          <PanelPart
            part="bottom.beside"
            tabs={tabs.filter(({ id }) => partOf(id) === "beside")}
            buttons={buttons}
          />
        </>
      ) : (
        <PanelPart part={side} tabs={tabs} buttons={buttons} />
      )}
    </section>
  );
}

interface PartProps {
  readonly part: Part;
  readonly tabs: readonly PanelTab[];
  readonly buttons?: ReactNode;
}

/** Tabs with the content of the shown one. */
function PanelPart({ part, tabs, buttons }: PartProps) {
  const showTab = useSession((state) => state.showTab);
  const value = useTab(part, tabs);
  const shown = tabs.find((tab) => tab.id === value);
  const [side, beside] = part === "bottom.beside" ? (["bottom", true] as const) : [sideOf(part), false];
  const items: TabItem[] = tabs.map(({ id, label, badge }) => ({ id, label, badge }));
  return (
    <div
      className={cx(
        "flex min-h-0 min-w-0 flex-col",
        beside ? "w-[min(var(--beside,50%),70%)] flex-none" : "flex-1",
      )}
    >
      {tabs.length > 1 ? (
        <Tabs
          value={value}
          onChange={(next) => showTab(side, next)}
          tabs={items}
          label={t(beside ? "shell.panel.beside" : `shell.panel.${side}`)}
          aside={buttons}
          className="flex-none"
        />
      ) : (
        <header className="flex-none flex items-center justify-between h-9 pr-2 pl-3 border-b border-line">
          <h2 className="text-xs font-semibold">{shown?.label}</h2>
          <span className="flex">{buttons}</span>
        </header>
      )}
      <div className="flex-1 min-h-0 overflow-auto flex flex-col" key={value}>
        <PanelBoundary name={`${part}.${value}`}>{shown?.content}</PanelBoundary>
      </div>
    </div>
  );
}

const sideOf = (part: Part): Side => (part === "left" || part === "right" ? part : "bottom");
