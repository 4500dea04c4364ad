/** What holds for invariants wherever one looks: how they stand at the cursor, notices of runs, and their commands. */
import { useEffect } from "react";
import { addInvariant } from "../../document/invariants";
import { doc } from "../../document/store";
import { edit } from "../../document/edit";
import { subscribe } from "../../ipc/client";
import { t } from "../../lib/texts";
import { registerCommands } from "../../state/commands";
import { useSession } from "../../state/session";
import { showToast } from "../../state/toasts";
import { askCheck } from "../../debugger/state/asked";
import { noticeOf } from "./notices";
import { useInvariants, useStandingAtCursor } from "./useStandingAtCursor";

/** Adds an empty one to the graph, or to what is selected, and shows its field. */
export function addHere(): void {
  const { selection, focusField, setUse } = useSession.getState();
  const record =
    selection.edges[0] !== undefined
      ? `edge:${selection.edges[0]}`
      : selection.nodes[0] !== undefined
        ? `node:${selection.nodes[0]}`
        : "doc";
  if (record !== "doc" && !doc.has(record)) return;
  if (!edit(t("invariants.edit.add"), (document) => addInvariant(document, record, ""))) return;
  setUse("design");
  focusField(record, "/invariants");
}

/** A broken invariant is reported again after this. */
const AGAIN_MS = 5_000;

export function InvariantKeeper() {
  useStandingAtCursor(useInvariants());
  useEffect(() => {
    const reportedAt = new Map<string, number>();
    return subscribe(
      (events) => {
        for (const event of events) {
          const notice = event.type === "custom" ? noticeOf(event.value) : null;
          if (notice === null || Date.now() - (reportedAt.get(notice.invariant) ?? 0) < AGAIN_MS) continue;
          reportedAt.set(notice.invariant, Date.now());
          showToast({ tone: "warning", text: notice.text });
        }
      },
      () => undefined,
    );
  }, []);
  useEffect(
    () =>
      registerCommands([
        {
          id: "invariants.check",
          title: t("invariants.checkMenu"),
          group: t("shell.group.debug"),
          enabled: () => useSession.getState().graphId !== null,
          run: () => askCheck({}),
        },
        {
          id: "invariants.add",
          title: t("invariants.add"),
          group: t("shell.group.debug"),
          enabled: () => useSession.getState().graphId !== null,
          run: addHere,
        },
      ]),
    [],
  );
  return null;
}
