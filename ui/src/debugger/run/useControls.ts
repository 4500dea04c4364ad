/** `controlsFor` as a hook, awake only when something it depends on changes. */
import { useMemo } from "react";
import { useDocumentState } from "../../document/store";
import { useSession } from "../../state/session";
import { asksAt, isPast } from "./situation";
import { controlsFor, type Controls } from "./controls";
import { useEdits } from "../state/edits";
import { useInbox } from "../model/inbox";
import { cannotRun, useOnlyRead } from "../model/only-read";
import { runsElsewhere, useStatus } from "../model/status";
import { useRuns } from "../model/runStore";

export function useControls(): Controls {
  const graphOpen = useSession((session) => session.graphId !== null);
  const isText = useDocumentState((state) => state.text !== null);
  const cursor = useSession((session) => session.cursor);
  const errors = useDocumentState(
    (state) => state.diagnostics.filter((diagnostic) => diagnostic.severity === "error").length,
  );
  const status = useStatus(cursor.threadId);
  const elsewhere = useRuns((store) => runsElsewhere(store, cursor.threadId));
  const past = useRuns((store) => isPast(cursor, store));
  const asksHere = useInbox((inbox) => asksAt(cursor, inbox));
  const next = useRuns((store) =>
    store.shown?.place.threadId === cursor.threadId && store.shown.place.checkpointId === cursor.checkpointId
      ? store.shown.view.next
      : undefined,
  );
  const pendingEdits = useEdits(
    (edits) => edits.pending !== null && edits.pending.threadId === cursor.threadId,
  );
  const onlyRead = useOnlyRead(cannotRun);
  return useMemo(
    () =>
      controlsFor({
        graphOpen,
        isText,
        errors,
        threadId: cursor.threadId,
        status,
        elsewhere,
        past,
        asksHere,
        next,
        pendingEdits,
        onlyRead,
      }),
    [
      graphOpen,
      isText,
      errors,
      cursor.threadId,
      status,
      elsewhere,
      past,
      asksHere,
      next,
      pendingEdits,
      onlyRead,
    ],
  );
}
