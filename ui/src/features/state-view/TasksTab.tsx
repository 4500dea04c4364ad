/** What led to the checkpoint and what it leads to: each task with its state, error, questions, result and time. */
import { ChevronDown, ChevronRight } from "lucide-react";
import { useState } from "react";
import { CopyButton } from "../../debugger/CopyButton";
import { isObject } from "../../debugger/diff";
import { duration, nodeList, nodeName, preview, readableError, shortId } from "../../debugger/format";
import { useLive } from "../../debugger/runStore";
import type { Loaded } from "../../debugger/snapshots";
import { StatusMark, statusText } from "../../debugger/StatusMark";
import type { TaskView } from "../../ipc/bindings/TaskView";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";

export function TasksTab({ loaded }: { loaded: Loaded }) {
  const { view, place } = loaded;
  const live = useLive(place.checkpointId === null ? place.threadId : null);
  const step = view.checkpoint?.step ?? -1;
  // Live states are fresher than the snapshot while a step is being worked on.
  const tasks = view.tasks.map((task): TaskView => {
    const fresh = live?.tasks.get(task.id);
    if (!fresh || fresh.status === task.status) return task;
    return {
      ...task,
      status: fresh.status,
      ...(fresh.error !== undefined && { error: fresh.error }),
      ...(fresh.startedAt !== undefined &&
        fresh.endedAt !== undefined && { millis: Math.round(fresh.endedAt - fresh.startedAt) }),
    };
  });
  return (
    <div className="min-h-0 flex-1 overflow-y-auto pb-4" data-testid={debugIds.tasks}>
      <Group title={t("debug.tasks.next", { step: step + 1 })} tasks={tasks} empty={t("debug.nothingNext")} />
      <Group
        title={t("debug.tasks.previous", { step })}
        tasks={view.previousTasks}
        empty={t("debug.tasks.nonePrevious")}
      />
    </div>
  );
}

function Group({ title, tasks, empty }: { title: string; tasks: readonly TaskView[]; empty: string }) {
  return (
    <section>
      <h3 className="px-3 pt-3 pb-1 text-xs font-semibold text-text-2">{title}</h3>
      {tasks.length === 0 && <p className="px-3 text-xs text-text-2">{empty}</p>}
      <ul>
        {tasks.map((task) => (
          <Task key={task.id} task={task} />
        ))}
      </ul>
    </section>
  );
}

function Task({ task }: { task: TaskView }) {
  const [open, setOpen] = useState(task.status === "failed");
  const select = useSession((session) => session.select);
  const Chevron = open ? ChevronDown : ChevronRight;
  const result = task.result;
  return (
    <li
      className="border-t border-line"
      data-testid={debugIds.task}
      data-node={task.node}
      data-status={task.status}
    >
      <div className="flex h-7 items-center gap-1.5 px-2 hover:bg-surface-3">
        <button
          type="button"
          className="flex min-w-0 flex-1 items-center gap-1.5 text-left"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          <Chevron size={14} className="shrink-0 text-text-3" aria-hidden />
          <StatusMark status={task.status} size={14} />
          <span className="truncate text-sm font-medium">{nodeName(task.node)}</span>
          {task.targets.length > 0 && (
            <span className="min-w-0 truncate text-xs text-text-2">→ {nodeList(task.targets)}</span>
          )}
        </button>
        {task.millis !== undefined && (
          <span className="tabular shrink-0 text-2xs text-text-3">{duration(task.millis)}</span>
        )}
      </div>
      {open && (
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
          {task.error !== undefined && (
            <div className="mt-1 rounded-sm bg-failed-soft px-2 py-1.5">
              <div className="flex items-center justify-between">
                <span className="font-semibold text-failed">{t("debug.tasks.error")}</span>
                <CopyButton text={task.error} label={t("debug.failure.copy")} size={12} />
              </div>
              <pre className="selectable font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
                {readableError(task.error)}
              </pre>
            </div>
          )}
          {task.interrupts.map((interrupt) => (
            <div key={interrupt.id} className="mt-1 rounded-sm bg-asking-soft px-2 py-1.5">
              <span className="font-semibold text-asking">{t("debug.tasks.asks")}</span>
              {isObject(interrupt.value) && typeof interrupt.value.question === "string" ? (
                <p className="selectable text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
                  {interrupt.value.question}
                </p>
              ) : (
                <pre className="selectable max-h-48 overflow-y-auto font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
                  {JSON.stringify(interrupt.value, null, 2)}
                </pre>
              )}
            </div>
          ))}
          {result && (
            <div className="mt-1">
              <div className="flex items-center justify-between">
                <span className="font-semibold text-text-2">{t("debug.tasks.wrote")}</span>
                {result.value !== undefined && (
                  <CopyButton
                    text={() => JSON.stringify(result.value, null, 2)}
                    label={t("debug.copyValue")}
                    size={12}
                  />
                )}
              </div>
              <pre className="selectable max-h-64 overflow-y-auto font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
                {result.value !== undefined
                  ? JSON.stringify(result.value, null, 2)
                  : `${result.head ?? preview(result.kind)}…`}
              </pre>
            </div>
          )}
          <button
            type="button"
            className="mt-1 text-accent-text underline underline-offset-2"
            onClick={() => select({ nodes: [task.node] })}
          >
            {t("debug.tasks.showNode")}
          </button>
        </div>
      )}
    </li>
  );
}
