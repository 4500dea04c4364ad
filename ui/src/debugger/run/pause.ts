/** Pausing a run: the tasks of its step finish, no other step begins. A person sees that it was asked until it has happened. */
import { create } from "zustand";
import { rpc } from "../../ipc/client";
import { useSession } from "../../state/session";
import { showProblem } from "../../state/toasts";
import { lastRun } from "../model/status";
import { useRuns } from "../model/runStore";

/** Runs that were asked to pause. They stay here when they have ended: a run does not begin again. */
const useAsked = create<{ readonly runs: ReadonlySet<string> }>(() => ({ runs: new Set() }));

const runOf = (threadId: string | null): string | undefined => {
  if (threadId === null) return undefined;
  const { threads, live } = useRuns.getState();
  return lastRun(threads.get(threadId), live.get(threadId))?.runId;
};

/** Was this run asked to pause? */
export function usePauseAsked(runId: string | undefined): boolean {
  return useAsked(({ runs }) => runId !== undefined && runs.has(runId));
}

export async function pause(threadId: string | null = useSession.getState().cursor.threadId): Promise<void> {
  const run = runOf(threadId);
  if (threadId === null || run === undefined || useAsked.getState().runs.has(run)) return;
  const { runs } = useAsked.getState();
  useAsked.setState({ runs: new Set(runs).add(run) });
  try {
    await rpc("run.stop", { threadId, afterStep: true });
  } catch (problem) {
    const left = new Set(useAsked.getState().runs);
    left.delete(run);
    useAsked.setState({ runs: left });
    showProblem(problem);
  }
}
