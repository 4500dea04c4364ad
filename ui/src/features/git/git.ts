/** The graph in the last commit, read again when its file was saved, when the window comes back, and when another is shown. */
import { create } from "zustand";
import { diffDocuments, type DocumentDiff } from "../../document/diff";
import type { DocumentRecord } from "../../document/document";
import { markChanges, useCommitted } from "../../document/changes";
import { doc, useDocumentState } from "../../document/store";
import type { ConflictView } from "../../ipc/bindings/ConflictView";
import type { GitView } from "../../ipc/bindings/GitView";
import { rpc, RpcProblem } from "../../ipc/client";

interface GitStore {
  readonly view: GitView | null;
  /** Mark changes on the canvas. */
  readonly marked: boolean;
}

export const useGit = create<GitStore>(() => ({ view: null, marked: false }));

export interface Conflict {
  readonly graphId: string;
  readonly view: ConflictView | null;
  readonly problem: RpcProblem | null;
  /** Saves what was merged. Set where the file was changed by another program, so that the graph is shown no more until then. */
  readonly save?: () => Promise<void>;
}

/** The conflict of the graph that is shown. It stays until the graph is saved or left, so that undo leads back to it. */
export const useConflict = create<{ readonly conflict: Conflict | null }>(() => ({ conflict: null }));

export const recordsOf = (records: readonly { id: string; value: unknown }[]): DocumentRecord[] =>
  records as DocumentRecord[];

let turn = 0;

async function readGit(): Promise<void> {
  const mine = (turn += 1);
  const { graphId, path } = useDocumentState.getState();
  if (graphId === null || path === null) {
    useGit.setState({ view: null });
    return;
  }
  try {
    const view = await rpc("graph.git", { graphId });
    if (mine === turn) useGit.setState({ view: view.state === "none" ? null : view });
  } catch {
    // The banner says that the host is away.
  }
}

async function readConflict(): Promise<void> {
  const { graphId, diagnostics } = useDocumentState.getState();
  const { conflict } = useConflict.getState();
  if (graphId === null) return;
  const marked = diagnostics.some(({ code }) => code === "conflict-marks");
  if (conflict?.graphId === graphId || !marked) {
    if (conflict !== null && conflict.graphId !== graphId) useConflict.setState({ conflict: null });
    return;
  }
  useConflict.setState({ conflict: { graphId, view: null, problem: null } });
  try {
    const view = await rpc("graph.conflict", { graphId });
    if (useDocumentState.getState().graphId === graphId)
      useConflict.setState({ conflict: { graphId, view, problem: null } });
  } catch (thrown) {
    if (useDocumentState.getState().graphId === graphId)
      useConflict.setState({ conflict: { graphId, view: null, problem: RpcProblem.from(thrown) } });
  }
}

/** What changed since the last commit; null when that is not known. */
export function changesNow(view: GitView | null): DocumentDiff | null {
  return view?.records ? diffDocuments(recordsOf(view.records), doc.records()) : null;
}

/** Marks are drawn a moment after an edit. */
const REST_MS = 250;

function followMarks(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const draw = () => {
    const { view, marked } = useGit.getState();
    const diff = marked ? changesNow(view) : null;
    markChanges(diff && new Map(diff.records.map(({ id, change }) => [id, change])));
  };
  const later = () => {
    if (!useGit.getState().marked) return;
    clearTimeout(timer);
    timer = setTimeout(draw, REST_MS);
  };
  const known = () => {
    const { view } = useGit.getState();
    const records = view?.records ? recordsOf(view.records) : null;
    useCommitted.setState({ records });
  };
  const stops = [useGit.subscribe(draw), useGit.subscribe(known), doc.subscribe("any", later)];
  return () => {
    clearTimeout(timer);
    stops.forEach((stop) => stop());
  };
}

/** Follows the graph that is shown. */
export function followGit(): () => void {
  const again = () => void readGit();
  void readGit();
  void readConflict();
  const stops = [
    useDocumentState.subscribe((state, before) => {
      if (
        state.graphId !== before.graphId ||
        state.savedRev !== before.savedRev ||
        state.path !== before.path
      ) {
        if (state.graphId !== before.graphId) useGit.setState({ view: null });
        else useConflict.setState({ conflict: null });
        void readGit();
      }
      if (state.graphId !== before.graphId || state.diagnostics !== before.diagnostics) void readConflict();
    }),
    followMarks(),
  ];
  window.addEventListener("focus", again);
  return () => {
    window.removeEventListener("focus", again);
    stops.forEach((stop) => stop());
  };
}
