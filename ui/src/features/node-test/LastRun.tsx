/** For one node at the cursor: how it stands, how often it ran, what it wrote or why it failed; and its breakpoints. */
import { memo, useMemo } from "react";
import { Button } from "../../components/Button";
import { Switch } from "../../components/Switch";
import {
  enableBreakpoint,
  plainPoint,
  pointId,
  toggleBreakpoint,
  useBreakpoints,
} from "../../debugger/run/breakpoints";
import { TaskExchanges } from "../../debugger/exchanges/Exchanges";
import { useNodeOverlay } from "../../debugger/overlay/overlay";
import { Pre } from "../../debugger/parts/Pre";
import { askForTasks } from "../../debugger/state/tasks-asked";
import { useRuns } from "../../debugger/model/runStore";
import { StatusMark, statusText } from "../../debugger/parts/StatusMark";
import type { TaskView } from "../../ipc/bindings/TaskView";
import { duration } from "../../lib/intl";
import { debugIds, taskIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { NodeTest } from "./NodeTest";
import { TaskOutcome } from "./TaskOutcome";

/** Tasks whose outcome stands here; all of them are on the page of the node. */
const FEW = 2;

export const LastRun = memo(function LastRun({ nodeId }: { nodeId: string }) {
  const threadId = useSession((session) => session.cursor.threadId);
  const overlay = useNodeOverlay(nodeId);
  const shown = useRuns((store) => store.shown);
  const tasks = useMemo((): readonly TaskView[] => {
    if (!shown || shown.place.threadId !== threadId) return [];
    const of = (list: readonly TaskView[]) => list.filter((task) => task.node === nodeId);
    const current = of(shown.view.tasks).filter((task) => task.status !== "waiting");
    return current.length > 0 ? current : of(shown.view.previousTasks);
  }, [shown, threadId, nodeId]);
  return (
    <section className="flex flex-col gap-3" aria-label={t("debug.lastRun")} data-testid={debugIds.lastRun}>
      <Breakpoints nodeId={nodeId} />
      <div>
        <h3 className="text-xs font-semibold text-text-2">{t("debug.lastRun")}</h3>
        {threadId === null || (overlay.state === "idle" && tasks.length === 0) ? (
          <p className="mt-1 text-xs text-text-2">
            {threadId === null ? t("debug.lastRun.noThread") : t("debug.lastRun.never")}
          </p>
        ) : (
          <p className="tabular-nums mt-1 flex items-center gap-2 text-sm">
            {overlay.state !== "idle" && overlay.state !== "next" && (
              <StatusMark status={overlay.state} size={14} />
            )}
            {overlay.state === "next"
              ? t("debug.lastRun.next")
              : overlay.state === "idle"
                ? ""
                : statusText(overlay.state)}
            {overlay.runs > 0 && (
              <span className="text-text-2">{tn("debug.runsOne", "debug.runs", overlay.runs)}</span>
            )}
            {overlay.millis !== undefined && <span className="text-text-2">{duration(overlay.millis)}</span>}
          </p>
        )}
        {overlay.text !== undefined && (
          <Pre height="short" tone="plain" className="mt-1">
            {overlay.text}
          </Pre>
        )}
        {threadId !== null &&
          tasks.slice(0, FEW).map((task) => (
            <div key={task.id}>
              <TaskOutcome task={task} />
              <TaskExchanges threadId={threadId} taskId={task.id} />
            </div>
          ))}
        {tasks.length > 0 && (
          <Button
            size="small"
            className="mt-2"
            onClick={() => {
              const session = useSession.getState();
              session.setUse("debug");
              session.showTab("right", "state", "debug");
              askForTasks();
            }}
            data-testid={taskIds.lastRunTasks}
          >
            {tn("debug.lastRun.task", "debug.lastRun.tasks", tasks.length)}
          </Button>
        )}
      </div>
      <NodeTest key={nodeId} nodeId={nodeId} />
    </section>
  );
});

function Breakpoints({ nodeId }: { nodeId: string }) {
  const points = useBreakpoints();
  const toggle = (when: "before" | "after") => {
    const point = plainPoint(points, nodeId, when);
    // A switched-off breakpoint is switched on again rather than removed.
    if (point && !point.enabled) enableBreakpoint(pointId(point), true);
    else toggleBreakpoint(nodeId, when);
  };
  return (
    <div>
      <h3 className="text-xs font-semibold text-text-2">{t("debug.breakpoints")}</h3>
      {(["before", "after"] as const).map((when) => (
        <label key={when} className="mt-1 flex items-center justify-between gap-2 text-sm">
          {t(when === "before" ? "debug.breakpoints.stopBefore" : "debug.breakpoints.stopAfter")}
          <Switch
            checked={plainPoint(points, nodeId, when)?.enabled === true}
            onChange={() => toggle(when)}
            aria-label={t(when === "before" ? "debug.breakpoints.stopBefore" : "debug.breakpoints.stopAfter")}
          />
        </label>
      ))}
    </div>
  );
}
