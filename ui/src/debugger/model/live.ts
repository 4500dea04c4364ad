/**
 * The live picture of a thread: a fold over the event stream, without React and without a store, so that it can be
 * tested event by event. It holds only the tasks that the last loaded snapshot does not know yet; everything older
 * comes from the snapshot, so a run of any length costs the same.
 */
import type { AppEvent } from "../../ipc/bindings/AppEvent";
import type { FailureView } from "../../ipc/bindings/FailureView";
import type { InterruptView } from "../../ipc/bindings/InterruptView";
import type { RunView } from "../../ipc/bindings/RunView";
import type { TakenWay } from "../../ipc/bindings/TakenWay";
import type { TaskStatus } from "../../ipc/bindings/TaskStatus";
import { notRetried } from "./settled";

interface LiveTask {
  readonly id: string;
  readonly node: string;
  readonly step: number;
  readonly status: TaskStatus;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly error?: string;
  readonly failure?: FailureView;
  readonly interrupts: readonly InterruptView[];
  readonly targets: readonly string[];
  readonly ways?: readonly TakenWay[];
  readonly cached: boolean;
  /** Why it was not tried again, from hosts that say so. */
  readonly notRetried?: string;
}

export interface LiveThread {
  /** The newest run that this interface knows. */
  readonly run?: RunView;
  /** Counts runs and gaps: a snapshot asked for under an older number says nothing about the present branch. */
  readonly era: number;
  readonly tasks: ReadonlyMap<string, LiveTask>;
  /** Text that streams in, by node; only its tail is kept here, the whole is in the stream log. */
  readonly text: ReadonlyMap<string, string>;
}

/** What lists and controls show of it. */
export type LiveTasks = Omit<LiveThread, "text">;

export function withoutText({ run, era, tasks }: LiveThread): LiveTasks {
  return { ...(run && { run }), era, tasks };
}

export type LiveThreads = ReadonlyMap<string, LiveThread>;

const EMPTY: LiveThread = { era: 0, tasks: new Map(), text: new Map() };

/** A fast loop can finish thousands of steps between two snapshots; counts are put right by the next snapshot. */
const MAX_TASKS = 2000;
const TEXT_TAIL = 400;

interface Draft {
  run?: RunView;
  era: number;
  tasks: ReadonlyMap<string, LiveTask>;
  text: Map<string, string>;
}

/** The tasks of a draft to be changed: a copy of its own, made at the first change, so that streamed text leaves them the same. */
function changed(draft: Draft, old: ReadonlyMap<string, LiveTask> | undefined): Map<string, LiveTask> {
  if (draft.tasks === (old ?? EMPTY.tasks)) draft.tasks = new Map(draft.tasks);
  return draft.tasks as Map<string, LiveTask>;
}

