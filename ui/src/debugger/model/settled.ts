/**
 * A task as it ended, not as it was last seen: one that failed and then succeeded, by another attempt, its fallback or a
 * later run, is done. Why it failed before stays with it.
 */
import type { SnapshotView } from "../../ipc/bindings/SnapshotView";
import type { TaskView } from "../../ipc/bindings/TaskView";

export function settledTask<T extends TaskView>(task: T): T {
  return task.status === "failed" && task.result !== undefined ? { ...task, status: "done" } : task;
}

export const settledView = (view: SnapshotView): SnapshotView => ({
  ...view,
  tasks: view.tasks.map(settledTask),
  previousTasks: view.previousTasks.map(settledTask),
});

/** What was last seen to run is not shown as running once the host no longer answers. */
export function interrupted(view: SnapshotView): SnapshotView {
  if (!view.tasks.some((task) => task.status === "running")) return view;
  return {
    ...view,
    tasks: view.tasks.map((task) => (task.status === "running" ? { ...task, status: "waiting" } : task)),
  };
}

/** Why a task that failed was not tried again, from hosts that say so. */
export function notRetried(task: object): string | undefined {
  const { notRetried } = task as { notRetried?: unknown };
  return typeof notRetried === "string" && notRetried !== "" ? notRetried : undefined;
}
