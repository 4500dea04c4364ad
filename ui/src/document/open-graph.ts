/**
 * The open graph: shown, kept equal to the workbench's copy, found again after the host was away, left and closed. Undo
 * histories outlive closing a document: coming back to it, its steps are still there.
 */
import type { GraphView } from "../ipc/bindings/GraphView";
import { rpc, RpcProblem, subscribe } from "../ipc/client";
import { askAboutElsewhere, type Side } from "../state/file-dialogs";
import { useSession } from "../state/session";
import { showProblem, showToast } from "../state/toasts";
import { t } from "../lib/texts";
import { tabChanged, tabOf, tabOpened, tabReplaced } from "../state/tabs";
import { carryOver } from "./carry-over-edits";
import { changedElsewhere, recordNames } from "./elsewhere";
import { History } from "./history";
import { StepKeeper, takeKeptSteps } from "./kept-steps";
import { op, type Patch } from "./patch";
import { Sync } from "./sync";
import type { Json } from "./types";
import { doc, CLOSED, useDocumentState, present } from "./store";
import { forgetDiagnostics, takeChecked } from "./diagnostics";

const histories = new Map<string, History>();
let history = new History();

/** Answers the undo steps of the open document. */
export const currentHistory = (): History => history;

/** Answers the undo steps of a graph, also of one that is not shown. */
export function historyOf(graphId: string): History {
  let steps = histories.get(graphId);
  if (!steps) {
    steps = new History();
    histories.set(graphId, steps);
  }
  return steps;
}

export const sync = new Sync({
  send: (request) => rpc("graph.apply", request),
  catchUp,
  reload: async (graphId) => {
    try {
      adopt(await rpc("graph.get", { graphId }));
      published();
    } catch (problem) {
      showProblem(problem);
    }
  },
  reopen: () =>
    reopenGraph().then(
      () => true,
      () => false,
    ),
  onChange: published,
  onChecked: takeChecked,
  onRefused: (problem) => {
    const { message, remedy } = RpcProblem.from(problem);
    showToast({
      tone: "problem",
      text: t("shell.sync.refused"),
      detail: remedy ? `${message} ${remedy}` : message,
    });
  },
  setTimer: (run, millis) => {
    const timer = setTimeout(run, millis);
    return () => clearTimeout(timer);
  },
});

export const keeper = new StepKeeper(() => ({ sync, history }));

/** Document facts that do not live in records. */
export function published(): void {
  const state = useDocumentState.getState();
  const next = {
    graphId: sync.graphId,
    rev: sync.rev,
    savedRev: sync.savedRev,
    dirty: sync.graphId !== null && sync.dirty,
    moved: sync.graphId !== null && sync.moved,
    saving: !sync.settled,
    undoName: history.undoName,
    redoName: history.redoName,
  };
  if (Object.entries(next).some(([key, value]) => state[key as keyof typeof next] !== value)) {
    useDocumentState.setState(next);
  }
}

export function adopt(view: GraphView): void {
  const moved = tabOf(view.graphId)?.moved ?? [];
  sync.open(view.graphId, view.rev, view.savedRev, moved);
  // From here on the document knows it.
  if (moved.length > 0) tabChanged(view.graphId, { moved: [] });
  doc.reset(view.records as { id: string; value: Json }[]);
  useDocumentState.setState({
    path: view.path ?? null,
    sampleInput: view.sampleInput,
    readme: view.readme ?? null,
    recoveredAt: view.recoveredAt ?? null,
    text: view.text ?? null,
    seen: view.seen ?? null,
  });
  takeChecked(view);
}

/** Shows a document, in its tab. Edits of the one that was shown are sent first. */
export function openGraph(view: GraphView): void {
  const before = sync.graphId;
  const again = before === view.graphId;
  if (!again) leave();
  adopt(view);
  const kept = histories.get(view.graphId);
  history = kept ?? new History();
  if (!kept) histories.set(view.graphId, history);
  published();
  const { graphId } = view;
  const left = tabOpened({ graphId, path: view.path ?? null, name: view.name }, before);
  const session = useSession.getState();
  session.graphOpened(graphId, view.path ?? null, again);
  if (!again && left) {
    session.select(present(left.selection));
    session.setCursor({ ...left.cursor, taskId: left.cursor.taskId ?? null });
    session.setCompareWith(left.compareWith);
  }
  if (kept) return;
  const mine = history;
  void takeKeptSteps(graphId, mine, () => sync.graphId === graphId && history === mine).then(published);
}

/** Another graph is shown: what was looked at in this one is remembered by its tab. */
function leave(): void {
  const { graphId } = sync;
  if (graphId === null) return;
  const { selection, cursor, compareWith } = useSession.getState();
  const moved = sync.moved ? [...sync.touched] : [];
  tabChanged(graphId, { dirty: sync.dirty, moved, name: doc.name, left: { selection, cursor, compareWith } });
  void flush();
  keeper.forget();
}

