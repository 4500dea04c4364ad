/**
 * What led to the checkpoint and what it leads to: the selected task on its page, the tasks of the selected node, or all
 * of both steps.
 */
import { useState } from "react";
import { ArrowLeft } from "lucide-react";
import { Button } from "../../components/Button";
import { useLive } from "../../debugger/model/runStore";
import type { Loaded } from "../../debugger/model/snapshots";
import { nodeName } from "../../debugger/parts/format";
import { isMany } from "../../debugger/state/packets";
import { useSubjectNode } from "../../debugger/state/subject-node";
import type { TaskView } from "../../ipc/bindings/TaskView";
import { debugIds, taskIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { PacketTable } from "./PacketTable";
import { TaskRow } from "./Task";
import { TaskPage } from "./TaskPage";
import { NoTask } from "./Visits";

/** The tasks of one step, with the checkpoint that it began from. */
interface StepTasks {
  readonly tasks: readonly TaskView[];
  readonly from: string | undefined;
  readonly step: number;
}

/** The tasks that are next, fresher than the snapshot while a step is being worked on, and those before them. */
function useSteps({ view, place }: Loaded): { next: StepTasks; previous: StepTasks } {
  const live = useLive(place.checkpointId === null ? place.threadId : null);
  const step = view.checkpoint?.step ?? -1;
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
  return {
    next: { tasks, from: view.checkpoint?.id, step: step + 1 },
    previous: { tasks: view.previousTasks, from: view.checkpoint?.parent, step },
  };
}

export function TasksTab({ loaded }: { loaded: Loaded }) {
  const { place, view } = loaded;
  const { next, previous } = useSteps(loaded);
  const taskId = useSession((session) => session.cursor.taskId ?? null);
  const selected = useSubjectNode();
  // The node whose tasks were left for all of the step.
  const [left, setLeft] = useState<string | null>(null);
  const node = selected === left ? undefined : selected;
  const setCursor = useSession((session) => session.setCursor);

  const chosen = [next, previous].flatMap((step) => {
    const task = taskId === null ? undefined : step.tasks.find((task) => task.id === taskId);
    // Another node that is selected afterwards is asked about instead.
    const ours = task && (node === undefined || node === task.node);
    return ours && step.from !== undefined ? [{ task, step, from: step.from }] : [];
  })[0];
  const threadId = place.threadId;
  if (chosen) {
    const { task, step, from } = chosen;
    const many = step.tasks.filter((other) => other.node === task.node).length > 1;
    const list = many && node === task.node;
    return (
      <Tab>
        <TaskPage
          key={task.id}
          threadId={threadId}
          task={task}
          from={from}
          step={step.step}
          back={list ? t("task.ofNode", { node: nodeName(task.node) }) : t("task.all")}
          onBack={() => {
            setCursor({ taskId: null });
            if (!list && selected !== undefined) setLeft(selected);
          }}
        />
      </Tab>
    );
  }
  if (node !== undefined) {
    return (
      <Tab>
        <OfNode
          key={node}
          threadId={threadId}
          node={node}
          shown={stepOf(node, next, previous)}
          at={view.checkpoint?.id}
          onBack={() => setLeft(node)}
        />
      </Tab>
    );
  }
  return (
    <div className="min-h-0 flex-1 overflow-y-auto pb-4" data-testid={debugIds.tasks}>
      <Group
        title={t("debug.tasks.next", { step: next.step })}
        tasks={next.tasks}
        empty={t("debug.nothingNext")}
      />
      <Group
        title={t("debug.tasks.previous", { step: previous.step })}
        tasks={previous.tasks}
        empty={t("debug.tasks.nonePrevious")}
      />
    </div>
  );
}

function Tab({ children }: { children: React.ReactNode }) {
  return (
    <div className="flex min-h-0 flex-1 flex-col" data-testid={debugIds.tasks}>
      {children}
    </div>
  );
}

/** The step whose tasks of a node are shown: what it did last, or else what it is about to do. */
function stepOf(node: string, next: StepTasks, previous: StepTasks): StepTasks {
  const of = ({ tasks, ...step }: StepTasks) => ({
    ...step,
    tasks: tasks.filter((task) => task.node === node),
  });
  const [now, before] = [of(next), of(previous)];
  if (now.tasks.some((task) => task.status !== "waiting")) return now;
  return before.tasks.length > 0 ? before : now;
}

function OfNode({
  threadId,
  node,
  shown,
  at,
  onBack,
}: {
  threadId: string;
  node: string;
  shown: StepTasks;
  at: string | undefined;
  onBack(): void;
}) {
  const { tasks, from, step } = shown;
  const [only] = tasks;
  if (only && tasks.length === 1 && from !== undefined) {
    return (
      <TaskPage
        key={only.id}
        threadId={threadId}
        task={only}
        from={from}
        step={step}
        back={t("task.all")}
        onBack={onBack}
      />
    );
  }
  return (
    <>
      <div className="px-2 pb-1">
        <Button
          size="small"
          variant="ghost"
          icon={<ArrowLeft size={14} aria-hidden />}
          onClick={onBack}
          data-testid={taskIds.back}
        >
          {t("task.all")}
        </Button>
      </div>
      {tasks.length === 0 ? (
        <NoTask threadId={threadId} node={node} checkpointId={at} />
      ) : (
        <PacketTable node={node} tasks={tasks} full />
      )}
    </>
  );
}

function Group({ title, tasks, empty }: { title: string; tasks: readonly TaskView[]; empty: string }) {
  const byNode = new Map<string, TaskView[]>();
  for (const task of tasks) byNode.set(task.node, [...(byNode.get(task.node) ?? []), task]);
  return (
    <section>
      <h3 className="px-3 pt-3 pb-1 text-xs font-semibold text-text-2">{title}</h3>
      {tasks.length === 0 && <p className="px-3 text-xs text-text-2">{empty}</p>}
      {[...byNode].map(([node, own]) =>
        isMany(own) ? (
          <div key={node} className="border-t border-line">
            <PacketTable node={node} tasks={own} />
          </div>
        ) : (
          <ul key={node}>
            {own.map((task) => (
              <TaskRow key={task.id} task={task} />
            ))}
          </ul>
        ),
      )}
    </section>
  );
}
