/** What changed in a thread that asks since somebody last had a hand in it. Nothing when nobody had. */
import { useEffect, useState } from "react";
import { Fold } from "../../components/Fold";
import type { Changes } from "../../ipc/bindings/Changes";
import type { Question } from "../../ipc/bindings/Question";
import { rpc } from "../../ipc/client";
import { fullTime, when } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { Differences } from "../parts/Differences";
import { ProblemNote } from "../run/ProblemNote";
import { asProblem, type ShownProblem } from "../parts/problem";
import { useNow } from "../parts/useNow";

export function ChangedSince({ question: { threadId, checkpointId } }: { question: Question }) {
  const [changes, setChanges] = useState<Changes | null>(null);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const now = useNow(60_000);
  useEffect(() => {
    const abort = new AbortController();
    // The end of another branch has changes of its own.
    const at = { threadId, checkpointId };
    rpc("inbox.changes", at, abort.signal).then(
      (found) => {
        if (!abort.signal.aborted) setChanges(found);
      },
      (thrown: unknown) => {
        if (!abort.signal.aborted) setProblem(asProblem(thrown));
      },
    );
    return () => abort.abort();
    // A thread that asks again has gone on meanwhile.
  }, [threadId, checkpointId]);
  if (problem) return <ProblemNote problem={problem} />;
  const { since, comparison } = changes ?? {};
  if (since === undefined || comparison === undefined) return null;
  const { differences, truncated } = comparison;
  const text = t("debug.since", { time: when(since, now) });
  if (differences.length === 0) return null;
  return (
    <div className="overflow-hidden rounded-md border border-line" data-testid={debugIds.changedSince}>
      <Fold
        head={
          <>
            <span className="text-sm" title={fullTime(since)}>
              {text}
            </span>
            <span className="tabular-nums text-xs text-text-2">
              {tn("debug.compare.differenceOne", "debug.compare.differences", differences.length)}
            </span>
          </>
        }
      >
        {() => (
          <div className="border-t border-line">
            <Differences
              differences={differences}
              left={{ threadId, checkpointId: comparison.left.id }}
              right={{ threadId, checkpointId: null }}
            />
            {truncated && <p className="px-3 py-2 text-xs text-text-2">{t("debug.compare.truncated")}</p>}
          </div>
        )}
      </Fold>
    </div>
  );
}
