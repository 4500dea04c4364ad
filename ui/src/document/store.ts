/**
 * The open document for React and for everybody who edits it. One document is open at a time; `doc` is always the same
 * object and `openGraph` changes what is in it.
 *
 * Ids: records are named `doc`, `key:NAME`, `node:NAME`, `edge:ID`, `layout:NODE`; lists (`useIds`) and the selection
 * hold bare names. Undo histories outlive closing a document: coming back to it, its steps are still there.
 */
import { useCallback, useMemo, useSyncExternalStore } from "react";
import { create } from "zustand";
import type { Applied } from "../ipc/bindings/Applied";
import type { Diagnostic } from "../ipc/bindings/Diagnostic";
import type { GraphView } from "../ipc/bindings/GraphView";
import { rpc, RpcProblem, subscribe } from "../ipc/client";
import { useSpoken } from "../state/language";
import { useSession, type Selection } from "../state/session";
import { showProblem, showToast } from "../state/toasts";
import { problemText, t } from "../lib/texts";
import { tabChanged, tabOf, tabOpened, tabReplaced } from "../state/tabs";
import { carryOver } from "./carry";
import { GraphDocument } from "./document";
import { tellEdit } from "./edited";
import { errorTarget } from "./error-ways";
import { History, type Mark } from "./history";
import { keepSteps, StepKeeper, takeKeptSteps } from "./kept-steps";
import { PatchError, same, type Patch, type PatchOp } from "./patch";
import { Sync } from "./sync";
import { END, START, type Json, type Section } from "./types";

export const doc = new GraphDocument();

interface DocumentState {
  readonly graphId: string | null;
  readonly path: string | null;
  readonly rev: number;
  readonly savedRev: number;
  readonly dirty: boolean;
  /** All that is not in the file is where nodes stand. */
  readonly moved: boolean;
  readonly saving: boolean;
  readonly undoName: string | null;
  readonly redoName: string | null;
  readonly diagnostics: readonly Diagnostic[];
  /** Problems by record, kept so that a row listens to its own list only. */
  readonly byRecord: ReadonlyMap<string, readonly Diagnostic[]>;
  /** By node, where its program says that it may go without an edge. */
  readonly leads: Applied["leads"];
  readonly sampleInput: unknown;
  readonly readme: string | null;
  readonly recoveredAt: string | null;
}

const CLOSED: DocumentState = {
  graphId: null,
  path: null,
  rev: 0,
  savedRev: 0,
  dirty: false,
  moved: false,
  saving: false,
  undoName: null,
  redoName: null,
  diagnostics: [],
  byRecord: new Map(),
  leads: {},
  sampleInput: undefined,
  readme: null,
  recoveredAt: null,
};

export const useDocumentState = create<DocumentState>(() => CLOSED);

const histories = new Map<string, History>();
let history = new History();

