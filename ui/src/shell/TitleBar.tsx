/** The top of the window: which graph, whether it is saved, what the window is used for, the run, the palette. */
import {
  ChevronRight,
  Command as CommandIcon,
  Home,
  Inbox,
  Menu as MenuIcon,
  Redo2,
  Undo2,
} from "lucide-react";
import { useRef, useState } from "react";
import { IconButton } from "../components/IconButton";
import { Menu, type MenuEntry } from "../components/Menu";
import { Tooltip } from "../components/Tooltip";
import { useInbox } from "../debugger/model/inbox";
import { setField } from "../document/edits";
import { leaveNestedGraph, useGraphTrail } from "../document/nested-graphs";
import { dirtyDotClass } from "../components/recipes";
import { edit } from "../document/edit";
import { useDocumentState, useGraphMeta, useHistory } from "../document/store";
import { RunControls } from "../features/run";
import { shellIds } from "../lib/testIds";
import { t, tn, type TextKey } from "../lib/texts";
import { runCommand } from "../state/commands";
import { shortcutOf } from "../state/keymap";
import { useSession, type Use } from "../state/session";
import { EditHistory } from "./EditHistory";
import { GridBadge } from "./GridBadge";
import { PanelBoundary } from "./PanelBoundary";

const key = (id: string) => shortcutOf(id);

export function TitleBar() {
  const graphId = useSession((state) => state.graphId);
  const use = useSession((state) => state.use);
  return (
    <header
      // The switch stays where it is, whatever the run has to say at the right: its words become shorter.
      className="flex-none grid grid-cols-[minmax(0,min(25vw,380px))_auto_minmax(0,1fr)] items-center gap-3 h-11 px-2 border-b border-line max-[1241px]:grid-cols-[minmax(0,clamp(140px,27vw,300px))_auto_minmax(0,1fr)] max-[761px]:flex max-[761px]:flex-wrap max-[761px]:h-auto max-[761px]:min-h-11 max-[761px]:py-1 max-[761px]:gap-y-1"
      data-testid={shellIds.titleBar}
    >
      <div className="flex items-center gap-1 min-w-0 max-[761px]:flex-[1_1_140px]">
        <AppMenu />
        {graphId !== null && (
          <IconButton
            label={t("shell.home")}
            shortcut={key("graph.home")}
            onClick={() => runCommand("graph.home")}
            data-testid={shellIds.home}
          >
            <Home size={16} aria-hidden />
          </IconButton>
        )}
        {graphId === null ? <span className="pl-1.5 font-semibold">{t("shell.app")}</span> : <GraphName />}
      </div>
      <UseSwitch />
      <div className="flex items-center gap-1 min-w-0 justify-end max-[761px]:ml-auto max-[761px]:flex-wrap">
        <PanelBoundary name="GridBadge">
          <GridBadge />
        </PanelBoundary>
        {graphId !== null && use === "design" && <UndoButtons />}
        {graphId !== null && use !== "approve" && (
          <PanelBoundary name="RunControls">
            <RunControls />
          </PanelBoundary>
        )}
        <IconButton
          label={t("shell.palette")}
          shortcut={key("palette.open")}
          onClick={() => runCommand("palette.open")}
          data-testid={shellIds.paletteButton}
        >
          <CommandIcon size={16} aria-hidden />
        </IconButton>
      </div>
    </header>
  );
}

interface MenuCommand {
  readonly id: string;
  readonly label: TextKey;
  /** Means nothing without an open graph. */
  readonly graph?: true;
}

