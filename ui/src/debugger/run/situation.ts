/** Where the person stands: the thread and the moment that are shown, and what can be done there. */
import { useDocumentState } from "../../document/store";
import { useSession } from "../../state/session";
import { type InboxStore, useInbox } from "../model/inbox";
import { cannotRun, useOnlyRead } from "../model/only-read";
import { runsElsewhere, statusOf } from "../model/status";
import { useRuns } from "../model/runStore";
import { useEdits } from "../state/edits";
import { controlsFor, type Controls, type Situation } from "./controls";

type Session = ReturnType<typeof useSession.getState>;

export function errorCount(): number {
  return useDocumentState.getState().diagnostics.filter((diagnostic) => diagnostic.severity === "error")
    .length;
}

/** The cursor is at a checkpoint that is not the thread's newest. */
export function isPast(cursor: Session["cursor"], store = useRuns.getState()): boolean {
  if (cursor.threadId === null || cursor.checkpointId === null) return false;
  const newest =
    store.checkpoints.get(cursor.threadId)?.list[0]?.id ?? store.threads.get(cursor.threadId)?.head;
  return newest !== cursor.checkpointId;
}

/** A question waits at the checkpoint under the cursor. */
export const asksAt = (cursor: Session["cursor"], inbox: InboxStore = useInbox.getState()): boolean =>
  cursor.checkpointId !== null &&
  inbox.ofThread.some((question) => question.checkpointId === cursor.checkpointId);

function situation(session: Session = useSession.getState(), store = useRuns.getState()): Situation {
  const { cursor } = session;
  const pending = useEdits.getState().pending;
  const { shown } = store;
  const here =
    shown !== null &&
    shown.place.threadId === cursor.threadId &&
    shown.place.checkpointId === cursor.checkpointId;
  return {
    graphOpen: session.graphId !== null,
    isText: useDocumentState.getState().text !== null,
    errors: errorCount(),
    threadId: cursor.threadId,
    status: statusOf(store, cursor.threadId),
    elsewhere: runsElsewhere(store, cursor.threadId),
    past: isPast(cursor, store),
    asksHere: asksAt(cursor),
    next: here ? shown.view.next : undefined,
    pendingEdits: pending !== null && pending.threadId === cursor.threadId,
    onlyRead: cannotRun(useOnlyRead.getState()),
  };
}

export const currentControls = (): Controls => controlsFor(situation());