const sync = new Sync({
  send: (request) => rpc("graph.apply", request),
  reload: async (graphId) => {
    try {
      adopt(await rpc("graph.get", { graphId }));
      history.clear();
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

const keeper = new StepKeeper(() => ({ sync, history }));

/** Document facts that do not live in records. */
function published(): void {
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

const NONE: readonly Diagnostic[] = [];

function takeChecked({ diagnostics, leads }: Pick<Applied, "diagnostics" | "leads">): void {
  takeDiagnostics(diagnostics);
  if (!same(useDocumentState.getState().leads, leads)) useDocumentState.setState({ leads });
}

/** Problems as the workbench gave them, to be said in another language. */
let given: readonly Diagnostic[] = NONE;

function takeDiagnostics(inEnglish: readonly Diagnostic[]): void {
  given = inEnglish;
  const { byRecord: before, diagnostics: previous } = useDocumentState.getState();
  const diagnostics = inEnglish.map(problemText);
  if (same(previous, diagnostics)) return;
  const grouped = new Map<string, Diagnostic[]>();
  for (const diagnostic of diagnostics) {
    const list = grouped.get(diagnostic.record);
    if (list) list.push(diagnostic);
    else grouped.set(diagnostic.record, [diagnostic]);
  }
  const byRecord = new Map<string, readonly Diagnostic[]>();
  for (const [record, list] of grouped) {
    const old = before.get(record);
    byRecord.set(record, old && same(old, list) ? old : list);
  }
  useDocumentState.setState({ diagnostics, byRecord });
}

useSpoken.subscribe(() => takeDiagnostics(given));

function adopt(view: GraphView): void {
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
  });
  takeChecked(view);
}

/** What of a selection is there. */
function present(selection: Selection): Selection {
  const nodes = selection.nodes.filter((name) => name === START || name === END || doc.has(`node:${name}`));
  const edges = selection.edges.filter((id) => doc.has(`edge:${id}`) || errorTarget(doc, id) !== null);
  return nodes.length < selection.nodes.length || edges.length < selection.edges.length
    ? { ...selection, nodes, edges }
    : selection;
}

/** What is no longer there is no longer selected, also when undo took it away. */
doc.watch((changed) => {
  if (changed === null) return;
  const { selection, select } = useSession.getState();
  const left = present(selection);
  if (left !== selection) select(left);
});

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
  if (foreign) {
    doc.reset(records);
    history.clear();
  }
  try {
    sync.push(foreign ? doc.apply(patch) : patch);
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
  given = NONE;
  useDocumentState.setState(CLOSED);
  useSession.getState().graphOpened(null, null, false);
}

/** Forgets the history of a document that is gone for good (closed and discarded). */
export function forgetGraph(graphId: string): void {
  histories.delete(graphId);
}

/**
 * The host changed the document itself (a restored version): takes it over as one step that undo takes back.
 */
export function replaceDocument(view: GraphView, name: string): void {
  const before = new Map(doc.records().map((record) => [record.id, record.value]));
  const ops: PatchOp[] = [];
  const after = new Map(view.records.map((record) => [record.id, record.value as Json]));
  const removed = [...before.keys()].filter((id) => !after.has(id)).reverse();
  for (const id of removed) ops.push({ id, from: before.get(id) ?? null, to: null });
  const places = new Map<string, number>();
  for (const [id, value] of after) {
    const section = id.slice(0, id.indexOf(":"));
    const at = places.get(section) ?? 0;
    places.set(section, at + 1);
    const was = before.get(id);
    if (was === undefined) ops.push({ id, from: null, to: value, at });
    else if (!same(was, value)) ops.push({ id, from: was, to: value });
  }
  try {
    history.record(name, doc.apply({ ops }));
  } catch {
    history.clear();
  }
  adopt(view);
  published();
  keeper.touch();
}

export interface EditOptions {
  /** Edits with the same key, one soon after the other, are one undo step. Use the record and field: `node:a/config/prompt`. */
  readonly merge?: string;
}

/** Changes the document as one named undo step. Answers false when there was nothing to change or it was refused. */
export function edit(
  name: string,
  change: Patch | ((document: GraphDocument) => Patch),
  options: EditOptions = {},
): boolean {
  const patch = typeof change === "function" ? change(doc) : change;
  if (patch.ops.length === 0) return false;
  try {
    const done = doc.apply(patch);
    history.record(name, done, options.merge ?? null);
    sync.push(done);
    published();
    keeper.touch();
    tellEdit({ name, patch: done, how: "done", merged: options.merge !== undefined });
    return true;
  } catch (thrown) {
    if (!(thrown instanceof PatchError)) throw thrown;
    showToast({ tone: "problem", text: t("shell.edit.refused", { name }), detail: thrown.message });
    return false;
  }
}

/** Changes a document that is open and not the one that is shown, as a step that undo takes back there. */
export async function editElsewhere(graphId: string, rev: number, name: string, patch: Patch): Promise<void> {
  const applied = await rpc("graph.apply", { graphId, baseRev: rev, ops: [...patch.ops] });
  let steps = histories.get(graphId);
  if (!steps) {
    steps = new History();
    histories.set(graphId, steps);
  }
  steps.record(name, patch);
  tabChanged(graphId, { dirty: true, moved: [] });
  await keepSteps(graphId, applied.rev, steps);
}

/** A place to make one step from with `squashFrom`. */
export function mark(): Mark {
  return history.mark();
}

export function squashFrom(place: Mark, name: string): void {
  history.squash(place, name);
  published();
  keeper.touch();
}

/** Ends the merging of edits, when a field is left. */
export function sealHistory(): void {
  history.seal();
}

export function undo(): string | null {
  const step = history.undo();
  if (!step) return null;
  replay(step.patch);
  tellEdit({ ...step, how: "undone", merged: false });
  return step.name;
}

export function redo(): string | null {
  const step = history.redo();
  if (!step) return null;
  replay(step.patch);
  tellEdit({ ...step, how: "redone", merged: false });
  return step.name;
}

/** Steps of the open document, as they are now. */
export const editHistory = (): History["steps"] => history.steps;

/** Takes a number of steps back, or does them again when it is negative. */
export function travel(steps: number): void {
  for (let left = Math.abs(steps); left > 0; left -= 1) if ((steps > 0 ? undo() : redo()) === null) return;
}

function replay(patch: Patch): void {
  try {
    sync.push(doc.apply(patch));
  } catch (thrown) {
    // The steps and the document no longer fit together; keeping them could only do harm.
    history.clear();
    showToast({ tone: "problem", text: t("shell.undo.broken"), detail: String(thrown) });
  }
  published();
  keeper.touch();
}

/** Sends pending edits; resolves when the host has them all. */
export function flush(): Promise<void> {
  return sync.flush();
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
        if (event.type === "diagnostics" && event.graphId === sync.graphId) takeChecked(event);
      }
    },
    () => {
      const { graphId } = sync;
      if (graphId === null || !sync.settled) return;
      // After a gap the document may have moved on; it is taken again only when it has.
      rpc("graph.get", { graphId }).then(
        (view) => {
          if (sync.graphId !== graphId || !sync.settled) return;
          if (view.rev !== sync.rev) adopt(view);
          else takeChecked(view);
        },
        () => {
          // The connection banner already says it.
        },
      );
    },
  );
}

