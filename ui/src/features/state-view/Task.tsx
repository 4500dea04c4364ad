/** A task: its state, error, questions, result and time, and what goes on inside when it runs another graph. */
import { useEffect, useRef } from "react";
import { Button } from "../../components/Button";
import { Fold } from "../../components/Fold";
import { InlineMarkdown } from "../../components/Markdown";
import { Attempts } from "../../debugger/run/Attempts";
import { CopyButton } from "../../debugger/parts/CopyButton";
import { isObject } from "../../debugger/parts/diff";
import { duration, nodeList, nodeName, readableError, shortId } from "../../debugger/parts/format";
import { TaskExchanges } from "../../debugger/exchanges/Exchanges";
import { json, Pre, viewText } from "../../debugger/parts/Pre";
import { NotRetried } from "../../debugger/run/NotRetried";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { stepTask } from "../../debugger/run/actions";
import { useControls } from "../../debugger/run/useControls";
import { notRetried } from "../../debugger/model/settled";
import { StatusMark, statusText } from "../../debugger/parts/StatusMark";
import { useWithin } from "../../debugger/timeline/useWithin";
import type { TaskView } from "../../ipc/bindings/TaskView";
import type { WithinStep } from "../../ipc/bindings/WithinStep";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { TaskRecord } from "./TaskRecord";
import { useSession } from "../../state/session";

export function Task({
  threadId,
  task,
  nested = false,
}: {
  threadId: string;
  task: TaskView;
  /** It belongs to a graph inside the one on the canvas. */
  nested?: boolean;
}) {
  const failures = task.attempts?.length ?? 0;
  const selected = useSession((session) => session.cursor.taskId === task.id);
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (selected) row.current?.scrollIntoView({ block: "nearest" });
  }, [selected]);
  return (
    <li
      ref={row}
      className="border-t border-line data-selected:bg-accent-soft"
      data-selected={selected || undefined}
      data-testid={debugIds.task}
      data-node={task.node}
      data-status={task.status}
    >
      <Fold
        key={selected ? "selected" : ""}
        begin={selected || task.status === "failed"}
        head={
          <>
            <StatusMark status={task.status} size={14} />
            <span className="truncate text-sm font-medium">{nodeName(task.node)}</span>
            {task.status === "done" && failures > 0 && (
              <span className="shrink-0 text-2xs text-text-2">
                {tn("debug.attempts.one", "debug.attempts.many", failures)}
              </span>
            )}
            {task.targets.length > 0 && (
              <span className="min-w-0 truncate text-xs text-text-2">→ {nodeList(task.targets)}</span>
            )}
            {task.millis !== undefined && (
              <span className="tabular-nums ml-auto shrink-0 text-2xs text-text-3">
                {duration(task.millis)}
              </span>
            )}
          </>
        }
      >
        {() => <TaskDetail threadId={threadId} task={task} nested={nested} />}
      </Fold>
    </li>
  );
}

/** The button that runs a task of the open step by itself. */
function Alone({ task }: { task: TaskView }) {
  const { past, stepOff } = useControls();
  if (past || stepOff !== null) return null;
  return (
    <Button
      size="small"
      className="mt-1"
      onClick={() => void stepTask(task.id)}
      data-testid={debugIds.stepTask}
    >
      {t("breakpoints.stepTask")}
    </Button>
  );
}

