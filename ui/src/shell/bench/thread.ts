/** A thread made of numbers, for measuring the debugger: checkpoints with forks, spans, snapshots, events of a wide step. */
import type { AppEvent } from "../../ipc/bindings/AppEvent";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import type { RunView } from "../../ipc/bindings/RunView";
import type { SnapshotView } from "../../ipc/bindings/SnapshotView";
import type { TraceSpan } from "../../ipc/bindings/TraceSpan";

export const THREAD = "bench-thread";
const BEGAN = Date.parse("2026-01-05T09:00:00Z");

export interface Made {
  /** Newest first. */
  readonly checkpoints: readonly CheckpointView[];
  readonly runs: readonly RunView[];
  readonly spans: readonly TraceSpan[];
}

const iso = (millis: number) => new Date(BEGAN + millis).toISOString();
const NODES = ["plan", "search", "think", "check"];

interface Branch {
  readonly parent: CheckpointView | undefined;
  readonly length: number;
  readonly number: number;
}

function checkpointOf(
  id: number,
  branch: Branch,
  parent: CheckpointView | undefined,
  at: number,
): CheckpointView {
  const { number } = branch;
  const step = parent ? parent.step + 1 : -1;
  const first = at === 0;
  const last = at === branch.length - 1;
  const source = !parent ? "input" : first && number > 0 ? (number % 3 === 0 ? "update" : "fork") : "loop";
  return {
    id: `c${String(id).padStart(6, "0")}`,
    ...(parent && { parent: parent.id }),
    at: iso(id * 40),
    source,
    step,
    next: last && number % 4 === 0 ? [] : [NODES[(step + 2) % NODES.length] ?? "plan"],
    updated: source === "update" ? ["days"] : ["total", ...(step % 3 === 0 ? ["messages"] : [])],
    questions: last && number % 4 === 1 ? 1 : 0,
    failed: last && number % 4 === 2 ? 1 : 0,
    run: `run${number}${number % 5 === 0 && at > branch.length / 2 ? "b" : ""}`,
    ...(source === "update" && { asNode: "plan" }),
    ...(id % 997 === 500 && { bookmark: `mark ${id}` }),
  };
}

/** A first branch of half of the checkpoints; the others are shared by forks of it and of each other. */
function checkpoints(count: number, forks: number): readonly CheckpointView[] {
  const made: CheckpointView[] = [];
  const trunk = forks === 0 ? count : Math.ceil(count / 2);
  const each = forks === 0 ? 0 : Math.max(1, Math.floor((count - trunk) / forks));
  const lay = (branch: Branch) => {
    let parent = branch.parent;
    for (let at = 0; at < branch.length; at += 1) {
      parent = checkpointOf(made.length, branch, parent, at);
      made.push(parent);
    }
  };
  lay({ parent: undefined, length: trunk, number: 0 });
  for (let fork = 1; fork <= forks; fork += 1)
    lay({ parent: made[(fork * 7919) % (fork % 5 === 0 ? made.length : trunk)], length: each, number: fork });
  return made.toReversed();
}

function spans(count: number): readonly TraceSpan[] {
  return Array.from({ length: count }, (_, at): TraceSpan => {
    const step = Math.floor(at / 20);
    const started = BEGAN + step * 400 + (at % 20) * 4;
    const waited = (at % 20) * 6;
    return {
      runId: "run0",
      taskId: `t${at}`,
      checkpointId: `c${String(Math.min(step, 4999)).padStart(6, "0")}`,
      node: NODES[step % NODES.length] ?? "plan",
      step,
      started,
      ended: started + waited + 40 + ((at * 31) % 180),
      end: at % 400 === 399 ? "failed" : "done",
      ...(waited > 0 && { waits: [{ from: started, to: started + waited }] }),
      ...(step % 4 === 2 && {
        calls: [
          {
            model: "office::small",
            at: started + waited + 5,
            millis: 30,
            ended: "done" as const,
            tokens: { input: 90 + (at % 40), output: 20 },
            cost: { amount: 0.0004 + (at % 7) * 0.0001, currency: "USD" },
          },
        ],
      }),
    };
  });
}

