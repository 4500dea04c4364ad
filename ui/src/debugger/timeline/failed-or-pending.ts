/** Checkpoints that want something of a person: a task failed, a question waits, or the branch stops short of its end. Pure. */
import type { Entry } from "./fold";
import type { TimelineRow } from "./rows";

/** Failed, or pending: a question that waits, or the tip of a branch where nodes come next. */
function isUnsettled({ checkpoint, lane }: TimelineRow): boolean {
  if (checkpoint.failed > 0 || checkpoint.questions > 0) return true;
  return lane.children === 0 && checkpoint.next.length > 0;
}

/** The rows of those alone. */
export const unsettled = (rows: readonly TimelineRow[]): readonly Entry[] =>
  rows.flatMap((row, at): readonly Entry[] => (isUnsettled(row) ? [{ kind: "row", at }] : []));
