/** What went wrong, in place, with what to do about it. */
import { CircleAlert } from "lucide-react";
import { Button } from "../../components/Button";
import { InlineCode } from "../../components/InlineCode";
import { problemText, t } from "../../lib/texts";
import { type ShownProblem } from "../parts/problem";
import { useRuns } from "../model/runStore";

export function ProblemNote({ problem, onRetry }: { problem: ShownProblem; onRetry?: () => void }) {
  // Nothing can be had while the host is away, and everything is read again when it is back.
  const away = useRuns((store) => store.away);
  const { message, remedy } = problemText(problem);
  // What a program wrote is read in its own lines.
  const end = message.indexOf("\n");
  const [said, lines] = end < 0 ? [message, ""] : [message.slice(0, end), message.slice(end + 1).trim()];
  return (
    <div className="m-2 flex gap-2 rounded-md bg-failed-soft px-3 py-2 text-sm" role="alert">
      <CircleAlert size={16} className="mt-0.5 shrink-0 text-failed" aria-hidden />
      <div className="select-text min-w-0 flex-1 [overflow-wrap:anywhere]">
        <p>
          <InlineCode text={said} />
        </p>
        {lines !== "" && (
          <pre className="my-1 max-h-40 overflow-auto rounded-sm bg-surface-2 px-2 py-1 font-mono text-2xs/4 whitespace-pre text-text">
            {lines}
          </pre>
        )}
        {remedy !== undefined && (
          <p className="text-text-2">
            <InlineCode text={remedy} />
          </p>
        )}
        {onRetry && !away && (
          <Button size="small" className="mt-2" onClick={onRetry}>
            {t("debug.retry")}
          </Button>
        )}
      </div>
    </div>
  );
}