/** Commands of the main menu, in groups. */
export const MENU: readonly (readonly MenuCommand[])[] = [
  [
    { id: "graph.new", label: "shell.menu.new" },
    { id: "graph.open", label: "shell.menu.open" },
    { id: "graph.openAddress", label: "seen.address" },
    { id: "graph.openPicture", label: "shell.menu.openPicture" },
  ],
  [
    { id: "graph.save", label: "shell.menu.save", graph: true },
    { id: "graph.saveAs", label: "shell.menu.saveAs", graph: true },
    { id: "graph.versions", label: "shell.menu.versions", graph: true },
    { id: "graph.import", label: "import.command", graph: true },
    { id: "graph.export", label: "shell.menu.export", graph: true },
    { id: "graph.code", label: "code.open", graph: true },
    { id: "graph.types", label: "forms.types.menu", graph: true },
    { id: "graph.closeTab", label: "tabs.closeCommand", graph: true },
  ],
  [
    { id: "find.open", label: "find.open", graph: true },
    { id: "find.replace", label: "find.replaceCommand", graph: true },
    { id: "view.layout", label: "shell.menu.layout", graph: true },
    { id: "view.layoutAll", label: "canvas.command.layoutAll", graph: true },
    { id: "view.layoutDown", label: "shell.menu.layoutDown", graph: true },
    { id: "view.fit", label: "shell.menu.fit", graph: true },
  ],
  [
    { id: "trust.open", label: "trust.open", graph: true },
    { id: "memory.open", label: "memory.menu" },
    { id: "storage.open", label: "storage.settings.open" },
    { id: "settings.open", label: "shell.menu.settings" },
  ],
];

function AppMenu() {
  const none = useSession((state) => state.graphId) === null;
  const entries = MENU.flatMap((group, index): MenuEntry[] => [
    ...(index === 0 ? [] : [{ id: `after-${index}`, separator: true } as const]),
    ...group.map(({ id, label, graph }) => ({
      id,
      label: t(label),
      shortcut: shortcutOf(id),
      disabled: none && graph === true,
      run: () => void runCommand(id),
    })),
  ]);
  return (
    <Menu
      trigger={
        <IconButton label={t("shell.menu")} data-testid={shellIds.menu}>
          <MenuIcon size={16} aria-hidden />
        </IconButton>
      }
      entries={entries}
    />
  );
}

/** The graphs around the open one, where it was opened from a node of theirs. */
function GraphTrail() {
  const left = useGraphTrail((trail) => trail.left);
  if (left.length === 0) return null;
  return (
    <nav aria-label={t("shell.trail")} className="min-w-0 shrink" data-testid={shellIds.graphTrail}>
      <ol className="flex items-center min-w-0 text-sm/inherit">
        {left.map(({ graphId, name, node }, depth) => (
          <li key={graphId} className="flex items-center min-w-0">
            <Tooltip label={t("shell.trail.node", { node })}>
              <button
                type="button"
                className="h-7 min-w-0 max-w-40 px-1.5 rounded-md truncate text-text-2 hover:bg-surface-3 hover:text-text"
                onClick={() => void leaveNestedGraph(depth)}
              >
                {name || t("shell.unnamed")}
              </button>
            </Tooltip>
            <ChevronRight size={13} className="flex-none text-text-3" aria-hidden />
          </li>
        ))}
      </ol>
    </nav>
  );
}

function GraphName() {
  const seen = useDocumentState((document) => document.seen);
  const { name, path, dirty, saving } = useGraphMeta();
  const [editing, setEditing] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const commit = (value: string) => {
    setEditing(false);
    const next = value.trim();
    if (next !== "" && next !== name)
      edit(t("shell.edit.renameGraph"), (doc) => setField(doc, "doc", "/name", next));
  };
  const moved = useDocumentState((state) => state.moved);
  const state = saving
    ? t("shell.state.sending")
    : moved
      ? t("shell.state.moved")
      : dirty
        ? t("shell.state.dirty")
        : t("shell.state.saved");
  return (
    <div className="flex items-center gap-2 min-w-0">
      <GraphTrail />
      {editing ? (
        <input
          ref={input}
          className="h-7 min-w-0 px-1.5 rounded-md text-sm/inherit font-semibold bg-surface-2 border border-line-field w-55 truncate"
          defaultValue={name}
          aria-label={t("shell.graphName")}
          autoFocus
          spellCheck
          onFocus={(event) => event.currentTarget.select()}
          onBlur={(event) => commit(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") event.currentTarget.blur();
            if (event.key === "Escape") setEditing(false);
          }}
          data-testid={shellIds.graphNameInput}
        />
      ) : (
        <h1 className="contents">
          <Tooltip label={seen?.database ?? path ?? t("shell.draft")}>
            <button
              type="button"
              className="h-7 min-w-0 px-1.5 rounded-md text-sm/inherit font-semibold truncate hover:bg-surface-3"
              onClick={() => setEditing(true)}
              data-testid={shellIds.graphName}
            >
              {name || t("shell.unnamed")}
            </button>
          </Tooltip>
        </h1>
      )}
      <span
        className="inline-flex items-center gap-1.25 flex-none text-text-3 text-xs/inherit"
        data-dirty={dirty || undefined}
        data-moved={moved || undefined}
        title={moved ? t("shell.state.movedHelp") : undefined}
        data-testid={shellIds.saveState}
        role="status"
      >
        {dirty && <span className={dirtyDotClass} data-moved={moved || undefined} aria-hidden />}
        <span className="max-[1181px]:hidden">
          {seen !== null ? t("seen.state") : path === null && !dirty ? t("shell.draft") : state}
        </span>
      </span>
    </div>
  );
}