function TaskDetail({ threadId, task, nested }: { threadId: string; task: TaskView; nested: boolean }) {
  const select = useSession((session) => session.select);
  const result = task.result;
  const done = task.status === "done";
  return (
    <div className="px-3 pb-2 pl-9 text-xs">
      <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-1">
        <dt className="text-text-2">{t("debug.tasks.state")}</dt>
        <dd>{statusText(task.status)}</dd>
        <dt className="text-text-2">{t("debug.tasks.id")}</dt>
        <dd className="flex items-center gap-1 font-mono" title={task.id}>
          {shortId(task.id)}
          <CopyButton text={task.id} label={t("debug.tasks.copyId")} size={12} />
        </dd>
      </dl>
      {task.status === "waiting" && !nested && <Alone task={task} />}
      <Attempts attempts={task.attempts} />
      {task.error !== undefined && (
        <div className={`mt-1 rounded-sm px-2 py-1.5 ${done ? "bg-surface-3" : "bg-failed-soft"}`}>
          <div className="flex items-center justify-between">
            <span className={`font-semibold ${done ? "text-text-2" : "text-failed"}`}>
              {t(done ? "debug.tasks.failedBefore" : "debug.tasks.error")}
            </span>
            <CopyButton text={task.error} label={t("debug.failure.copy")} size={12} />
          </div>
          <Pre height="whole">{readableError(task.error)}</Pre>
          {!done && <NotRetried node={task.node} reason={notRetried(task)} nested={nested} />}
        </div>
      )}
      {task.interrupts.map((interrupt) => (
        <div key={interrupt.id} className="mt-1 rounded-sm bg-asking-soft px-2 py-1.5">
          <span className="font-semibold text-asking">{t("debug.tasks.asks")}</span>
          {isObject(interrupt.value) && typeof interrupt.value.question === "string" ? (
            <p className="select-text text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
              <InlineMarkdown text={interrupt.value.question} />
            </p>
          ) : (
            <Pre>{json(interrupt.value)}</Pre>
          )}
        </div>
      ))}
      {result && (
        <div className="mt-1">
          <div className="flex items-center justify-between">
            <span className="font-semibold text-text-2">{t("debug.tasks.wrote")}</span>
            {result.value !== undefined && (
              <CopyButton text={() => json(result.value)} label={t("debug.copyValue")} size={12} />
            )}
          </div>
          <Pre>{viewText(result)}</Pre>
        </div>
      )}
      {task.record && <TaskRecord record={task.record} />}
      <TaskExchanges threadId={threadId} taskId={task.id} />
      {task.within !== undefined && <Within threadId={threadId} ns={task.within} />}
      {!nested && (
        <button
          type="button"
          className="mt-1 text-accent-text underline underline-offset-2"
          onClick={() => select({ nodes: [task.node] })}
        >
          {t("debug.tasks.showNode")}
        </button>
      )}
    </div>
  );
}

/** The steps of the graph that a task runs, oldest first. */
function Within({ threadId, ns }: { threadId: string; ns: string }) {
  const { steps, more, problem, loading, older, again } = useWithin(threadId, ns);
  return (
    <section className="mt-2" aria-label={t("debug.within")} data-testid={debugIds.within}>
      <h4 className="font-semibold text-text-2">
        {steps.length === 0
          ? t("debug.within")
          : `${t("debug.within")}: ${tn("debug.within.one", "debug.within.many", steps.length)}${more ? "+" : ""}`}
      </h4>
      {problem && <ProblemNote problem={problem} onRetry={again} />}
      {steps.length === 0 && !problem && (
        <p className="text-text-2">{t(loading ? "debug.loading" : "debug.within.none")}</p>
      )}
      {more && (
        <Button size="small" variant="ghost" busy={loading} onClick={older}>
          {t("debug.within.older")}
        </Button>
      )}
      <ol className="mt-1 border-l border-line">
        {[...steps].reverse().map((step) => (
          <Step key={step.checkpoint.id} threadId={threadId} step={step} />
        ))}
      </ol>
    </section>
  );
}

function Step({ threadId, step }: { threadId: string; step: WithinStep }) {
  const keys = Object.keys(step.state);
  return (
    <li data-testid={debugIds.withinStep}>
      <Fold
        small
        head={
          <>
            <span className="tabular-nums">
              {step.checkpoint.step < 0
                ? t("debug.within.input")
                : t("debug.within.step", { step: step.checkpoint.step })}
            </span>
            <span className="truncate">
              {step.tasks.length === 0
                ? t("debug.within.end")
                : t("debug.within.state", { keys: keys.join(", ") })}
            </span>
          </>
        }
      >
        {() => (
          <dl className="px-3 pb-1 pl-7">
            {keys.length === 0 && <dd className="text-text-2">{t("debug.within.empty")}</dd>}
            {keys.map((key) => (
              <div key={key}>
                <dt className="font-mono text-text-2">{key}</dt>
                <dd>
                  <Pre>{viewText(step.state[key])}</Pre>
                </dd>
              </div>
            ))}
          </dl>
        )}
      </Fold>
      <ul>
        {step.tasks.map((task) => (
          <Task key={task.id} threadId={threadId} task={task} nested />
        ))}
      </ul>
    </li>
  );
}
