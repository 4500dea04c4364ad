/** The connection of the store to the event stream and to the session. */
import { host, subscribe } from "../../ipc/client";
import { isFolded, useSession } from "../../state/session";
import { NO_FILTER, streamLog, snapshots, useRuns } from "./runStore";
import { receive, readKept, recover, noteAway } from "./events";
import { readOnlyRead } from "./only-read";
import { loadThreads } from "./thread-list";
import { loadCheckpoints } from "./checkpoints";
import { followNested } from "./nested";

const set = useRuns.setState;

let started = false;

/** Connects the store to the event stream and to the session. Every view that reads it may call this; once is enough. */
export function ensureStarted(): void {
  if (started) return;
  started = true;
  subscribe(receive, recover);
  followNested();
  void readOnlyRead();
  host.watchConnection((connection) => noteAway(connection === "lost" || connection === "refused"));
  let last = useSession.getState();
  const follow = (session: typeof last, force: boolean) => {
    if (force || session.graphId !== last.graphId) {
      set({
        threads: new Map(),
        order: [],
        total: 0,
        threadsNext: null,
        threadsSorting: false,
        threadsState: "idle",
        filter: NO_FILTER,
      });
      void loadThreads();
    }
    const before = last;
    last = session;
    const { cursor } = session;
    if (
      force ||
      cursor.threadId !== before.cursor.threadId ||
      cursor.checkpointId !== before.cursor.checkpointId
    ) {
      snapshots.want(
        cursor.threadId === null
          ? undefined
          : { threadId: cursor.threadId, checkpointId: cursor.checkpointId },
      );
      if (cursor.threadId !== null) {
        void loadCheckpoints(cursor.threadId);
        void streamLog.open(cursor.threadId, readKept(cursor.threadId));
        if (cursor.threadId !== before.cursor.threadId) showTimelineOnce();
      }
    }
  };
  useSession.subscribe((session) => follow(session, false));
  follow(last, true);
}

/**
 * The first thread shows where its checkpoints are; after that the panel stays as it was left. Who has it open already
 * looks at something there, as at the messages a run is started below.
 */
function showTimelineOnce(): void {
  const key = "superstep.timeline-shown";
  try {
    if (localStorage.getItem(key) !== null) return;
    localStorage.setItem(key, "1");
  } catch {
    return;
  }
  const session = useSession.getState();
  if (isFolded({ ...session, use: "debug" }, "bottom")) session.showTab("bottom", "timeline", "debug");
}
