/** Switching, closing and bringing back the graphs that are open in this window. */
import { closeGraph, forgetGraph, openGraph, settle } from "../document/open-graph";
import { useDocumentState } from "../document/store";
import { rpc, RpcProblem } from "../ipc/client";
import type { GraphRef } from "../ipc/bindings/GraphRef";
import { listed } from "../lib/intl";
import { t } from "../lib/texts";
import { askAboutClosing } from "../state/file-dialogs";
import { useSession } from "../state/session";
import {
  keepTabs,
  keptTabs,
  tabBeside,
  tabClosed,
  tabOf,
  tabReplaced,
  useTabs,
  type GraphTab,
  type KeptTabs,
} from "../state/tabs";
import { showProblem, showToast } from "../state/toasts";
import { save } from "./files";

/** Is something of it not in its file? */
function isDirty(tab: GraphTab): boolean {
  const { graphId, dirty } = useDocumentState.getState();
  return graphId === tab.graphId ? dirty : tab.dirty;
}

/** Is where nodes stand all that is not in the file? It is kept for the next time, and nobody is asked about it. */
function isOnlyMoved(tab: GraphTab): boolean {
  const { graphId, moved } = useDocumentState.getState();
  if (tab.path === null || !isDirty(tab)) return false;
  return graphId === tab.graphId ? moved : (tab.moved ?? []).length > 0;
}

async function viewOf({ graphId, path }: Pick<GraphTab, "graphId" | "path">) {
  try {
    return await rpc("graph.get", { graphId });
  } catch (thrown) {
    // The workbench was started again, and knows the file but not its id.
    if (path === null || RpcProblem.from(thrown).code !== "not-found") throw thrown;
    return rpc("graph.open", { path });
  }
}

/** Shows the graph of a tab as it was left. */
export async function showTab(graphId: string): Promise<boolean> {
  const tab = tabOf(graphId);
  if (!tab) return false;
  const session = useSession.getState();
  if (session.use === "approve") session.setUse("design");
  if (session.graphId === graphId) return true;
  try {
    await settle();
    const view = await viewOf(tab);
    tabReplaced(graphId, view.graphId);
    openGraph(view);
    return true;
  } catch (thrown) {
    showProblem(thrown);
    return false;
  }
}

/** Shows the start screen; the tabs stay. */
export async function showStart(): Promise<void> {
  try {
    await closeGraph();
    // Nobody waits for it: the graph that was left may be opened again meanwhile, and is to be closed before.
    rpc("app.info", {}).then(useSession.getState().setAppInfo, showProblem);
  } catch (thrown) {
    showProblem(thrown);
  }
}

/** Closes a tab, after a question when more than the layout of it is not in its file. Answers whether it is closed. */
export async function closeTab(graphId: string): Promise<boolean> {
  const tab = tabOf(graphId);
  if (!tab) return false;
  try {
    if (useSession.getState().graphId === graphId) await settle();
    let discard = false;
    const moved = isOnlyMoved(tab);
    if (isDirty(tab) && !moved) {
      // What the question is about is seen.
      if (!(await showTab(graphId))) return false;
      const answer = await askAboutClosing(tab.name || t("shell.unnamed"));
      if (answer === null) return false;
      discard = answer === "discard";
      if (answer === "save") {
        await save();
        if (useDocumentState.getState().dirty) return false;
      }
    }
    const kept = !discard && !moved && isDirty(tab);
    await leaveTab(graphId);
    if (kept)
      showToast({
        tone: "info",
        text: t("forms.unsaved.kept", { name: tab.name }),
        detail: t("forms.unsaved.keptHelp"),
      });
    await rpc("graph.close", { graphId, discard }).catch((thrown: unknown) => {
      // It is not open there any more, which is what is wanted.
      if (RpcProblem.from(thrown).code !== "not-found") throw thrown;
    });
    forgetGraph(graphId);
    return true;
  } catch (thrown) {
    showProblem(thrown);
    return false;
  }
}

/** Takes a tab away and shows the one that takes its place; without one, the start screen. */
async function leaveTab(graphId: string): Promise<void> {
  const next = tabBeside(graphId, 1, false) ?? tabBeside(graphId, -1, false);
  if (useSession.getState().graphId === graphId) {
    if (!next || !(await showTab(next.graphId))) await showStart();
  }
  tabClosed(graphId);
}

/** The tab beside the one that is shown. */
export function walkTabs(by: 1 | -1): void {
  const next = tabBeside(useSession.getState().graphId, by);
  if (next) void showTab(next.graphId);
}

/** Brings the tabs back that the window had before it was reloaded. Answers the graph that is to be shown. */
export async function restoreTabs(open: readonly GraphRef[]): Promise<string | null> {
  const kept = keptTabs();
  if (!kept) return open.at(-1)?.graphId ?? null;
  const known = new Set(open.map(({ graphId }) => graphId));
  const gone: string[] = [];
  let { shown } = kept;
  const again = async (tab: KeptTabs["tabs"][number]): Promise<GraphTab[]> => {
    const name = typeof tab.name === "string" ? tab.name : "";
    const path = typeof tab.path === "string" ? tab.path : null;
    if (known.has(tab.graphId))
      return [{ graphId: tab.graphId, path, name, dirty: tab.dirty === true, left: null }];
    try {
      // A draft that is not there any more was discarded.
      if (path === null) return [];
      const view = await rpc("graph.open", { path });
      if (shown === tab.graphId) shown = view.graphId;
      return [{ graphId: view.graphId, path, name, dirty: view.rev !== view.savedRev, left: null }];
    } catch {
      gone.push(name || (path ?? ""));
      return [];
    }
  };
  const found = (await Promise.all(kept.tabs.map(again))).flat();
  const tabs = found.filter((tab, at) => found.findIndex(({ graphId }) => graphId === tab.graphId) === at);
  useTabs.setState({ tabs });
  if (gone.length > 0) showToast({ tone: "warning", text: t("tabs.gone"), detail: listed(gone.slice(0, 5)) });
  if (tabs.length === 0) return open.at(-1)?.graphId ?? null;
  return tabs.some(({ graphId }) => graphId === shown) ? shown : null;
}

/** Remembers the tabs for a window that is reloaded. */
export function followTabs(): () => void {
  const keep = () => keepTabs(useSession.getState().graphId);
  const stops = [
    useTabs.subscribe(keep),
    useSession.subscribe((state, before) => {
      if (state.graphId !== before.graphId) keep();
    }),
  ];
  return () => stops.forEach((stop) => stop());
}
