/** Commits that changed the graph's file: read page by page, and again when the window comes back. */
import { useCallback, useEffect, useState } from "react";
import { useDocumentState } from "../../document/store";
import type { CommitView } from "../../ipc/bindings/CommitView";
import { rpc, RpcProblem } from "../../ipc/client";

export interface History {
  readonly commits: readonly CommitView[];
  /** There are older ones. */
  readonly more: boolean;
  readonly problem: RpcProblem | null;
}

const NONE: History = { commits: [], more: false, problem: null };

/** The commits that were read so far, newest first, and what reads the next page. */
export function useHistory(graphId: string | null): { history: History; readMore(): Promise<void> } {
  const path = useDocumentState((state) => state.path);
  const [history, setHistory] = useState(NONE);
  const load = useCallback(
    async (before: readonly CommitView[], signal?: AbortSignal) => {
      if (graphId === null || path === null) return;
      try {
        const page = await rpc("graph.history", { graphId, offset: before.length }, signal);
        if (!signal?.aborted) setHistory((now) => joined(now, before, page));
      } catch (thrown) {
        const problem = RpcProblem.from(thrown);
        if (!signal?.aborted) setHistory((now) => ({ ...now, problem }));
      }
    },
    [graphId, path],
  );
  useEffect(() => {
    const abort = new AbortController();
    const read = () => void load([], abort.signal);
    setHistory(NONE);
    read();
    window.addEventListener("focus", read);
    return () => {
      abort.abort();
      window.removeEventListener("focus", read);
    };
  }, [load]);
  return { history, readMore: () => load(history.commits) };
}

/** Adds a page to the commits before it. The first page, read again, changes nothing while its newest commit is the same. */
function joined(now: History, before: readonly CommitView[], page: Omit<History, "problem">): History {
  if (before.length === 0 && now.commits.length > 0 && now.commits[0]?.id === page.commits[0]?.id) {
    return { ...now, problem: null };
  }
  // Another graph is shown by now, or its history was read again.
  if (now.commits[0]?.id !== before[0]?.id && before.length > 0) return now;
  // A commit that was made in between moves the pages.
  const known = new Set(before.map(({ id }) => id));
  const commits = [...before, ...page.commits.filter(({ id }) => !known.has(id))];
  return { commits, more: page.more, problem: null };
}