/** Before another graph is shown: every edit, and its steps, are at the workbench. */
export async function settle(): Promise<void> {
  await flush();
  await keeper.send();
}

/** Puts the edits that the host refused on top of what another window did. Only what both changed is asked about. */
async function catchUp(graphId: string): Promise<boolean> {
  const view = await rpc("graph.get", { graphId });
  if (sync.graphId !== graphId) return true;
  if (view.rev === sync.rev) return false;
  const { both } = changedElsewhere(recordsOf(view), doc.records(), sync.waiting);
  const side = both.length === 0 ? null : await askAboutElsewhere(recordNames(both));
  if (sync.graphId === graphId) takeElsewhere(view, side);
  return true;
}

/** Whichever side is chosen, undo brings the other one back. */
function takeElsewhere(view: GraphView, side: Side | null): void {
  const records = recordsOf(view);
  // Edits that were made while the question waited count, too.
  const { theirs, both } = changedElsewhere(records, doc.records(), sync.waiting);
  const touched = new Set(sync.waiting.ops.map(({ id }) => id));
  if (side !== "mine") for (const id of both) touched.delete(id);
  const { patch } = carryOver(records, doc.records(), touched);
  const mine = new Map(both.map((id) => [id, doc.get(id)]));
  doc.reset(records);
  let rest: Patch = { ops: [] };
  try {
    rest = doc.apply(patch);
  } catch (thrown) {
    showToast({ tone: "problem", text: t("shell.sync.refused"), detail: String(thrown) });
  }
  const chosen =
    side === "mine"
      ? rest.ops.filter(({ id }) => mine.has(id))
      : both.map((id) => op(id, mine.get(id), doc.get(id)));
  history.record(t(side === "mine" ? "shell.elsewhere.mine" : "shell.elsewhere.theirs"), { ops: chosen });
  sync.rebased(view.rev, view.savedRev, rest);
  const { selection, select } = useSession.getState();
  const left = present(selection);
  if (left !== selection) select(left);
  takeChecked(view);
  published();
  useDocumentState.setState({ seen: view.seen ?? null });
  // Of a graph that is drawn from threads nobody was first: the program goes on.
  if (theirs.length > 0 && !view.seen)
    showToast({ tone: "info", text: t("shell.elsewhere.changed"), detail: recordNames(theirs) });
}

const recordsOf = (view: GraphView) => view.records as { id: string; value: Json }[];

/** Takes what another window changed or saved. Edits that are on their way find it out themselves. */
export async function lookElsewhere(): Promise<void> {
  const { graphId, rev } = sync;
  if (graphId === null || !sync.settled) return;
  let view: GraphView;
  try {
    view = await rpc("graph.get", { graphId });
  } catch (problem) {
    // Closed in another window. That nothing answers, the connection banner says.
    if (RpcProblem.from(problem).code === "not-found") await reopenGraph().catch(showProblem);
    return;
  }
  if (sync.graphId !== graphId || !sync.settled || sync.rev !== rev || typed !== null) return;
  if (view.rev !== rev && (view.text ?? useDocumentState.getState().text) !== null) {
    adopt(view);
    published();
  } else if (view.rev !== rev) takeElsewhere(view, null);
  else {
    if (view.savedRev !== sync.savedRev) sync.saved(view.savedRev);
    takeChecked(view);
  }
}

let reopening: Promise<void> | null = null;

/**
 * After the host was away: opens the document again when the host does not know it any more, with every edit that it
 * does not have. The moment, the selection and the undo steps stay.
 */
export function reopenGraph(): Promise<void> {
  reopening ??= findAgain().finally(() => (reopening = null));
  return reopening;
}

async function findAgain(): Promise<void> {
  const { graphId } = sync;
  if (graphId === null) return;
  const { path } = useDocumentState.getState();
  let view: GraphView;
  let touched = sync.touched;
  try {
    view = await rpc("graph.get", { graphId });
    // The host was only out of reach. A draft has its id again after a restart, but perhaps not its last edits.
    if (path !== null && sync.settled) return;
  } catch (problem) {
    if (RpcProblem.from(problem).code !== "not-found") throw problem;
    try {
      if (path === null) throw problem;
      view = await rpc("graph.open", { path });
    } catch (refused) {
      const { code, message } = RpcProblem.from(refused);
      if (code === "no-connection") throw refused;
      // Nothing that could be opened is left of it, but all of it is here.
      view = await rpc("graph.new", { name: doc.name });
      touched = new Set([...doc.records(), ...view.records].map(({ id }) => id));
      if (path !== null) showToast({ tone: "warning", text: t("shell.reopen.draft"), detail: message });
    }
  }
  if (sync.graphId === graphId) takeOver(view, touched);
}