export function madeThread(count: number, forks: number, tasks: number): Made {
  const run = (runId: string, from: number, to: number, more: Partial<RunView>): RunView => ({
    runId,
    threadId: THREAD,
    status: "done",
    startedAt: iso(from),
    endedAt: iso(to),
    ...more,
  });
  const stop = { reason: "`total` became 12, written by `check`", within: "" };
  const ended = Array.from({ length: forks + 1 }, (_, at) => at)
    .filter((at) => at % 5 === 0)
    .map((at) => run(`run${at}`, 0, 1, at % 2 === 0 ? { status: "asking" } : { status: "paused", stop }));
  return {
    checkpoints: checkpoints(count, forks),
    runs: [...ended, run("run0", 0, (tasks / 20) * 400 + 300, {})],
    spans: spans(tasks),
  };
}

export function snapshotOf(checkpoint: CheckpointView | undefined, isHead: boolean): SnapshotView {
  const { step = 0, next = [] } = checkpoint ?? {};
  const value = (of: unknown) => ({ kind: typeof of, bytes: 8, length: 1, value: of });
  return {
    threadId: THREAD,
    ...(checkpoint && { checkpoint }),
    isHead,
    keys: ["total", "days", "grade", "note"].map((key, at) => ({
      key,
      declared: "integer",
      reducer: "replace",
      value: value(step * (at + 1)),
      ...(at < 2 && { previous: value((step - 1) * (at + 1)) }),
      change: at < 2 ? "changed" : "same",
      writers: ["check"],
    })),
    next,
    tasks: next.map((node) => ({
      id: `task-${checkpoint?.id}`,
      node,
      status: "waiting",
      interrupts: [],
      targets: [],
    })),
    previousTasks: [],
    visits: NODES.map((node) => ({ node, runs: Math.max(0, Math.floor(step / 4)) })),
    taken: [],
  };
}

export const RUN: RunView = { runId: "wide", threadId: THREAD, status: "running", startedAt: iso(0) };

/** A step of many tasks that stream: what has come of each, in pieces of a word, since the step began. */
export class StreamingStep {
  readonly #sent: number[];
  readonly #perSecond: number;

  constructor(tasks: number, perSecond: number) {
    this.#sent = Array.from({ length: tasks }, () => 0);
    this.#perSecond = perSecond;
  }

  begin(): readonly AppEvent[] {
    return [
      { type: "run", run: RUN },
      ...this.#sent.map((_, at): AppEvent => ({
        type: "taskStarted",
        ...streamed(at),
        step: 9000,
        at: BEGAN + at,
      })),
    ];
  }

  /** The pieces of a frame that ends at this millisecond; those of one message come as one, as the workbench joins them. */
  until(millis: number): readonly AppEvent[] {
    const apart = 1000 / this.#perSecond / this.#sent.length;
    return this.#sent.flatMap((sent, at): readonly AppEvent[] => {
      const due = Math.floor(((millis + at * apart) / 1000) * this.#perSecond);
      if (due <= sent) return [];
      this.#sent[at] = due;
      const text = Array.from({ length: due - sent }, (_, word) => `word${(sent + word) % 100} `).join("");
      return [
        {
          type: "token",
          ...streamed(at),
          messageId: `s${at}`,
          piece: { type: "text", text },
          at: BEGAN + at,
        },
      ];
    });
  }

  get pieces(): number {
    return this.#sent.reduce((sum, sent) => sum + sent, 0);
  }
}

const streamed = (at: number) => ({ threadId: THREAD, taskId: `s${at}`, node: "think" });

/** A step of many tasks as its events come: all begin, and end a few at a time. */
export function wideStep(tasks: number, batches: number): readonly (readonly AppEvent[])[] {
  const of = (at: number) => ({
    threadId: THREAD,
    taskId: `w${at}`,
    node: "search",
    step: 9000,
    at: BEGAN + at,
  });
  const begin = Array.from({ length: tasks }, (_, at): AppEvent => ({ type: "taskStarted", ...of(at) }));
  const ends = Array.from({ length: tasks }, (_, at): AppEvent => ({
    type: "taskEnded",
    ...of(at),
    status: "done",
    interrupts: [],
    targets: ["think"],
    cached: false,
  }));
  const each = Math.ceil(tasks / batches);
  return [
    [{ type: "run", run: RUN }, ...begin],
    ...Array.from({ length: batches }, (_, at) => ends.slice(at * each, (at + 1) * each)),
  ];
}
