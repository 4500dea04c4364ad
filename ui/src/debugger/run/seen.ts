/** The threads of a LangGraph program: their database is opened like a file, and leads to what they show of their graph. */
import { flush, openGraph, settle } from "../../document/open-graph";
import { doc, useDocumentState } from "../../document/store";
import type { AttachedView } from "../../ipc/bindings/AttachedView";
import type { GraphView } from "../../ipc/bindings/GraphView";
import type { LaidOn } from "../../ipc/bindings/LaidOn";
import type { OwnCopy } from "../../ipc/bindings/OwnCopy";
import { host, rpc, RpcProblem } from "../../ipc/client";
import { fileOf } from "../../lib/path";
import { t } from "../../lib/texts";
import { openFileDialog } from "../../state/file-dialogs";
import { stopJob, withJob } from "../../state/jobs";
import { askKey, askLaid, useSeenAsked } from "../../state/seen-dialogs";
import { useSession } from "../../state/session";
import { tabOpened } from "../../state/tabs";
import { showProblem, showToast } from "../../state/toasts";
import { notAllowed, trusted } from "../../state/trust";

/** Shows a graph that was opened; one that was seen in threads is debugged, with the others of its database beside it. */
export function openOpened(view: GraphView): void {
  openGraph(view);
  if (!view.seen) return;
  let from = view.graphId;
  for (const { graphId, name } of view.seen.graphs) {
    if (graphId === view.graphId) continue;
    tabOpened({ graphId, path: null, name }, from);
    from = graphId;
  }
  useSession.getState().setUse("debug");
}

/** Opens the graphs of the database in use, as far as its threads show them. */
export async function openSeen(more = false): Promise<void> {
  try {
    await settle();
    const { graphId, seen } = useDocumentState.getState();
    const shown = seen === null || graphId === null ? {} : { graphId };
    openOpened(await rpc("graph.seen", { ...shown, more }));
  } catch (thrown) {
    showProblem(thrown);
  }
}

/** Says that from now on the threads of that database are shown, and leads back to one's own. */
function sayWhose(view: GraphView): void {
  if (!view.seen) return;
  const { attached, database } = view.seen;
  showToast({
    tone: "info",
    text: attached ? t("seen.attached", { name: attached.named }) : t("seen.opened", { database }),
    detail: t(attached ? "seen.attachedHelp" : "seen.openedHelp"),
    action: { label: t("seen.back"), run: () => void backToOwn() },
  });
}

/** Takes the database of one's own threads again. */
export async function backToOwn(): Promise<void> {
  try {
    const { url } = await rpc("storage.use", {});
    showToast({ tone: "done", text: t("storage.database.used", { url }) });
  } catch (thrown) {
    showProblem(thrown);
  }
}

/** Opens a graph file, or the threads of a database or a program that somebody names like one. */
export async function openPlace(path: string): Promise<void> {
  await settle();
  try {
    // A program is imported when it is opened, so it is asked about as when a graph runs.
    const view = await imported(path);
    openOpened(view);
    sayWhose(view);
    if (view.seen?.sealed !== undefined) askKey();
  } catch (thrown) {
    if (!notAllowed(thrown) && !wasCancelled(thrown)) throw thrown;
  }
}

/** How long a program may take to be imported before it is said that it does. */
const SAID_AFTER_MS = 1500;

const wasCancelled = (thrown: unknown): boolean =>
  thrown instanceof RpcProblem && thrown.code === "cancelled";

/** Opens a place. A program is imported for it, which may take long or never end, so it can be cancelled. */
function imported(path: string): Promise<GraphView> {
  return withJob(async (work) => {
    let close = () => {};
    const open = async () => {
      const name = fileOf(path);
      const timer = setTimeout(() => {
        close = showToast({
          tone: "info",
          text: t("seen.importing", { name }),
          detail: t("seen.importingHelp"),
          action: { label: t("seen.importCancel"), run: () => stopJob(work) },
          stays: true,
        });
      }, SAID_AFTER_MS);
      try {
        return await rpc("graph.open", { path, work });
      } finally {
        clearTimeout(timer);
        close();
      }
    };
    return trusted(open);
  });
}

