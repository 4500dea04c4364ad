/**
 * A run that failed: where, why in full, and the two ways on — put the cause right (graph or state) and continue, or
 * just try again. Nothing is lost: what finished before the failure is not run again.
 */
import { CircleX, RotateCcw, Settings2 } from "lucide-react";
import { useMemo } from "react";
import { Button } from "../../components/Button";
import { quickFixOf } from "../../document/quick-fixes";
import type { FailureView } from "../../ipc/bindings/FailureView";
import { useSession } from "../../state/session";
import { listed } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { problemText, t } from "../../lib/texts";
import { continueThread } from "./actions";
import { isPast } from "./situation";
import { CopyButton } from "../parts/CopyButton";
import { useGuardOf } from "../parts/useGuard";
import { useEdits } from "../state/edits";
import { readableError } from "../parts/format";
import { NotRetried } from "./NotRetried";
import { Pre } from "../parts/Pre";
import { ProblemNote } from "./ProblemNote";
import { runsElsewhere, useStatus } from "../model/status";
import { useLive, useRuns } from "../model/runStore";
import { notRetried } from "../model/settled";

interface FailedTask {
  readonly node: string;
  readonly error: string;
  readonly failure: FailureView | undefined;
  readonly notRetried: string | undefined;
}

export function RunProblem() {
  const cursor = useSession((session) => session.cursor);
  const status = useStatus(cursor.threadId);
  const elsewhere = useRuns((store) => runsElsewhere(store, cursor.threadId));
  const past = useRuns((store) => isPast(cursor, store));
  const live = useLive(cursor.threadId);
  const shown = useRuns((store) => store.shown);
  const pending = useEdits((edits) => edits.pending !== null);
  const failed = cursor.threadId !== null && !past && status === "failed";
  // It comes by itself, to where something else was pressed a moment ago.
  const guarded = useGuardOf(failed);
  const failures = useMemo(() => {
    const found = new Map<string, FailedTask>();
    if (shown && shown.place.threadId === cursor.threadId) {
      for (const task of shown.view.tasks) {
        if (task.status !== "failed") continue;
        const { node, error = "", failure } = task;
        found.set(task.id, { node, error, failure, notRetried: notRetried(task) });
      }
    }
    for (const task of live?.tasks.values() ?? []) {
      if (task.status !== "failed") continue;
      const { node, error = "", failure } = task;
      const reason = notRetried(task) ?? found.get(task.id)?.notRetried;
      found.set(task.id, { node, error, failure, notRetried: reason });
    }
    return [...found.values()];
  }, [shown, live, cursor.threadId]);
  if (cursor.threadId === null || past) return null;
  const threadId = cursor.threadId;
  const superseded = live?.run?.problem?.code === "superseded" ? live.run.problem : undefined;
  if (superseded && (status !== "running" || elsewhere)) return <ProblemNote problem={superseded} />;
  if (status !== "failed") return null;
  const raw = live?.run?.status === "failed" ? live.run.problem : undefined;
  const problem = raw && problemText(raw);
  const [first] = failures;
  const message = readableError(first?.error || problem?.message || t("debug.failure.unknown"));
  const remedy = problem?.remedy;
  const mend = first?.failure && quickFixOf(first.failure.class);
  const lasts = first?.failure?.retryable === false;
  return (
    <div
      className="max-h-[45%] shrink-0 overflow-y-auto border-b border-line bg-failed-soft px-3 py-2"
      role="alert"
      data-testid={debugIds.runProblem}
      data-guarded={guarded || undefined}
    >
      <div className="flex items-center gap-2">
        <CircleX size={16} className="shrink-0 text-failed" aria-hidden />
        <h3 className="min-w-0 flex-1 truncate text-sm font-semibold">
          {first ? t("debug.failure.in", { node: first.node }) : t("debug.failure.run")}
        </h3>
        <CopyButton text={message} label={t("debug.failure.copy")} />
      </div>
      <Pre height="short" className="mt-1">
        {message}
      </Pre>
      {first && <NotRetried node={first.node} reason={first.notRetried} />}
      {failures.length > 1 && (
        <p className="mt-1 text-xs text-text-2">
          {t("debug.failure.others", {
            nodes: listed(failures.slice(1).map((each) => each.node)),
          })}
        </p>
      )}
      <p className="mt-1 text-xs text-text-2">
        {remedy ?? t(lasts ? "debug.failure.lasts" : "debug.failure.how")}
      </p>
      <div className="mt-2 flex flex-wrap gap-2">
        <Button
          size="small"
          icon={<RotateCcw size={13} aria-hidden />}
          disabled={pending || guarded}
          onClick={() => void continueThread(threadId)}
        >
          {t("debug.failure.retry")}
        </Button>
        {mend && (
          <Button size="small" variant="ghost" disabled={guarded} onClick={mend.run}>
            {mend.label}
          </Button>
        )}
        {first && (
          <Button
            size="small"
            variant="ghost"
            disabled={guarded}
            icon={<Settings2 size={13} aria-hidden />}
            onClick={() => {
              const session = useSession.getState();
              session.select({ nodes: [first.node] });
              session.showTab("right", "inspector");
            }}
          >
            {t("debug.failure.openNode", { node: first.node })}
          </Button>
        )}
      </div>
    </div>
  );
}