// Hooks. Each listens to one topic of the document.

/** A record's value, or undefined when there is none. */
export function useRecord(recordId: string): Json | undefined {
  return useSyncExternalStore(
    useCallback((listener) => doc.subscribe(recordId, listener), [recordId]),
    () => doc.get(recordId),
  );
}

/** Bare names of a section, in file order. */
export function useIds(section: Section): readonly string[] {
  return useSyncExternalStore(
    useCallback((listener) => doc.subscribe(`ids:${section}`, listener), [section]),
    () => doc.names(section),
  );
}

/** Re-renders on every change; answers the version, for things that depend on the whole document. */
export function useDocumentVersion(): number {
  return useSyncExternalStore(
    useCallback((listener) => doc.subscribe("any", listener), []),
    () => doc.version,
  );
}

/** Problems of one record, or all of them. */
export function useDiagnostics(recordId?: string): readonly Diagnostic[] {
  return useDocumentState((state) =>
    recordId === undefined ? state.diagnostics : (state.byRecord.get(recordId) ?? NONE),
  );
}

export interface GraphMeta {
  readonly graphId: string | null;
  readonly name: string;
  readonly path: string | null;
  /** There is something that is not in the file. */
  readonly dirty: boolean;
  /** Edits are on their way to the workbench. */
  readonly saving: boolean;
  readonly rev: number;
}

export function useGraphMeta(): GraphMeta {
  const head = useRecord("doc");
  const graphId = useDocumentState((state) => state.graphId);
  const path = useDocumentState((state) => state.path);
  const dirty = useDocumentState((state) => state.dirty);
  const saving = useDocumentState((state) => state.saving);
  const rev = useDocumentState((state) => state.rev);
  return useMemo(() => {
    void head;
    return { graphId, name: doc.name, path, dirty, saving, rev };
  }, [head, graphId, path, dirty, saving, rev]);
}

/** Names of the steps that undo and redo would take. */
export function useHistory(): { undoName: string | null; redoName: string | null } {
  const undoName = useDocumentState((state) => state.undoName);
  const redoName = useDocumentState((state) => state.redoName);
  return { undoName, redoName };
}
