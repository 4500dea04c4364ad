/** What a task came to: why it failed, what it wrote, where it led. */
import { Attempts } from "../../debugger/run/Attempts";
import { CopyButton } from "../../debugger/parts/CopyButton";
import { nodeList, readableError } from "../../debugger/parts/format";
import { Pre, viewText } from "../../debugger/parts/Pre";
import type { TaskView } from "../../ipc/bindings/TaskView";
import { t } from "../../lib/texts";

export function TaskOutcome({ task }: { task: TaskView }) {
  return (
    <div className="mt-2">
      <Attempts attempts={task.attempts} />
      {task.error !== undefined && (
        <div className="rounded-sm bg-failed-soft px-2 py-1.5">
          <div className="flex items-center justify-between text-xs font-semibold text-failed">
            {t("debug.tasks.error")}
            <CopyButton text={task.error} label={t("debug.failure.copy")} size={12} />
          </div>
          <Pre height="whole">{readableError(task.error)}</Pre>
        </div>
      )}
      {task.result && (
        <div>
          <div className="text-xs text-text-2">{t("debug.tasks.wrote")}</div>
          <Pre tone="plain">{viewText(task.result)}</Pre>
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