/** Applies a batch of events; threads that were not touched keep their identity. */
export function foldEvents(threads: LiveThreads, events: readonly AppEvent[]): LiveThreads {
  const drafts = new Map<string, Draft>();
  const draft = (id: string): Draft => {
    let found = drafts.get(id);
    if (!found) {
      const old = threads.get(id) ?? EMPTY;
      found = { ...old, text: new Map(old.text) };
      drafts.set(id, found);
    }
    return found;
  };
  const tasksOf = (id: string) => changed(draft(id), threads.get(id)?.tasks);
  const deleted: string[] = [];

  for (const event of events) {
    switch (event.type) {
      case "run": {
        const known = (drafts.get(event.run.threadId) ?? threads.get(event.run.threadId))?.run;
        // The answer to `run.start` may come after the event that the run is over.
        if (known?.runId === event.run.runId && known.status !== "running" && event.run.status === "running")
          break;
        const thread = draft(event.run.threadId);
        if (thread.run?.runId !== event.run.runId) {
          thread.era += 1;
          thread.tasks = new Map();
          thread.text.clear();
        }
        thread.run = event.run;
        if (event.run.status !== "running") {
          // A task that had begun and did not end was cut off with its run.
          for (const task of thread.tasks.values()) {
            if (task.status === "running")
              tasksOf(event.run.threadId).set(task.id, { ...task, status: "waiting" });
          }
          thread.text.clear();
        }
        break;
      }
      case "taskStarted": {
        const thread = draft(event.threadId);
        thread.text.delete(event.node);
        tasksOf(event.threadId).set(event.taskId, {
          id: event.taskId,
          node: event.node,
          step: event.step,
          status: "running",
          startedAt: event.at,
          interrupts: [],
          targets: [],
          cached: false,
        });
        break;
      }
      case "taskAttempt": {
        // The next attempt says it again.
        const known = drafts.get(event.threadId) ?? threads.get(event.threadId);
        if (known?.text.has(event.node)) draft(event.threadId).text.delete(event.node);
        break;
      }
      case "taskWaited": {
        const known = drafts.get(event.threadId) ?? threads.get(event.threadId);
        const task = known?.tasks.get(event.taskId);
        // The time for which it waited is not counted as work.
        if (task?.startedAt !== undefined)
          tasksOf(event.threadId).set(task.id, { ...task, startedAt: task.startedAt + event.millis });
        break;
      }
      case "taskEnded": {
        const tasks = tasksOf(event.threadId);
        const began = tasks.get(event.taskId);
        tasks.set(event.taskId, {
          id: event.taskId,
          node: event.node,
          step: event.step,
          status: event.status,
          ...(began?.startedAt !== undefined && { startedAt: began.startedAt }),
          endedAt: event.at,
          ...(event.error !== undefined && { error: event.error }),
          ...(event.failure !== undefined && { failure: event.failure }),
          interrupts: event.interrupts,
          targets: event.targets,
          ...(event.ways && { ways: event.ways }),
          cached: event.cached,
          ...(notRetried(event) !== undefined && { notRetried: notRetried(event) as string }),
        });
        break;
      }
      case "token": {
        const thread = draft(event.threadId);
        const { piece } = event;
        const before = thread.text.get(event.node) ?? "";
        // A call begins on a line of its own; reasoning is quiet and only in the stream.
        if (piece.type === "reasoning") break;
        const begins = piece.type === "call" && piece.name !== undefined;
        const head = begins ? `${before === "" ? "" : "\n"}${piece.name} ` : "";
        const text = before + head + piece.text;
        thread.text.set(event.node, text.length > TEXT_TAIL ? text.slice(-TEXT_TAIL) : text);
        break;
      }
      case "checkpoint": {
        // An edit or a fork: what ran before it ran on the branch that was left.
        const { source } = event.checkpoint;
        if (source !== "update" && source !== "fork") break;
        const known = drafts.get(event.threadId) ?? threads.get(event.threadId);
        if (!known || known.run?.status === "running" || known.tasks.size === 0) break;
        const thread = draft(event.threadId);
        thread.era += 1;
        thread.tasks = new Map();
        thread.text.clear();
        break;
      }
      case "threadDeleted":
        drafts.delete(event.threadId);
        deleted.push(event.threadId);
        break;
      default:
        break;
    }
  }

  if (drafts.size === 0 && deleted.every((id) => !threads.has(id))) return threads;
  const next = new Map(threads);
  for (const id of deleted) next.delete(id);
  for (const [id, thread] of drafts) {
    if (thread.tasks.size > MAX_TASKS) dropOldest(tasksOf(id));
    next.set(id, thread);
  }
  return next;
}

function dropOldest(tasks: Map<string, LiveTask>): void {
  for (const [id, task] of tasks) {
    if (tasks.size <= MAX_TASKS) return;
    if (task.status !== "running") tasks.delete(id);
  }
}

/** After a snapshot at `step`: tasks of that step and before are in it, so they need not be kept here. */
export function pruneTo(threads: LiveThreads, threadId: string, era: number, step: number): LiveThreads {
  const thread = threads.get(threadId);
  if (!thread || thread.era !== era) return threads;
  let tasks: Map<string, LiveTask> | undefined;
  for (const task of thread.tasks.values()) {
    // The step just before stays: its targets say which edge is active now.
    if (task.step < step && task.status !== "running") {
      tasks ??= new Map(thread.tasks);
      tasks.delete(task.id);
    }
  }
  return tasks ? new Map(threads).set(threadId, { ...thread, tasks }) : threads;
}

/**
 * After lost events: nothing that was running is known to run any more. The next snapshot says what is; until then the tasks
 * are forgotten rather than shown as running for ever.
 */
export function forgetTasks(threads: LiveThreads): LiveThreads {
  const next = new Map<string, LiveThread>();
  for (const [id, thread] of threads) {
    // The end of a run may be among what was lost; the thread's row has its status.
    const over = thread.run && thread.run.status !== "running" ? { run: thread.run } : {};
    next.set(id, { ...over, era: thread.era + 1, tasks: new Map(), text: new Map() });
  }
  return next;
}

export function isRunning(thread: LiveTasks | undefined): boolean {
  return thread?.run?.status === "running";
}
