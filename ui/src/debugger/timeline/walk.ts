/** Walking the checkpoints of a thread along one branch; "now" is what comes after the newest. */
import { useSession } from "../../state/session";
import { branchThrough } from "./lanes";
import { useRuns } from "../model/runStore";

/** The branch the cursor is on, oldest first. */
function currentBranch(): string[] {
  const { cursor } = useSession.getState();
  const list =
    cursor.threadId === null ? undefined : useRuns.getState().checkpoints.get(cursor.threadId)?.list;
  if (!list) return [];
  return branchThrough(list, cursor.checkpointId ?? list[0]?.id);
}

/** The checkpoint so many steps from the cursor on its branch: an id, null for now, undefined when there is none. */
export function neighbour(by: number): string | null | undefined {
  const { cursor } = useSession.getState();
  const branch = currentBranch();
  if (branch.length === 0) return undefined;
  const newest = useRuns.getState().checkpoints.get(cursor.threadId ?? "")?.list[0]?.id;
  // "Now" stands one place after the newest checkpoint, and shows the same state with what is being worked on.
  const at = cursor.checkpointId === null ? branch.length - 1 : branch.indexOf(cursor.checkpointId);
  if (at < 0) return undefined;
  const to = Math.max(0, Math.min(branch.length - 1, at + by));
  const id = branch[to];
  if (id === undefined) return undefined;
  return id === newest ? null : id;
}
