/** What an expression gives at the cursor: it follows the cursor and the run, and says when it has become another. */
import { useEffect, useRef, useState } from "react";
import { useRuns } from "../../debugger/model/runStore";
import { useRunContext } from "../../debugger/run/run-context";
import { evaluateAt, evaluatedText } from "../../debugger/state/evaluated";
import { useSession } from "../../state/session";

/** A cursor that moves on before this is not evaluated at. */
const PAUSE_MS = 60;

export interface WatchValue {
  readonly text: string;
  readonly failed: boolean;
  /** It was another at the moment that was shown before, in the same thread. */
  readonly changed: boolean;
}

export function useWatchValue(expression: string): WatchValue | null {
  const graphId = useSession((session) => session.graphId);
  const graphKey = useSession((session) => session.graphKey);
  const { threadId, checkpointId } = useSession((session) => session.cursor);
  const shown = useRuns((store) => store.shown);
  const context = useRunContext((store) => (graphKey === null ? undefined : store.given[graphKey]));
  const [value, setValue] = useState<WatchValue | null>(null);
  const before = useRef<{ readonly place: string; readonly text: string } | null>(null);
  useEffect(() => {
    if (graphId === null || threadId === null) {
      setValue(null);
      return;
    }
    const abort = new AbortController();
    const pause = setTimeout(() => {
      const at = { threadId, ...(checkpointId !== null && { checkpointId }) };
      evaluateAt(graphId, expression, at, context, abort.signal).then(
        (answer) => {
          const text = evaluatedText(answer);
          const place = `${threadId}/${expression}`;
          const last = before.current;
          before.current = { place, text };
          setValue({
            text,
            failed: answer.value === undefined,
            changed: last?.place === place && last.text !== text,
          });
        },
        () => {
          // A moment that is gone, or no connection: both are reported elsewhere.
          if (!abort.signal.aborted) setValue(null);
        },
      );
    }, PAUSE_MS);
    return () => {
      abort.abort();
      clearTimeout(pause);
    };
  }, [expression, graphId, threadId, checkpointId, shown, context]);
  return value;
}
