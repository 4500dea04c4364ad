/** What was read of a thread's checkpoints so far, and what an event changes in it. */
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import type { RunView } from "../../ipc/bindings/RunView";
import type { ThreadView } from "../../ipc/bindings/ThreadView";
import type { ShownProblem } from "../parts/problem";

export type Loading = "idle" | "loading" | "ready" | "failed";

export interface CheckpointPages {
  /** Newest first. */
  readonly list: readonly CheckpointView[];
  /** Runs that ended at a question or a breakpoint, by their id. */
  readonly runs?: ReadonlyMap<string, RunView>;
  readonly more: boolean;
  readonly state: Loading;
  readonly problem?: ShownProblem;
}

/** A checkpoint that is new, or known already with fewer questions or failures. */
export function withCheckpoint(pages: CheckpointPages, checkpoint: CheckpointView): CheckpointPages {
  const index = pages.list.findIndex((known) => known.id === checkpoint.id);
  if (index >= 0) {
    const list = [...pages.list];
    list[index] = checkpoint;
    return { ...pages, list };
  }
  // Ids sort by time, and events come in order; a late one is put in its place all the same.
  let at = 0;
  while (at < pages.list.length && (pages.list[at]?.id ?? "") > checkpoint.id) at += 1;
  // A step that went on from a checkpoint has its questions answered and its failures overcome.
  const parent = checkpoint.source === "loop" ? checkpoint.parent : undefined;
  const settle = (known: CheckpointView) =>
    known.id === parent && (known.questions > 0 || known.failed > 0)
      ? { ...known, questions: 0, failed: 0 }
      : known;
  return { ...pages, list: [...pages.list.slice(0, at), checkpoint, ...pages.list.slice(at).map(settle)] };
}

/** A run that ended at a question or a breakpoint: its newest checkpoint is marked with it. */
export function withRun(pages: CheckpointPages, run: RunView): CheckpointPages {
  const marks = run.status === "asking" || run.stop !== undefined;
  if (!marks || run.status === "running") return pages;
  return { ...pages, runs: new Map(pages.runs).set(run.runId, run) };
}

/** Ids of threads, the one that changed last first. */
export function sortThreads(threads: ReadonlyMap<string, ThreadView>): string[] {
  return [...threads.values()]
    .sort((a, b) =>
      a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : a.threadId < b.threadId ? 1 : -1,
    )
    .map((thread) => thread.threadId);
}
