/** What led to the checkpoint and what it leads to: each task with its state, error, questions, result and time. */
import { useLive } from "../../debugger/model/runStore";
import type { Loaded } from "../../debugger/model/snapshots";
import type { TaskView } from "../../ipc/bindings/TaskView";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { Task } from "./Task";

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
      <Group
        threadId={place.threadId}
        title={t("debug.tasks.next", { step: step + 1 })}
        tasks={tasks}
        empty={t("debug.nothingNext")}
      />
      <Group
        threadId={place.threadId}
        title={t("debug.tasks.previous", { step })}
        tasks={view.previousTasks}
        empty={t("debug.tasks.nonePrevious")}
      />
    </div>
  );
}

function Group({
  threadId,
  title,
  tasks,
  empty,
}: {
  threadId: string;
  title: string;
  tasks: readonly TaskView[];
  empty: string;
}) {
  return (
    <section>
      <h3 className="px-3 pt-3 pb-1 text-xs font-semibold text-text-2">{title}</h3>
      {tasks.length === 0 && <p className="px-3 text-xs text-text-2">{empty}</p>}
      <ul>
        {tasks.map((task) => (
          <Task key={task.id} threadId={threadId} task={task} />
        ))}
      </ul>
    </section>
  );
}
