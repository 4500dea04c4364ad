/** The entries of a thread's stream log; a new array per change, so that lists notice. */
import { useCallback, useMemo, useSyncExternalStore } from "react";
import type { LogEntry } from "./stream-log";
import { streamLog } from "./runStore";

export function useStreamLog(threadId: string | null): readonly LogEntry[] {
  const version = useSyncExternalStore(
    streamLog.subscribe,
    useCallback(() => (threadId === null ? -1 : streamLog.version(threadId)), [threadId]),
  );
  return useMemo(() => {
    void version;
    return threadId === null ? [] : [...streamLog.entries(threadId)];
  }, [version, threadId]);
}
