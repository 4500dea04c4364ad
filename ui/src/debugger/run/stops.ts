/**
 * Runs that stopped at a breakpoint while somebody looked elsewhere: a notice leads there, and the thread, its graph's tab and
 * the list of graphs are marked until it is looked at or goes on.
 */
import { create } from "zustand";
import type { AppEvent } from "../../ipc/bindings/AppEvent";
import type { RunView } from "../../ipc/bindings/RunView";
import { rpc, subscribe } from "../../ipc/client";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { showToast } from "../../state/toasts";
import { openMoment } from "./open-moment";

interface Stopped {
  readonly runId: string;
  readonly reason: string;
  /** File of its graph; absent for a draft, and until it is known. */
  readonly path?: string | undefined;
}

type Stops = ReadonlyMap<string, Stopped>;

/** By thread. */
export const useStops = create<{ readonly stops: Stops }>(() => ({ stops: new Map() }));

const NONE: Stops = new Map();

function without(threadId: string): void {
  const { stops } = useStops.getState();
  if (!stops.has(threadId)) return;
  const next = new Map(stops);
  next.delete(threadId);
  useStops.setState({ stops: next.size === 0 ? NONE : next });
}

/** Is the thread in sight, as it is now? */
function isSeen(threadId: string): boolean {
  const { cursor, use } = useSession.getState();
  return use === "debug" && cursor.threadId === threadId && !document.hidden;
}

async function tell({ threadId, runId, stop }: RunView): Promise<void> {
  if (stop === undefined) return;
  const reason =
    stop.within === ""
      ? t("breakpoints.stopped", { reason: stop.reason })
      : t("breakpoints.stoppedIn", { path: stop.within, reason: stop.reason });
  const stopped: Stopped = { runId, reason };
  useStops.setState(({ stops }) => ({ stops: new Map(stops).set(threadId, stopped) }));
  const thread = await rpc("thread.get", { threadId }).catch(() => null);
  // It went on, or was looked at meanwhile.
  if (thread === null || useStops.getState().stops.get(threadId) !== stopped) return;
  useStops.setState(({ stops }) => ({
    stops: new Map(stops).set(threadId, { ...stopped, path: thread.graphPath }),
  }));
  showToast({
    tone: "warning",
    text: t("stops.title", { thread: thread.title === "" ? t("debug.threads.untitled") : thread.title }),
    detail: reason.replaceAll("`", ""),
    action: { label: t("stops.show"), run: () => void openMoment({ threadId, checkpointId: null }) },
  });
}

function receive(events: readonly AppEvent[]): void {
  for (const event of events) {
    if (event.type === "threadDeleted") without(event.threadId);
    if (event.type !== "run") continue;
    const { run } = event;
    const known = useStops.getState().stops.get(run.threadId);
    if (run.status !== "paused" || run.stop === undefined) without(run.threadId);
    else if (known?.runId !== run.runId && !isSeen(run.threadId)) void tell(run);
  }
}

let following = false;

/** Follows runs and what is looked at, once for the window's life. */
export function followStops(): void {
  if (following) return;
  following = true;
  const look = () => {
    const { threadId } = useSession.getState().cursor;
    if (threadId !== null && isSeen(threadId)) without(threadId);
  };
  // What happened while events were lost is not known to have happened now: the threads themselves say how they stand.
  subscribe(receive, () => undefined);
  useSession.subscribe(look);
  document.addEventListener("visibilitychange", look);
}
