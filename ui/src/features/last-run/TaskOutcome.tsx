/** What a task came to: why it failed, what it wrote, where it led. */
import { CopyButton } from "../../debugger/CopyButton";
import { nodeList, readableError } from "../../debugger/format";
import type { TaskView } from "../../ipc/bindings/TaskView";
import { t } from "../../lib/texts";

export function TaskOutcome({ task }: { task: TaskView }) {
  return (
    <div className="mt-2">
      {task.error !== undefined && (
        <div className="rounded-sm bg-failed-soft px-2 py-1.5">
          <div className="flex items-center justify-between text-xs font-semibold text-failed">
            {t("debug.tasks.error")}
            <CopyButton text={task.error} label={t("debug.failure.copy")} size={12} />
          </div>
          <pre className="selectable font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
            {readableError(task.error)}
          </pre>
        </div>
      )}
      {task.result && (
        <div>
          <div className="text-xs text-text-2">{t("debug.tasks.wrote")}</div>
          <pre className="selectable max-h-48 overflow-y-auto rounded-sm bg-surface-2 px-2 py-1 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
            {task.result.value !== undefined
              ? JSON.stringify(task.result.value, null, 2)
              : `${task.result.head ?? ""}…`}
          </pre>
        </div>
      )}
      {task.targets.length > 0 && (
        <p className="mt-1 text-xs text-text-2">
          {t("debug.lastRun.ledTo", { nodes: nodeList(task.targets) })}
        </p>
      )}
    </div>
  );
}
