/** What a version of the open graph holds, read when it is shown. */
import { useEffect, useState } from "react";
import { asProblem, type ShownProblem } from "../debugger/parts/problem";
import type { DocumentRecord } from "../document/document";
import type { Json } from "../document/types";
import type { VersionContent } from "../ipc/bindings/VersionContent";
import { rpc } from "../ipc/client";

export interface ReadVersion {
  readonly content: VersionContent | null;
  readonly problem: ShownProblem | null;
}

export const recordsOf = (content: VersionContent): DocumentRecord[] =>
  content.records.map(({ id, value }) => ({ id, value: value as Json }));

/** Nothing is read without an id. */
export function useVersion(graphId: string, id: string | undefined): ReadVersion {
  const [read, setRead] = useState<ReadVersion & { of: string }>({ of: "", content: null, problem: null });
  const of = `${graphId} ${id}`;
  useEffect(() => {
    if (id === undefined) return undefined;
    const abort = new AbortController();
    rpc("graph.version", { graphId, id }, abort.signal).then(
      (content) => (abort.signal.aborted ? undefined : setRead({ of, content, problem: null })),
      (thrown: unknown) => {
        if (!abort.signal.aborted) setRead({ of, content: null, problem: asProblem(thrown) });
      },
    );
    return () => abort.abort();
  }, [graphId, id, of]);
  return read.of === of ? read : { content: null, problem: null };
}
