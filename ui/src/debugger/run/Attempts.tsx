/** Attempts at a task that failed before it ended: why, and what came after. */
import { RotateCcw } from "lucide-react";
import type { AttemptView } from "../../ipc/bindings/AttemptView";
import { duration } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { readableError } from "../parts/format";

/** What came after an attempt that failed. */
export const afterAttempt = (attempt: AttemptView): string =>
  attempt.waitMillis === undefined
    ? t("debug.attempts.fallback")
    : t("debug.attempts.again", { time: duration(attempt.waitMillis) });

export function Attempts({ attempts = [] }: { attempts?: readonly AttemptView[] | undefined }) {
  if (attempts.length === 0) return null;
  return (
    <section className="mt-1 text-xs" data-testid={debugIds.attempts}>
      <h4 className="font-semibold text-text-2">
        {tn("debug.attempts.one", "debug.attempts.many", attempts.length)}
      </h4>
      <ol className="mt-0.5 flex flex-col gap-1 border-l border-line pl-2">
        {attempts.map((attempt, index) => (
          <li key={index}>
            <p className="select-text whitespace-pre-wrap [overflow-wrap:anywhere]">
              <span className="tabular-nums text-text-3">{attempt.attempt}.</span>{" "}
              {readableError(attempt.error)}
            </p>
            <p className="tabular-nums flex items-center gap-1 text-text-2">
              <RotateCcw size={11} aria-hidden />
              {afterAttempt(attempt)}
            </p>
          </li>
        ))}
      </ol>
    </section>
  );
}