function takeOver(view: GraphView, touched: ReadonlySet<string>): void {
  if (view.text !== undefined) return openGraph(view);
  const records = view.records as { id: string; value: Json }[];
  const { patch, foreign } = carryOver(records, doc.records(), touched);
  const before = sync.graphId;
  sync.openAgain(view.graphId, view.rev, view.savedRev);
  useDocumentState.setState({ path: view.path ?? null, readme: view.readme ?? null });
  if (before !== null) {
    histories.delete(before);
    tabReplaced(before, view.graphId);
  }
  histories.set(view.graphId, history);
  if (foreign.length > 0) {
    const mine = new Map(foreign.map((id) => [id, doc.get(id)]));
    doc.reset(records);
    const ops = foreign.map((id) => op(id, mine.get(id), doc.get(id)));
    history.record(t("shell.elsewhere.theirs"), { ops });
    showToast({ tone: "info", text: t("shell.elsewhere.changed"), detail: recordNames(foreign) });
  }
  try {
    sync.push(foreign.length > 0 ? doc.apply(patch) : patch);
  } catch (thrown) {
    showToast({ tone: "problem", text: t("shell.sync.refused"), detail: String(thrown) });
  }
  if (patch.ops.length === 0) takeChecked(view);
  published();
  useSession.getState().graphOpened(view.graphId, view.path ?? null, true);
}

/** Shows no document; the edits of the one that was shown are sent first and its history is kept for coming back. */
export async function closeGraph(): Promise<void> {
  await settle();
  leave();
  sync.open(null, 0, 0);
  doc.reset([]);
  history = new History();
  forgetDiagnostics();
  useDocumentState.setState(CLOSED);
  useSession.getState().graphOpened(null, null, false);
}

/** Forgets the history of a document that is gone for good (closed and discarded). */
export function forgetGraph(graphId: string): void {
  histories.delete(graphId);
}

/** Sends pending edits; resolves when the host has them all. */
export async function flush(): Promise<void> {
  // Both begin now: another graph may be shown in a moment.
  await Promise.all([sync.flush(), sendTyped()]);
}

/** The text of a file that is no graph, as it was typed and not sent yet. */
let typed: {
  readonly graphId: string;
  readonly text: string;
  readonly timer: ReturnType<typeof setTimeout>;
} | null = null;
let sending: Promise<void> = Promise.resolve();

const TYPED_MS = 300;

/** Takes the text that a person makes of a file that is no graph; it is sent a moment after the last letter. */
export function typeText(text: string): void {
  const { graphId } = sync;
  if (graphId === null) return;
  clearTimeout(typed?.timer);
  typed = { graphId, text, timer: setTimeout(() => void sendTyped(), TYPED_MS) };
  useDocumentState.setState({ text, dirty: true });
}

function sendTyped(): Promise<void> {
  sending = sending.then(async () => {
    if (typed === null) return;
    const { graphId, text, timer } = typed;
    clearTimeout(timer);
    typed = null;
    // Another graph may be shown by now; the revision is that of the text then.
    const shown = () => sync.graphId === graphId;
    try {
      const baseRev = shown() ? sync.rev : (await rpc("graph.get", { graphId })).rev;
      const applied = await rpc("graph.writeText", { graphId, baseRev, text });
      if (!shown()) return;
      sync.open(graphId, applied.rev, sync.savedRev, []);
      takeChecked(applied);
    } catch (thrown) {
      showProblem(thrown);
      if (RpcProblem.from(thrown).code === "conflict" && shown()) adopt(await rpc("graph.get", { graphId }));
    }
    if (shown()) published();
  });
  return sending;
}

/** What was no graph may be one, now that its text is saved. */
export async function readSavedText(graphId: string): Promise<void> {
  if (useDocumentState.getState().text === null) return;
  const view = await rpc("graph.get", { graphId });
  if (sync.graphId !== graphId || typed !== null) return;
  history.clear();
  adopt(view);
  published();
}

/** Says that the file now holds `savedRev`, after `graph.save`. */
export function markSaved(path: string, savedRev: number): void {
  sync.saved(savedRev);
  useDocumentState.setState({ path });
  if (sync.graphId !== null) tabChanged(sync.graphId, { path });
  // In another file they are kept beside that.
  keeper.touch();
  useSession.getState().graphMoved(path);
}

/** Diagnostics that the host sends by itself. Called once, by the app. */
export function followDiagnostics(): () => void {
  return subscribe(
    (events) => {
      for (const event of events) {
        if (event.type !== "diagnostics" || event.graphId !== sync.graphId) continue;
        takeChecked(event);
        // Another program wrote the file.
        if (event.rev > sync.rev) void lookElsewhere();
      }
    },
    () => {
      // After a gap the document may have moved on.
      void lookElsewhere();
    },
  );
}

// Hooks. Each listens to one topic of the document.
