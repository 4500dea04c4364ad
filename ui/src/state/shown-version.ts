/** The version of the graph that the canvas shows in place of the graph as it is now: to look at, and to compare. */
import { create } from "zustand";
import { useSession } from "./session";

/** A version, and what people call it: its name, or its time. */
export interface VersionName {
  readonly id: string;
  readonly label: string;
}

export interface ShownVersion {
  readonly graphId: string;
  /** For `graph.version`. */
  readonly id: string;
  /** What people call it: its name, or its time. */
  readonly label: string;
  /** Draw what differs from the graph as it is now, or from another version. */
  readonly compare: boolean;
  /** The version that it is compared with; the graph as it is now without. */
  readonly against?: VersionName;
}

const useShownVersion = create<{ readonly version: ShownVersion | null }>(() => ({ version: null }));

export const showVersion = (version: ShownVersion | null) => useShownVersion.setState({ version });

export function setComparing(compare: boolean): void {
  const { version } = useShownVersion.getState();
  if (version) showVersion({ ...version, compare });
}

/** Compares the shown version with another one, or with the graph as it is now. */
export function compareWith(against: VersionName | null): void {
  const { version } = useShownVersion.getState();
  if (!version) return;
  const { against: _before, ...rest } = version;
  showVersion({ ...rest, compare: true, ...(against !== null && { against }) });
}

/** Exchanges the two versions that are compared. */
export function swapVersions(): void {
  const { version } = useShownVersion.getState();
  if (!version?.against) return;
  const { id, label, against } = version;
  showVersion({ ...version, ...against, against: { id, label } });
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