/** The attached program whose graph is on screen. */
export function attachedHere(): AttachedView | null {
  const { graphId, seen } = useDocumentState.getState();
  const own = seen?.graphs.find((graph) => graph.graphId === graphId);
  return own?.attached === true ? (seen?.attached ?? null) : null;
}

/** Starts the attached program again, from its files as they are now. */
export async function reloadProgram(): Promise<void> {
  const attached = attachedHere();
  if (attached === null) return;
  try {
    const { named } = attached;
    openGraph(await imported(named));
    showToast({ tone: "done", text: t("seen.reloaded", { name: named }) });
  } catch (thrown) {
    if (!notAllowed(thrown) && !wasCancelled(thrown)) showProblem(thrown);
  }
}

/** Lets an editor attach to the code of the attached program, and says where. */
export async function debugProgram(): Promise<void> {
  const attached = attachedHere();
  if (attached === null) return;
  try {
    const at = await rpc("program.debug", {});
    useSeenAsked.setState({ code: { ...at, name: fileOf(attached.named) } });
  } catch (thrown) {
    showProblem(thrown);
  }
}

/** Takes one's own threads again, and shows a copy among them on its graph. */
export async function openCopy({ threadId, graph }: OwnCopy): Promise<void> {
  await settle();
  await rpc("storage.use", {});
  openGraph(
    await (graph.startsWith("draft-")
      ? rpc("graph.get", { graphId: graph })
      : rpc("graph.open", { path: graph })),
  );
  const session = useSession.getState();
  session.setUse("debug");
  session.setCursor({ threadId, checkpointId: null });
}

/** Shows a graph that was seen as it is drawn now. */
export async function showAgain(graphId: string): Promise<void> {
  if (useDocumentState.getState().graphId === graphId) openGraph(await rpc("graph.get", { graphId }));
}

/** How the graph on screen is shown on one of our own; null for one that is not. */
export function laidOn(): LaidOn | null {
  const { graphId, seen } = useDocumentState.getState();
  return seen?.graphs.find((graph) => graph.graphId === graphId)?.laid ?? null;
}

/** Shows the threads on a graph file that a person chooses; nodes that it has by other names are asked about. */
export async function layOn(): Promise<void> {
  const { graphId, seen } = useDocumentState.getState();
  if (graphId === null || seen === null) return;
  const path = await (host.pickOpen ? host.pickOpen() : openFileDialog());
  if (path === null) return;
  try {
    const { nodes, names } = await rpc("graph.lay", { graphId, path });
    await showAgain(graphId);
    if (Object.keys(names).length < nodes.length) askLaid(graphId);
  } catch (thrown) {
    showProblem(thrown);
  }
}

/** Draws the graph as its threads show it. */
export async function layOff(): Promise<void> {
  const { graphId } = useDocumentState.getState();
  if (graphId === null) return;
  try {
    await rpc("graph.lay", { graphId });
    await showAgain(graphId);
  } catch (thrown) {
    showProblem(thrown);
  }
}

/** A graph of one's own with the nodes and ways that were seen; what the nodes do is drawn by hand. */
export async function makeOwn(): Promise<void> {
  const { graphId, seen } = useDocumentState.getState();
  if (graphId === null || seen === null) return;
  try {
    await flush();
    const name = doc.name;
    const { json } = await rpc("graph.export", { graphId });
    openGraph(await rpc("graph.new", { name, text: json }));
    useSession.getState().setUse("design");
    showToast({ tone: "done", text: t("seen.made"), detail: t("seen.madeHelp") });
  } catch (thrown) {
    showProblem(thrown);
  }
}

/** What was seen is not designed: whatever leads there stays in the debugger. */
export function followSeen(): () => void {
  const stay = () => {
    const session = useSession.getState();
    if (session.use === "design" && session.graphId !== null && useDocumentState.getState().seen !== null)
      session.setUse("debug");
  };
  const stops = [useSession.subscribe(stay), useDocumentState.subscribe(stay)];
  return () => stops.forEach((stop) => stop());
}
