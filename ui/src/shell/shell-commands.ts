/** Commands of the window's frame. The canvas registers its own. */
import { useOnlyRead } from "../debugger/model/only-read";
import { useRuns } from "../debugger/model/runStore";
import { leaveNestedGraph, useGraphTrail } from "../document/nested-graphs";
import { redo, undo } from "../document/undo";
import { useDocumentState } from "../document/store";
import { useGit } from "../features/git";
import { focusWhenShown, partOf } from "../lib/parts";
import { formsIds } from "../lib/testIds";
import { t, type TextKey } from "../lib/texts";
import { registerCommands, type Command } from "../state/commands";
import { askAddress, askCopy, askKey, askLaid } from "../state/seen-dialogs";
import { isFolded, useSession, type Side, type Use } from "../state/session";
import { useTabs } from "../state/tabs";
import { newGraph, openWithDialog, save, saveAs } from "./files";
import { chooseImport, choosePicture } from "./incoming";
import {
  attachedHere,
  backToOwn,
  debugProgram,
  laidOn,
  layOff,
  layOn,
  makeOwn,
  openSeen,
  reloadProgram,
} from "../debugger/run/seen";
import { closeTab, showStart, walkTabs } from "./graph-tabs";

const session = () => useSession.getState();
const inRepository = () => useGit.getState().view !== null;
const hasTabs = () => useTabs.getState().tabs.length > 0;
const isSeen = () => useDocumentState.getState().seen !== null;
const hasGraph = () => useDocumentState.getState().graphId !== null;

/** Puts the focus where a panel of the left is worked in: the row that the outline was left at, the button that adds a key. */
function focusPanel(id: string): void {
  if (id === "keys") focusWhenShown(() => partOf(formsIds.addKey));
  if (id !== "outline") return;
  focusWhenShown(() => {
    const outline = partOf(formsIds.outline);
    const rows = outline?.querySelector("[role=tree]");
    return outline?.querySelector<HTMLElement>(rows ? '[role=treeitem][tabindex="0"]' : "button");
  });
}

/** The list of graphs, from the desk of questions as well. */
function goHome(): void {
  session().setUse("design");
  void showStart();
}