function UndoButtons() {
  const { undoName, redoName } = useHistory();
  return (
    <>
      <IconButton
        label={undoName ? t("shell.undo.named", { name: undoName }) : t("shell.undo")}
        shortcut={key("edit.undo")}
        disabled={undoName === null}
        onClick={() => runCommand("edit.undo")}
        data-testid={shellIds.undo}
      >
        <Undo2 size={16} aria-hidden />
      </IconButton>
      <EditHistory />
      <IconButton
        label={redoName ? t("shell.redo.named", { name: redoName }) : t("shell.redo")}
        shortcut={key("edit.redo")}
        disabled={redoName === null}
        onClick={() => runCommand("edit.redo")}
        data-testid={shellIds.redo}
      >
        <Redo2 size={16} aria-hidden />
      </IconButton>
    </>
  );
}

const USES: readonly Use[] = ["design", "debug", "approve"];

function UseSwitch() {
  const use = useSession((state) => state.use);
  const setUse = useSession((state) => state.setUse);
  const waiting = useInbox((inbox) => inbox.waiting);
  const graphId = useSession((state) => state.graphId);
  const seen = useDocumentState((state) => state.seen !== null);
  const hint = (each: Use) => t(each === "design" && seen ? "seen.noDesign" : `shell.use.${each}.hint`);
  return (
    <div
      className="inline-flex gap-0.5 p-0.5 rounded-lg bg-surface-4"
      role="radiogroup"
      aria-label={t("shell.use")}
    >
      {USES.map((each) => (
        <Tooltip key={each} label={hint(each)} shortcut={key(`use.${each}`)}>
          <button
            type="button"
            role="radio"
            aria-checked={use === each}
            disabled={
              (each === "debug" && graphId === null) || (each === "design" && seen && graphId !== null)
            }
            className="relative inline-flex items-center gap-1.5 h-6 px-3 rounded-md text-xs/inherit font-medium text-text-2 transition-[background-color] hover:not-aria-checked:not-disabled:text-text hover:not-aria-checked:not-disabled:bg-surface-3 aria-checked:bg-chosen aria-checked:text-text aria-checked:[box-shadow:0_1px_2px_oklch(0_0_0/0.14)] disabled:opacity-45"
            onClick={() => setUse(each)}
            data-testid={shellIds.use(each)}
          >
            {each === "approve" && <Inbox size={14} aria-hidden />}
            {t(`shell.use.${each}`)}
            {each === "approve" && waiting > 0 && (
              <span
                // Over the corner, so that the switch is as wide with it as without.
                className="absolute -top-1.5 -right-1 z-1 min-w-4 px-1 rounded-lg bg-asking-soft text-asking text-2xs font-semibold text-center tabular-nums"
                aria-label={tn("shell.inbox.one", "shell.inbox.many", waiting)}
                data-testid={shellIds.inboxCount}
              >
                {waiting > 99 ? "99+" : waiting}
              </span>
            )}
          </button>
        </Tooltip>
      ))}
    </div>
  );
}
