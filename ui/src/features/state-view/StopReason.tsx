/** The sentence that says where the thread's run stopped, and why. */
import { Octagon } from "lucide-react";
import { Button } from "../../components/Button";
import { InlineCode } from "../../components/InlineCode";
import { editBreakpoint } from "../../debugger/run/breakpoint-dialog";
import { pointId, useBreakpoints } from "../../debugger/run/breakpoints";
import { lastRun, useStatus } from "../../debugger/model/status";
import { useLive, useThread } from "../../debugger/model/runStore";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";

export function StopReason({ threadId }: { threadId: string }) {
  const run = lastRun(useThread(threadId), useLive(threadId));
  const status = useStatus(threadId);
  const points = useBreakpoints();
  const stop = run?.stop;
  if (stop === undefined || (status !== "paused" && status !== "asking")) return null;
  const point = points.find((each) => pointId(each) === stop.breakpoint);
  return (
    <div
      className="flex items-start gap-2 border-b border-line bg-paused-soft px-3 py-2 text-xs"
      role="status"
      data-testid={debugIds.stopReason}
    >
      <Octagon size={14} className="mt-px shrink-0 text-paused" aria-hidden />
      <p className="min-w-0 flex-1 select-text [overflow-wrap:anywhere]">
        <InlineCode
          text={
            stop.within === ""
              ? t("breakpoints.stopped", { reason: stop.reason })
              : t("breakpoints.stoppedIn", { path: stop.within, reason: stop.reason })
          }
        />
      </p>
      {point !== undefined && (
        <Button size="small" variant="ghost" onClick={() => editBreakpoint(point)}>
          {t("breakpoints.edit")}
        </Button>
      )}
    </div>
  );
}
