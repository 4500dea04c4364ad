/** The top of the window: which graph, whether it is saved, what the window is used for, the run, the palette. */
import { Command as CommandIcon, Home, Inbox, Menu as MenuIcon, Redo2, Undo2 } from "lucide-react";
import { useRef, useState } from "react";
import { IconButton } from "../components/IconButton";
import { Menu, type MenuEntry } from "../components/Menu";
import { Tooltip } from "../components/Tooltip";
import { useInbox } from "../debugger/inbox";
import { setField } from "../document/edits";
import { edit, useGraphMeta, useHistory } from "../document/store";
import { RunControls } from "../features/run";
import { shellIds } from "../lib/testIds";
import { t, tn } from "../lib/texts";
import { runCommand } from "../state/commands";
import { KEYMAP } from "../state/keymap";
import { useSession, type Use } from "../state/session";
import { PanelBoundary } from "./PanelBoundary";

const key = (id: string) => KEYMAP[id]?.keys[0] ?? "";

export function TitleBar() {
  const graphId = useSession((state) => state.graphId);
  const use = useSession((state) => state.use);
  return (
    <header className="title-bar" data-testid={shellIds.titleBar}>
      <div className="title-left">
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
        {graphId === null ? <span className="title-app">{t("shell.app")}</span> : <GraphName />}
      </div>
      <UseSwitch />
      <div className="title-right">
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

function AppMenu() {
  const graphId = useSession((state) => state.graphId);
  const none = graphId === null;
  const item = (id: string, label: string, disabled = false): MenuEntry => ({
    id,
    label,
    shortcut: KEYMAP[id]?.keys[0],
    disabled,
    run: () => runCommand(id),
  });
  const entries: MenuEntry[] = [
    item("graph.new", t("shell.menu.new")),
    item("graph.open", t("shell.menu.open")),
    { id: "s1", separator: true },
    item("graph.save", t("shell.menu.save"), none),
    item("graph.saveAs", t("shell.menu.saveAs"), none),
    item("graph.versions", t("shell.menu.versions"), none),
    item("graph.export", t("shell.menu.export"), none),
    item("graph.types", t("forms.types.menu"), none),
    { id: "s2", separator: true },
    item("view.layout", t("shell.menu.layout"), none),
    item("view.fit", t("shell.menu.fit"), none),
    { id: "s3", separator: true },
    item("trust.open", t("trust.open"), none),
    item("memory.open", t("memory.menu")),
    item("storage.open", t("storage.settings.open")),
    item("settings.open", t("shell.menu.settings")),
  ];
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

function GraphName() {
  const { name, path, dirty, saving } = useGraphMeta();
  const [editing, setEditing] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const commit = (value: string) => {
    setEditing(false);
    const next = value.trim();
    if (next !== "" && next !== name)
      edit(t("shell.edit.renameGraph"), (doc) => setField(doc, "doc", "/name", next));
  };
  const state = saving ? t("shell.state.sending") : dirty ? t("shell.state.dirty") : t("shell.state.saved");
  return (
    <div className="title-graph">
      {editing ? (
        <input
          ref={input}
          className="title-name-input"
          defaultValue={name}
          aria-label={t("shell.graphName")}
          autoFocus
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
          <Tooltip label={path ?? t("shell.draft")}>
            <button
              type="button"
              className="title-name"
              onClick={() => setEditing(true)}
              data-testid={shellIds.graphName}
            >
              {name || t("shell.unnamed")}
            </button>
          </Tooltip>
        </h1>
      )}
      <span
        className="title-state"
        data-dirty={dirty || undefined}
        data-testid={shellIds.saveState}
        role="status"
      >
        {dirty && <span className="dirty-dot" aria-hidden />}
        <span className="title-state-text">{path === null && !dirty ? t("shell.draft") : state}</span>
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
  return (
    <div className="use-switch" role="radiogroup" aria-label={t("shell.use")}>
      {USES.map((each) => (
        <Tooltip key={each} label={t(`shell.use.${each}.hint`)} shortcut={key(`use.${each}`)}>
          <button
            type="button"
            role="radio"
            aria-checked={use === each}
            disabled={each === "debug" && graphId === null}
            className="use-option"
            onClick={() => setUse(each)}
            data-testid={shellIds.use(each)}
          >
            {each === "approve" && <Inbox size={14} aria-hidden />}
            {t(`shell.use.${each}`)}
            {each === "approve" && waiting > 0 && (
              <span
                className="use-count tabular"
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
