/**
 * What the run buttons do at a given moment, as one table: the same answer serves the title bar, the command palette
 * and the keys, and a button that can not be used says why.
 */
import { t } from "../../lib/texts";
import type { ShownStatus } from "../parts/StatusMark";

export interface Situation {
  readonly graphOpen: boolean;
  /** The file is no graph, and is shown as text. */
  readonly isText: boolean;
  /** Problems that keep the graph from running. */
  readonly errors: number;
  readonly threadId: string | null;
  readonly status: ShownStatus | undefined;
  /** Another program runs the thread. */
  readonly elsewhere: boolean;
  /** The cursor is at a checkpoint that is not the newest. */
  readonly past: boolean;
  /** A question waits at that checkpoint: it is the end of another branch. */
  readonly asksHere: boolean;
  /** Nodes that run next at the cursor; undefined while they are not known. */
  readonly next: readonly string[] | undefined;
  /** Edits of the state that are not applied. */
  readonly pendingEdits: boolean;
  /** The threads are another program's, and are only read. */
  readonly onlyRead: boolean;
}

export type Primary = "run" | "continue" | "takeOver" | "answer" | "now";

export interface Controls {
  /** In the past nothing runs by the primary button: it leads back, or to the question that waits there. */
  readonly primary: Primary;
  readonly past: boolean;
  /** Why the primary button can not be used; null when it can. */
  readonly primaryOff: string | null;
  readonly stepOff: string | null;
  /** Why nothing can be replayed from here. */
  readonly replayOff: string | null;
  /** Why nothing can be replayed from a checkpoint of a nested graph. */
  readonly replayWithinOff: string | null;
  readonly stopOff: string | null;
  /** The graph has errors: the buttons lead to the problems. */
  readonly blocked: boolean;
}

export function controlsFor(at: Situation): Controls {
  const primary = primaryFor(at);
  const running = at.status === "running";
  const past = at.threadId !== null && at.past;
  const off = reasonFor(at, primary);
  return {
    primary,
    past,
    primaryOff: off,
    stepOff: past ? t("debug.off.past") : (off ?? stepReason(primary)),
    replayWithinOff: replayReason({ ...at, next: undefined }),
    replayOff: past ? replayReason(at) : t("debug.off.notPast"),
    stopOff: running ? null : t("debug.off.nothingRuns"),
    blocked: at.graphOpen && at.errors > 0,
  };
}

function primaryFor(at: Situation): Primary {
  if (at.threadId === null) return "run";
  if (at.past) return at.asksHere ? "answer" : "now";
  if (at.status === "running" && at.elsewhere) return "takeOver";
  switch (at.status) {
    case "asking":
      return "answer";
    case "paused":
    case "failed":
    case "stopped":
      return "continue";
    default:
      return "run";
  }
}

function reasonFor(at: Situation, primary: Primary): string | null {
  if (!at.graphOpen) return t("debug.off.noGraph");
  if (primary === "now") return null;
  if (at.isText && (primary === "run" || primary === "continue")) return t("debug.off.text");
  if (at.onlyRead) return t("debug.off.onlyRead");
  if (at.status === "unknown") return t("debug.off.away");
  if (at.status === "running" && at.threadId !== null && primary !== "takeOver")
    return t("debug.off.running");
  if (primary !== "run" && at.pendingEdits) return t("debug.off.pendingEdits");
  return null;
}

function stepReason(primary: Primary): string | null {
  if (primary === "answer") return t("debug.off.answerFirst");
  return primary === "takeOver" ? t("debug.off.running") : null;
}

function replayReason(at: Situation): string | null {
  if (!at.graphOpen) return t("debug.off.noGraph");
  if (at.onlyRead) return t("debug.off.onlyRead");
  if (at.status === "unknown") return t("debug.off.away");
  if (at.status === "running") return t("debug.off.running");
  if (at.pendingEdits) return t("debug.off.pendingEdits");
  return at.next?.length === 0 ? t("debug.off.nothingNext") : null;
}
