/** A watch over the steps of the branch: numbers as a line, and a mark at each step where the value became another. */
import { useEffect, useMemo, useState } from "react";
import { useRuns } from "../../debugger/model/runStore";
import { plain } from "../../debugger/parts/format";
import type { WatchHistory } from "../../ipc/bindings/WatchHistory";
import { rpc } from "../../ipc/client";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { drawn } from "./chart";

const HEIGHT = 28;
/** A run that goes on is asked about again so often at most. */
const PAUSE_MS = 400;

export function WatchChart({ expression }: { expression: string }) {
  const { threadId, checkpointId } = useSession((session) => session.cursor);
  const head = useRuns((store) =>
    threadId === null ? undefined : store.checkpoints.get(threadId)?.list[0]?.id,
  );
  const [history, setHistory] = useState<WatchHistory | null>(null);
  useEffect(() => {
    if (threadId === null) {
      setHistory(null);
      return;
    }
    const abort = new AbortController();
    const pause = setTimeout(() => {
      rpc("watch.history", { threadId, expression }, abort.signal).then(setHistory, () => {
        // The value beside it says what is wrong with the expression.
        if (!abort.signal.aborted) setHistory(null);
      });
    }, PAUSE_MS);
    return () => {
      abort.abort();
      clearTimeout(pause);
    };
  }, [threadId, expression, head]);
  const picture = useMemo(() => (history === null ? null : drawn(history)), [history]);
  if (history === null || picture === null || history.changes.length < 2) return null;
  const at = (x: number) => `${(x * 100).toFixed(2)}%`;
  return (
    <span
      className="relative my-0.5 block h-7 w-full"
      role="img"
      aria-label={t("watches.chart", { n: history.changes.length - 1 })}
      data-testid={debugIds.watchChart}
    >
      {picture.line !== null && (
        <svg
          className="absolute inset-0 block size-full overflow-visible"
          viewBox={`0 0 100 ${HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden
        >
          <polyline
            points={picture.line
              .map(({ x, y }) => `${(x * 100).toFixed(2)},${(3 + y * (HEIGHT - 10)).toFixed(2)}`)
              .join(" ")}
            className="fill-none stroke-accent stroke-[1.5]"
            vectorEffect="non-scaling-stroke"
          />
        </svg>
      )}
      <span className="absolute inset-x-0 bottom-0 h-px bg-line" />
      {picture.marks.map(({ x, change }) => (
        <button
          key={change.checkpointId}
          type="button"
          tabIndex={-1}
          className="absolute bottom-0 h-2.5 w-1 -translate-x-1/2 cursor-pointer border-0 bg-text-3 bg-clip-content px-px hover:bg-accent aria-current:bg-accent"
          style={{ left: at(x) }}
          aria-current={change.checkpointId === checkpointId || undefined}
          title={t("watches.change", {
            step: change.step,
            value:
              change.result.message ??
              plain(change.result.value?.value ?? change.result.value?.head ?? null, 80),
          })}
          aria-label={t("debug.stepN", { n: change.step })}
          onClick={() => useSession.getState().setCursor({ checkpointId: change.checkpointId })}
          data-testid={debugIds.watchChange}
        />
      ))}
    </span>
  );
}
