/** The version of the graph that the canvas shows in place of the graph as it is now: to look at, and to compare. */
import { create } from "zustand";
import { useSession } from "./session";

export interface ShownVersion {
  readonly graphId: string;
  /** For `graph.version`. */
  readonly id: string;
  /** What people call it: its name, or its time. */
  readonly label: string;
  /** Draw what differs from the graph as it is now. */
  readonly compare: boolean;
}

const useShownVersion = create<{ readonly version: ShownVersion | null }>(() => ({ version: null }));

export const showVersion = (version: ShownVersion | null) => useShownVersion.setState({ version });

export function setComparing(compare: boolean): void {
  const { version } = useShownVersion.getState();
  if (version) showVersion({ ...version, compare });
}

/** The version that is shown of the open graph. */
export function shownVersion(): ShownVersion | null {
  const { version } = useShownVersion.getState();
  return version !== null && version.graphId === useSession.getState().graphId ? version : null;
}

/** The version that is shown of this graph. */
export function useVersionOf(graphId: string | null): ShownVersion | null {
  const version = useShownVersion((store) => store.version);
  return version !== null && version.graphId === graphId ? version : null;
}

// Another graph, another thread: what was looked at there is over.
useSession.subscribe((now, before) => {
  if (now.graphId !== before.graphId || now.cursor.threadId !== before.cursor.threadId) showVersion(null);
});
