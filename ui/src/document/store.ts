/**
 * The open document for React. One document is open at a time; `doc` is always the same object and `openGraph` changes
 * what is in it.
 *
 * Ids: records are named `doc`, `key:NAME`, `node:NAME`, `edge:ID`, `layout:NODE`; lists (`useIds`) and the selection
 * hold bare names.
 */
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { create } from "zustand";
import type { Applied } from "../ipc/bindings/Applied";
import type { Diagnostic } from "../ipc/bindings/Diagnostic";
import type { SeenView } from "../ipc/bindings/SeenView";
import { splitPath } from "../lib/path";
import { useSession, type Selection } from "../state/session";
import { GraphDocument } from "./document";
import { errorTarget } from "./error-ways";
import { same } from "./patch";
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
  /** Of a file that is no graph: its text, which is all that can be edited. */
  readonly text: string | null;
  /** Of a graph that was drawn from threads of another program: what it was drawn from. It is only read. */
  readonly seen: SeenView | null;
}

export const CLOSED: DocumentState = {
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
  text: null,
  seen: null,
};

export const useDocumentState = create<DocumentState>(() => CLOSED);

const NONE: readonly Diagnostic[] = [];

/** What of a selection is there. */
export function present(selection: Selection): Selection {
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

/**
 * Answers what `read` makes of the document, and renders again only when that is something else. It is asked after every
 * change, a key in a field too: it should not go over all nodes. Give it from `useCallback`.
 */
export function useDocumentPart<T>(read: () => T): T {
  const kept = useRef<{ readonly read: () => T; readonly version: number; readonly value: T } | null>(null);
  return useSyncExternalStore(
    useCallback((listener) => doc.subscribe("any", listener), []),
    () => {
      const { version } = doc;
      const before = kept.current;
      if (before?.read === read && before.version === version) return before.value;
      const value = read();
      const answer = before !== null && same(before.value, value) ? before.value : value;
      kept.current = { read, version, value: answer };
      return answer;
    },
  );
}

/** Problems of one record, or all of them. */
export function useDiagnostics(recordId?: string): readonly Diagnostic[] {
  return useDocumentState((state) =>
    recordId === undefined ? state.diagnostics : (state.byRecord.get(recordId) ?? NONE),
  );
}

/** Rest after the last key before a new problem is shown, in milliseconds. A field that is left shows it at once. */
const REST_MS = 1200;

/**
 * The problems of a record. One that comes while a person types waits until they rest or leave the field; one that is
 * gone goes at once.
 */
export function useDiagnosticsAtRest(recordId: string): readonly Diagnostic[] {
  const now = useDiagnostics(recordId);
  const record = useRecord(recordId);
  const [rested, setRested] = useState({ recordId, diagnostics: now });
  useEffect(() => {
    const show = () => setRested({ recordId, diagnostics: now });
    if (!types()) {
      show();
      return;
    }
    const rest = setTimeout(show, REST_MS);
    document.addEventListener("focusout", show);
    return () => {
      clearTimeout(rest);
      document.removeEventListener("focusout", show);
    };
  }, [recordId, now, record]);
  return useMemo(() => {
    if (rested.recordId !== recordId || rested.diagnostics === now) return now;
    return now.filter((one) => rested.diagnostics.some((known) => isSame(one, known)));
  }, [recordId, now, rested]);
}

const isSame = (one: Diagnostic, other: Diagnostic): boolean =>
  one.code === other.code && one.pointer === other.pointer && one.message === other.message;

/** Has a field of text the focus? */
function types(): boolean {
  const at = document.activeElement;
  return at instanceof HTMLElement && (at.isContentEditable || at.matches("input, textarea"));
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
  const isText = useDocumentState((state) => state.text !== null);
  return useMemo(() => {
    void head;
    const name = isText && path !== null ? splitPath(path).name : doc.name;
    return { graphId, name, path, dirty, saving, rev };
  }, [head, graphId, path, dirty, saving, rev, isText]);
}

/** Names of the steps that undo and redo would take. */
export function useHistory(): { undoName: string | null; redoName: string | null } {
  const undoName = useDocumentState((state) => state.undoName);
  const redoName = useDocumentState((state) => state.redoName);
  return { undoName, redoName };
}
