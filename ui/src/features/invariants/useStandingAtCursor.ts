/** Asks how the invariants of the open graph stand at the cursor; follows the cursor, the run and the document. */
import { useEffect, useSyncExternalStore } from "react";
import { useRuns } from "../../debugger/model/runStore";
import { setStanding } from "../../debugger/state/invariants";
import { type Invariant, keepInvariants } from "../../document/invariants";
import { doc } from "../../document/store";
import { rpc } from "../../ipc/client";
import { useSession } from "../../state/session";

/** A cursor that moves on before this is not asked about. */
const PAUSE_MS = 80;

const invariantsNow = keepInvariants(doc);
const onChange = (listener: () => void) => doc.subscribe("any", listener);

/** The invariants of the document, in its order. */
export function useInvariants(): readonly Invariant[] {
  return useSyncExternalStore(onChange, invariantsNow);
}

export function useStandingAtCursor(invariants: readonly Invariant[]): void {
  const graphId = useSession((session) => session.graphId);
  const { threadId, checkpointId } = useSession((session) => session.cursor);
  const shown = useRuns((store) => store.shown);
  const rules = JSON.stringify(invariants.map(({ id, must }) => [id, must]));
  useEffect(() => {
    if (graphId === null || threadId === null || rules === "[]") {
      setStanding([]);
      return;
    }
    const abort = new AbortController();
    const pause = setTimeout(() => {
      const at = { graphId, threadId, ...(checkpointId !== null && { checkpointId }) };
      rpc("invariants.at", at, abort.signal).then(
        (answer) => setStanding(answer.invariants),
        () => {
          // An expression that is being written, a moment that is gone: both are reported elsewhere.
          if (!abort.signal.aborted) setStanding([]);
        },
      );
    }, PAUSE_MS);
    return () => {
      abort.abort();
      clearTimeout(pause);
    };
  }, [graphId, threadId, checkpointId, shown, rules]);
}
