/** One task on a page of its own: what it is called, which visit of its node it is, and everything that is known of it. */
import { ArrowLeft, GitFork, Pin, PinOff } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/Button";
import { sum } from "../../debugger/exchanges/exchange-text";
import { useExchanges } from "../../debugger/exchanges/useExchanges";
import { useOffOnlyRead } from "../../debugger/model/only-read";
import { CopyAnswer } from "../../debugger/parts/CopyAnswer";
import { nodeList, nodeName } from "../../debugger/parts/format";
import { pinOutput, unpin, usePin } from "../../debugger/run/pins";
import { StatusMark, statusText } from "../../debugger/parts/StatusMark";
import { reportOf } from "../../debugger/exchanges/task-report";
import { useTaskDetail } from "../../debugger/state/useTaskDetail";
import { useDocumentState } from "../../document/store";
import type { ExchangeView } from "../../ipc/bindings/ExchangeView";
import type { TaskDetail } from "../../ipc/bindings/TaskDetail";
import type { TaskView } from "../../ipc/bindings/TaskView";
import { count, duration, money } from "../../lib/intl";
import { debugIds, taskIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { RerunDialog } from "./RerunDialog";
import { TaskBody } from "./Task";
import { VisitPicker } from "./Visits";

interface Props {
  readonly threadId: string;
  readonly task: TaskView;
  /** The checkpoint that its step began from. */
  readonly from: string;
  readonly step: number;
  readonly back: string;
  onBack(): void;
}

/** How it stands, how long it took, what it asked models for. */
function facts(task: TaskView, exchanges: readonly ExchangeView[], detail: TaskDetail | null): string {
  const calls = exchanges.length > 0 ? exchanges : (detail?.spans ?? []).flatMap((span) => span.calls ?? []);
  const all = sum(calls);
  const { input, output } = all;
  return [
    statusText(task.status),
    ...(task.millis === undefined ? [] : [duration(task.millis)]),
    ...(input + output > 0 ? [t("trace.tokens", { input: count(input), output: count(output) })] : []),
    ...(all.cost ? [...all.cost].map(([currency, amount]) => money(amount, currency)) : []),
  ].join(" · ");
}

export function TaskPage({ threadId, task, from, step, back, onBack }: Props) {
  const read = useTaskDetail({ threadId, from, taskId: task.id }, task.status);
  const exchanges = useExchanges(threadId, task.id);
  const [rerun, setRerun] = useState(false);
  const off = useOffOnlyRead();
  return (
    <article
      className="flex min-h-0 flex-1 flex-col"
      aria-label={`${nodeName(task.node)}, ${t("debug.stepN", { n: step })}`}
      data-testid={debugIds.task}
      data-node={task.node}
      data-status={task.status}
      data-selected
    >
      <header className="shrink-0 border-b border-line pb-1">
        <div className="flex flex-wrap items-center gap-x-1 px-2">
          <Button
            size="small"
            variant="ghost"
            icon={<ArrowLeft size={14} aria-hidden />}
            onClick={onBack}
            data-testid={taskIds.back}
          >
            {back}
          </Button>
          <span className="flex-1" />
          <PinButton threadId={threadId} from={from} task={task} />
          <CopyAnswer text={() => reportOf({ threadId, from, step, task, detail: read.detail, exchanges })} />
          <Button
            size="small"
            variant="ghost"
            icon={<GitFork size={13} aria-hidden />}
            disabled={off !== null}
            title={off ?? undefined}
            onClick={() => setRerun(true)}
            data-testid={taskIds.rerun}
          >
            {t("task.rerun")}
          </Button>
        </div>
        <div className="flex items-center gap-1.5 px-3 pt-1">
          <StatusMark status={task.status} size={15} />
          <button
            type="button"
            className="min-w-0 truncate text-sm font-semibold hover:underline"
            title={t("debug.tasks.showNode")}
            onClick={() => useSession.getState().select({ nodes: [task.node] })}
          >
            {nodeName(task.node)}
          </button>
          {task.targets.length > 0 && (
            <span className="min-w-0 truncate text-xs text-text-2">→ {nodeList(task.targets)}</span>
          )}
          <span className="tabular-nums ml-auto shrink-0 text-xs text-text-2">
            {t("debug.stepN", { n: step })}
          </span>
        </div>
        <p className="tabular-nums px-3 pl-8 text-xs text-text-2">{facts(task, exchanges, read.detail)}</p>
        <VisitPicker threadId={threadId} node={task.node} from={from} />
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto px-3 pb-4" key={task.id}>
        <TaskBody threadId={threadId} task={task} from={from} read={read} />
      </div>
      {rerun && (
        <RerunDialog
          threadId={threadId}
          from={from}
          step={step}
          task={task}
          packet={read.detail?.input.kind === "packet"}
          onClose={() => setRerun(false)}
        />
      )}
    </article>
  );
}

/** Pins what the task wrote as the output of its node, or ends that. */
function PinButton({ threadId, from, task }: Pick<Props, "threadId" | "from" | "task">) {
  const pinned = usePin(task.node) !== undefined;
  const seen = useDocumentState((state) => state.seen !== null);
  // A graph that was seen is never run; one of ours is, also beside another program's threads.
  const off = seen ? t("debug.off.onlyRead") : null;
  if (!pinned && task.status !== "done") return null;
  const pin = () => void pinOutput(task.node, { threadId, checkpointId: from, taskId: task.id });
  return (
    <Button
      size="small"
      variant="ghost"
      icon={pinned ? <PinOff size={13} aria-hidden /> : <Pin size={13} aria-hidden />}
      title={off ?? t("pins.help")}
      disabled={off !== null}
      onClick={() => (pinned ? void unpin(task.node) : pin())}
      data-testid={debugIds.pinOutput}
    >
      {t(pinned ? "pins.unpin" : "pins.pin")}
    </Button>
  );
}
