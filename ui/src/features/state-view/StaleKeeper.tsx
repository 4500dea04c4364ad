/** Keeps which nodes are stale: after each edit of the graph, and wherever the cursor goes. */
import { useEffect, useMemo, useState } from "react";
import { knownKinds } from "../../canvas/kinds";
import { recordsOf } from "../../canvas/useVersion";
import { useCheckpoints } from "../../debugger/model/runStore";
import { staleNodes } from "../../debugger/state/stale";
import { setStale } from "../../debugger/state/stale-nodes";
import { trackOf } from "../../debugger/timeline/walk";
import { diffDocuments, type RecordChange } from "../../document/diff";
import type { DocumentRecord } from "../../document/document";
import { doc, useDocumentVersion, useGraphMeta } from "../../document/store";
import { usageOf } from "../../document/usage";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { rpc } from "../../ipc/client";
import { useSession } from "../../state/session";
import { useThreadGraph } from "./useThreadGraph";

/** While somebody types, the marks wait so long. */
const REST_MS = 250;
const NO_CHANGES: readonly RecordChange[] = [];
const NOT_READ: ReadonlySet<string> = new Set();

/** The records of a version; read once, as a version never changes. */
function useRecords(graphId: string | null, id: string | undefined): readonly DocumentRecord[] | null {
  const [read, setRead] = useState<{ readonly of: string; readonly records: DocumentRecord[] } | null>(null);
  const of = `${graphId} ${id}`;
  useEffect(() => {
    if (graphId === null || id === undefined) return undefined;
    const abort = new AbortController();
    rpc("graph.version", { graphId, id }, abort.signal).then(
      (content) => setRead({ of, records: recordsOf(content) }),
      () => {
        // The version was deleted: what has changed since is not known, and nothing is marked.
      },
    );
    return () => abort.abort();
  }, [graphId, id, of]);
  return read?.of === of ? read.records : null;
}

/** The checkpoints that lead to the moment, if the state was edited on the way; otherwise none is needed. */
function wayTo(list: readonly CheckpointView[], at: string | undefined): readonly CheckpointView[] {
  if (at === undefined || !list.some(({ source }) => source === "update")) return [];
  const { branch, byId, places } = trackOf(list, at);
  return branch.slice(0, (places.get(at) ?? -1) + 1).flatMap((id) => byId.get(id) ?? []);
}

function readersOf(): (node: string) => ReadonlySet<string> {
  const reads = new Map<string, Set<string>>();
  for (const [key, { readers }] of usageOf(doc, knownKinds()))
    for (const record of readers) {
      const known = reads.get(record);
      if (known) known.add(key);
      else reads.set(record, new Set([key]));
    }
  return (node) => reads.get(`node:${node}`) ?? NOT_READ;
}

export function StaleKeeper() {
  const inDebug = useSession(({ use }) => use === "debug");
  const cursor = useSession((session) => session.cursor);
  const threadId = inDebug ? cursor.threadId : null;
  const { graphId, rev } = useGraphMeta();
  const version = useDocumentVersion();
  const graph = useThreadGraph(threadId, cursor.checkpointId, graphId, rev);
  const records = useRecords(graphId, graph?.moved ? graph.version : undefined);
  const list = useCheckpoints(threadId)?.list;
  const way = useMemo(
    () => (list ? wayTo(list, cursor.checkpointId ?? list[0]?.id) : []),
    [list, cursor.checkpointId],
  );
  useEffect(() => {
    if (records === null && way.length === 0) {
      setStale();
      return undefined;
    }
    const rest = setTimeout(() => {
      const changed = records === null ? NO_CHANGES : diffDocuments(records, doc.records()).records;
      setStale(staleNodes(changed, way, way.length === 0 ? () => NOT_READ : readersOf()));
    }, REST_MS);
    return () => clearTimeout(rest);
  }, [records, way, version]);
  return null;
}
