/** A task: a row of the list, its parts, and what goes on inside when it runs another graph. */
import { RotateCcw } from "lucide-react";
import { Button } from "../../components/Button";
import { Fold } from "../../components/Fold";
import { InlineMarkdown } from "../../components/Markdown";
import { Exchanges } from "../../debugger/exchanges/Exchanges";
import { useExchanges } from "../../debugger/exchanges/useExchanges";
import { notRetried } from "../../debugger/model/settled";
import { CopyButton } from "../../debugger/parts/CopyButton";
import { isObject } from "../../debugger/parts/diff";
import { nodeList, nodeName, readableError, shortId } from "../../debugger/parts/format";
import { json, Pre, viewText } from "../../debugger/parts/Pre";
import { Summary, SummaryLine } from "../../debugger/parts/Summary";
import { StatusMark, statusText } from "../../debugger/parts/StatusMark";
import { replayWithin, stepTask } from "../../debugger/run/actions";
import { Attempts } from "../../debugger/run/Attempts";
import { NotRetried } from "../../debugger/run/NotRetried";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { useControls } from "../../debugger/run/useControls";
import { type Detail, useTaskDetail } from "../../debugger/state/useTaskDetail";
import { useWithin } from "../../debugger/timeline/useWithin";
import type { NestedCheckpointRef } from "../../ipc/bindings/NestedCheckpointRef";
import type { TaskView } from "../../ipc/bindings/TaskView";
import type { WithinStep } from "../../ipc/bindings/WithinStep";
import { duration, listed } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { TaskRecord } from "./TaskRecord";
import { BareCalls, How, Input, Log, ToolCalls, Writes } from "./TaskSections";

/** What a task is called, with where it led and how long it took. */
function Head({ task }: { task: TaskView }) {
  const failures = task.attempts?.length ?? 0;
  return (
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
      {task.record?.summary !== undefined && (
        <span className="flex min-w-0 flex-1 text-xs text-text-2">
          <SummaryLine text={task.record.summary} />
        </span>
      )}
      {task.millis !== undefined && (
        <span className="tabular-nums ml-auto shrink-0 text-2xs text-text-3">{duration(task.millis)}</span>
      )}
    </>
  );
}

/** In the list of a step: selecting it shows its page. */
export function TaskRow({ task }: { task: TaskView }) {
  return (
    <li
      className="border-t border-line"
      data-testid={debugIds.task}
      data-node={task.node}
      data-status={task.status}
    >
      <button
        type="button"
        className="flex min-h-8 w-full items-center gap-1.5 px-3 text-left hover:bg-surface-3"
        onClick={() => useSession.getState().setCursor({ taskId: task.id })}
      >
        <Head task={task} />
      </button>
    </li>
  );
}

/** A task of a graph inside of the one on the canvas: one line that opens. */
function NestedTask({
  threadId,
  task,
  from,
  ns,
}: {
  threadId: string;
  task: TaskView;
  from: string;
  ns: string;
}) {
  return (
    <li
      className="border-t border-line"
      data-testid={debugIds.task}
      data-node={task.node}
      data-status={task.status}
    >
      <Fold begin={task.status === "failed"} head={<Head task={task} />}>
        {() => <NestedBody threadId={threadId} task={task} from={from} ns={ns} />}
      </Fold>
    </li>
  );
}

function NestedBody(props: { threadId: string; task: TaskView; from: string; ns: string }) {
  const { threadId, task, from, ns } = props;
  const read = useTaskDetail({ threadId, from, taskId: task.id, ns }, task.status);
  return (
    <div className="px-3 pb-2 pl-9">
      <TaskBody threadId={threadId} task={task} from={from} read={read} nested />
    </div>
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

/** Everything that is known of a task, in the order in which it is asked: why it failed, what it saw, did and wrote. */
export function TaskBody({
  threadId,
  task,
  from,
  read: { detail, problem },
  nested = false,
}: {
  threadId: string;
  task: TaskView;
  /** The checkpoint that its step began from. */
  from: string;
  read: Detail;
  nested?: boolean;
}) {
  const exchanges = useExchanges(threadId, task.id);
  const packet = detail?.input.kind === "packet" ? detail.input.value.value : undefined;
  const result = task.result;
  return (
    <div className="text-xs">
      {task.record?.summary !== undefined && <Summary text={task.record.summary} className="mt-1" />}
      {detail && <How task={task} detail={detail} />}
      {task.status === "waiting" && !nested && <Alone task={task} />}
      <Attempts attempts={task.attempts} />
      <TaskError task={task} nested={nested} />
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
      {problem && <p className="mt-1 text-text-2">{problem.message}</p>}
      {detail && <Input task={task} detail={detail} />}
      {detail && <Log detail={detail} />}
      {exchanges.length === 0 && detail && <BareCalls detail={detail} />}
      <Exchanges
        exchanges={exchanges}
        of={{ threadId, from, taskId: task.id, node: nested ? null : task.node, packet }}
      />
      {result && <ToolCalls result={result} />}
      {result && <Writes result={result} />}
      {task.record && <TaskRecord record={task.record} />}
      {task.within !== undefined && <Within threadId={threadId} ns={task.within} />}
      <p className="mt-2 flex items-center gap-1 text-text-2">
        {t("debug.tasks.id")}
        <span className="font-mono" title={task.id}>
          {shortId(task.id)}
        </span>
        <CopyButton text={task.id} label={t("debug.tasks.copyId")} size={12} />
        {nested && statusText(task.status)}
      </p>
    </div>
  );
}

function TaskError({ task, nested }: { task: TaskView; nested: boolean }) {
  if (task.error === undefined) return null;
  const done = task.status === "done";
  return (
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
          <Step key={step.checkpoint.id} threadId={threadId} ns={ns} step={step} />
        ))}
      </ol>
    </section>
  );
}

function Step({ threadId, ns, step }: { threadId: string; ns: string; step: WithinStep }) {
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
                : t("debug.within.state", { keys: listed(keys) })}
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
          <NestedTask key={task.id} threadId={threadId} task={task} from={step.checkpoint.id} ns={ns} />
        ))}
      </ul>
      {step.root !== undefined && step.tasks.length > 0 && (
        <ReplayWithin threadId={threadId} root={step.root} at={{ ns, checkpointId: step.checkpoint.id }} />
      )}
    </li>
  );
}

/** The button that runs again from a step of a nested graph. */
function ReplayWithin(props: { threadId: string; root: string; at: NestedCheckpointRef }) {
  const { threadId, root, at } = props;
  const { replayWithinOff } = useControls();
  return (
    <Button
      size="small"
      variant="ghost"
      className="ml-5"
      icon={<RotateCcw size={13} aria-hidden />}
      disabled={replayWithinOff !== null}
      title={replayWithinOff ?? t("debug.within.replayHelp")}
      onClick={() => void replayWithin(threadId, root, at)}
      data-testid={debugIds.withinReplay}
    >
      {t("debug.timeline.replay")}
    </Button>
  );
}