export function registerShellCommands(): () => void {
  const file = t("shell.group.file");
  const view = t("shell.group.view");
  const panel = (side: Side): Command => ({
    id: `panel.${side}`,
    title: t(`shell.toggle.${side}`),
    group: view,
    run: () => session().setPanel(side, { folded: !isFolded(session(), side) }),
  });
  const goTo = (each: Use): Command => ({
    id: `use.${each}`,
    title: t(`shell.go.${each}`),
    group: view,
    enabled: () => each !== "debug" || hasGraph(),
    run: () => session().setUse(each),
  });
  const tab = (id: string, side: Side, title: TextKey, where: Use): Command => ({
    id: `tab.${id}`,
    title: t(title),
    group: t("shell.group.panel"),
    enabled: hasGraph,
    run: () => {
      session().setUse(where);
      session().showTab(side, id, where);
      focusPanel(id);
    },
  });
  return registerCommands([
    tab("outline", "left", "shell.tab.outline", "design"),
    tab("keys", "left", "shell.stateKeys", "design"),
    tab("threads", "left", "shell.tab.threads", "debug"),
    tab("state", "right", "shell.tab.state", "debug"),
    tab("timeline", "bottom", "shell.tab.timeline", "debug"),
    tab("forks", "bottom", "shell.tab.forks", "debug"),
    tab("trace", "bottom", "shell.tab.trace", "debug"),
    tab("what-if", "bottom", "shell.tab.whatIf", "debug"),
    tab("stream", "bottom", "shell.tab.stream", "debug"),
    tab("messages", "bottom", "shell.tab.messages", "debug"),
    tab("problems", "bottom", "shell.tab.problems", "design"),
    { ...tab("changes", "bottom", "git.panel", "design"), enabled: inRepository },
    {
      id: "git.mark",
      title: t("git.markCommand"),
      group: view,
      enabled: inRepository,
      run: () => useGit.setState(({ marked }) => ({ marked: !marked })),
    },
    { id: "graph.new", title: t("shell.menu.new"), group: file, run: () => void newGraph() },
    { id: "graph.open", title: t("shell.menu.open"), group: file, run: () => void openWithDialog() },
    {
      id: "graph.openPicture",
      title: t("shell.menu.openPicture"),
      group: file,
      run: choosePicture,
    },
    {
      id: "graph.import",
      title: t("import.command"),
      group: file,
      enabled: () => hasGraph() && session().use === "design",
      run: chooseImport,
    },
    {
      id: "graph.seen",
      title: t("seen.open"),
      group: file,
      enabled: () => useOnlyRead.getState().onlyRead,
      run: () => void openSeen(),
    },
    {
      id: "graph.seenMore",
      title: t("seen.more"),
      group: file,
      enabled: isSeen,
      run: () => void openSeen(true),
    },
    {
      id: "graph.seenOwn",
      title: t("seen.own"),
      group: file,
      enabled: () => isSeen() && laidOn() === null,
      run: () => void makeOwn(),
    },
    {
      id: "graph.seenKey",
      title: t("seen.key.command"),
      group: file,
      enabled: isSeen,
      run: askKey,
    },
    {
      id: "program.reload",
      title: t("seen.reloadProgram"),
      group: file,
      enabled: () => attachedHere() !== null,
      run: () => void reloadProgram(),
    },
    {
      id: "program.debug",
      title: t("seen.debug"),
      group: t("shell.group.debug"),
      enabled: () => attachedHere()?.server === false,
      run: () => void debugProgram(),
    },
    { id: "graph.openAddress", title: t("seen.address"), group: file, run: () => askAddress() },
    { id: "graph.lay", title: t("seen.lay"), group: file, enabled: isSeen, run: () => void layOn() },
    {
      id: "graph.layNames",
      title: t("seen.lay.names"),
      group: file,
      enabled: () => laidOn() !== null,
      run: () => askLaid(useDocumentState.getState().graphId ?? ""),
    },
    {
      id: "graph.layOff",
      title: t("seen.lay.off"),
      group: file,
      enabled: () => laidOn() !== null,
      run: () => void layOff(),
    },
    {
      id: "thread.copyOwn",
      title: t("seen.copy"),
      group: file,
      enabled: () => useOnlyRead.getState().onlyRead && session().cursor.threadId !== null,
      run: () => {
        const { threadId } = session().cursor;
        if (threadId !== null)
          askCopy({ threadId, title: useRuns.getState().threads.get(threadId)?.title ?? threadId });
      },
    },
    {
      id: "thread.copyAllOwn",
      title: t("seen.copyAll"),
      group: file,
      enabled: () => useOnlyRead.getState().onlyRead,
      run: () => askCopy({ title: "" }),
    },
    {
      id: "storage.own",
      title: t("seen.back"),
      group: file,
      enabled: () => useOnlyRead.getState().onlyRead,
      run: () => void backToOwn(),
    },
    { id: "graph.save", title: t("shell.menu.save"), group: file, enabled: hasGraph, run: () => void save() },
    {
      id: "graph.saveAs",
      title: t("shell.menu.saveAs"),
      group: file,
      enabled: hasGraph,
      run: () => void saveAs(),
    },
    {
      id: "graph.back",
      title: t("shell.trail.back"),
      group: file,
      enabled: () => useSession.getState().use === "design" && useGraphTrail.getState().left.length > 0,
      run: () => void leaveNestedGraph(),
    },
    { id: "graph.home", title: t("shell.home"), group: file, enabled: hasGraph, run: goHome },
    {
      id: "graph.closeTab",
      title: t("tabs.closeCommand"),
      group: file,
      enabled: hasGraph,
      run: () => void closeTab(useDocumentState.getState().graphId ?? ""),
    },
    { id: "graph.nextTab", title: t("tabs.next"), group: file, enabled: hasTabs, run: () => walkTabs(1) },
    {
      id: "graph.previousTab",
      title: t("tabs.previous"),
      group: file,
      enabled: hasTabs,
      run: () => walkTabs(-1),
    },
    {
      id: "graph.versions",
      title: t("shell.menu.versions"),
      group: file,
      enabled: hasGraph,
      run: () => {
        session().setUse("design");
        session().showTab("right", "versions", "design");
      },
    },
    {
      id: "edit.undo",
      title: t("shell.undo"),
      group: t("shell.group.edit"),
      enabled: () => useDocumentState.getState().undoName !== null,
      run: () => void undo(),
    },
    {
      id: "edit.redo",
      title: t("shell.redo"),
      group: t("shell.group.edit"),
      enabled: () => useDocumentState.getState().redoName !== null,
      run: () => void redo(),
    },
    goTo("design"),
    goTo("debug"),
    goTo("approve"),
    panel("left"),
    panel("right"),
    panel("bottom"),
    {
      id: "panel.bottomLarge",
      title: t("shell.toggle.bottomLarge"),
      group: view,
      enabled: () => hasGraph() && session().use === "debug",
      run: () => {
        const folded = isFolded(session(), "bottom");
        const { large } = session().panels.bottom;
        session().setPanel("bottom", { large: folded || !large, folded: false });
      },
    },
    {
      id: "debug.backToNow",
      title: t("shell.past.back"),
      group: t("shell.group.debug"),
      enabled: () => session().cursor.checkpointId !== null,
      run: () => session().setCursor({ checkpointId: null }),
    },
  ]);
}
