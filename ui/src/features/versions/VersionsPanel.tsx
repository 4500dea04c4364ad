/** Automatic copies of the document's past, and the way back to each of them. */
import { History, RotateCcw } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { Spinner } from "../../components/Spinner";
import { flush, replaceDocument, useGraphMeta } from "../../document/store";
import type { Autosave } from "../../ipc/bindings/Autosave";
import { rpc, RpcProblem } from "../../ipc/client";
import { formsIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { showProblem, showToast } from "../../state/toasts";

/** A moment as people say it: the time for today, the day as well for before. */
function momentText(iso: string, now: Date = new Date()): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  const sameDay = at.toDateString() === now.toDateString();
  return at.toLocaleString(undefined, {
    ...(sameDay
      ? {}
      : {
          month: "short",
          day: "numeric",
          ...(at.getFullYear() !== now.getFullYear() && { year: "numeric" }),
        }),
    hour: "2-digit",
    minute: "2-digit",
    second: sameDay ? "2-digit" : undefined,
    hourCycle: "h23",
  });
}

type Load =
  { state: "loading" } | { state: "failed"; problem: RpcProblem } | { state: "ready"; autosaves: Autosave[] };

export function VersionsPanel() {
  const { graphId, rev } = useGraphMeta();
  const [load, setLoad] = useState<Load>({ state: "loading" });
  const [busy, setBusy] = useState<string | null>(null);

  const read = useCallback(() => {
    if (graphId === null) return undefined;
    const abort = new AbortController();
    rpc("graph.autosaves", { graphId }, abort.signal).then(
      ({ autosaves }) => setLoad({ state: "ready", autosaves }),
      (thrown: unknown) => {
        if (!abort.signal.aborted) setLoad({ state: "failed", problem: RpcProblem.from(thrown) });
      },
    );
    return () => abort.abort();
  }, [graphId]);
  // A new copy comes some time after an edit; each accepted edit is a good moment to look.
  useEffect(read, [read, rev]);

  const restore = async (autosave: Autosave) => {
    if (graphId === null) return;
    setBusy(autosave.id);
    const time = momentText(autosave.savedAt);
    try {
      await flush();
      const view = await rpc("graph.restore", { graphId, autosaveId: autosave.id });
      replaceDocument(view, t("forms.versions.undoName", { time }));
      showToast({
        tone: "done",
        text: t("forms.versions.restored", { time }),
        detail: t("forms.versions.restoredHelp"),
      });
    } catch (thrown) {
      showProblem(thrown);
    } finally {
      setBusy(null);
      read();
    }
  };

  if (load.state === "loading") {
    return (
      <div className="flex justify-center p-6 text-text-3">
        <Spinner label={t("forms.versions.loading")} />
      </div>
    );
  }
  if (load.state === "failed") {
    return (
      <EmptyState
        compact
        tone="failed"
        title={t("forms.versions.failed")}
        action={<Button onClick={read}>{t("forms.retry")}</Button>}
      >
        {load.problem.message} {load.problem.remedy}
      </EmptyState>
    );
  }
  if (load.autosaves.length === 0) {
    return (
      <EmptyState compact icon={<History size={20} />} title={t("forms.versions.none")}>
        {t("forms.versions.noneHelp")}
      </EmptyState>
    );
  }
  return (
    <ul
      className="h-full overflow-y-auto p-1.5"
      aria-label={t("forms.versions.list")}
      data-testid={formsIds.versions}
    >
      {load.autosaves.map((autosave, index) => {
        const time = momentText(autosave.savedAt);
        return (
          <li
            key={autosave.id}
            className="flex items-center gap-2 py-1.5 px-2 rounded-md hover:bg-surface-3"
            data-testid={formsIds.version(index)}
          >
            <span className="flex flex-col flex-1 min-w-0 leading-4.5">
              <time dateTime={autosave.savedAt} className="tabular-nums">
                {time}
              </time>
              <span className="text-2xs/[15px] text-text-3 tabular-nums">
                {tn("forms.many.node", "forms.many.nodes", autosave.nodes)},{" "}
                {tn("forms.many.edge", "forms.many.edges", autosave.edges)}
              </span>
            </span>
            <Button
              size="small"
              icon={<RotateCcw size={13} aria-hidden />}
              aria-label={t("forms.versions.restoreLabel", { time })}
              busy={busy === autosave.id}
              disabled={busy !== null}
              onClick={() => void restore(autosave)}
            >
              {t("forms.versions.restore")}
            </Button>
          </li>
        );
      })}
    </ul>
  );
}
