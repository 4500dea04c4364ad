/**
 * Edits that are collected but not applied: what each key becomes and how, as which node they are made, and what would
 * run next then. Applying makes one new checkpoint; nothing that is stored is changed.
 */
import { GitFork, Undo2 } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { Button } from "../../components/Button";
import { IconButton } from "../../components/IconButton";
import { JsonEditor } from "../../components/JsonEditor";
import { Select } from "../../components/Select";
import { Tabs } from "../../components/Tabs";
import { applyEdits, isProblem, previewEdits } from "../../debugger/run/update-state";
import { isPast } from "../../debugger/run/situation";
import { hasReducer, toUpdate, useEdits } from "../../debugger/state/edits";
import { nodeList, preview } from "../../debugger/parts/format";
import { type ShownProblem } from "../../debugger/parts/problem";
import { useOffCannotEdit } from "../../debugger/model/only-read";
import { useRuns } from "../../debugger/model/runStore";
import { useStatus } from "../../debugger/model/status";
import type { Loaded } from "../../debugger/model/snapshots";
import { useIds } from "../../document/store";
import type { Updated } from "../../ipc/bindings/Updated";
import { listed } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";

export function EditBar({ shown }: { shown: Loaded }) {
  const pending = useEdits((edits) => edits.pending);
  const setMode = useEdits((edits) => edits.setMode);
  const setUpdate = useEdits((edits) => edits.setUpdate);
  const revert = useEdits((edits) => edits.revert);
  const setAsNode = useEdits((edits) => edits.setAsNode);
  const clear = useEdits((edits) => edits.clear);
  const nodes = useIds("node");
  const status = useStatus(pending?.threadId ?? null);
  const [answer, setAnswer] = useState<Updated | ShownProblem | null>(null);
  const [busy, setBusy] = useState(false);
  const here = pending !== null && pending.checkpointId === shown.place.checkpointId;
  const reducers = useMemo(
    () => Object.fromEntries(shown.view.keys.map((key) => [key.key, key.reducer])),
    [shown.view.keys],
  );
  const request = useMemo(() => (pending ? toUpdate(pending, reducers) : null), [pending, reducers]);
  const forks = useRuns(
    () => pending !== null && isPast({ threadId: pending.threadId, checkpointId: pending.checkpointId }),
  );
  const running = status === "running";
  const noEdit = useOffCannotEdit();
  const off = noEdit ?? (running ? t("debug.off.running") : null);

  // What would run next depends on the node and the values, so it is asked for again after each change.
  useEffect(() => {
    if (!request || running) return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      void previewEdits(request, abort.signal).then((next) => {
        if (!abort.signal.aborted) setAnswer(next);
      });
    }, 200);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [request, running]);

  if (!pending || !request) return null;
  const names = Object.keys(pending.keys);
  const ran = [...new Set(shown.view.previousTasks.map((task) => task.node))];
  const apply = async () => {
    setBusy(true);
    const done = await applyEdits(request);
    setBusy(false);
    if (isProblem(done)) setAnswer(done);
  };
  return (
    <div
      className="flex max-h-[60%] shrink-0 flex-col border-t-2 border-asking bg-surface-2"
      data-testid={debugIds.editBar}
    >
      <div className="min-h-0 overflow-y-auto px-3 py-2">
        <h3 className="flex items-center gap-2 text-xs font-semibold">
          {tn("debug.edit.titleOne", "debug.edit.title", names.length)}
          {!here && (
            <Button
              size="small"
              variant="ghost"
              onClick={() =>
                useSession
                  .getState()
                  .setCursor({ threadId: pending.threadId, checkpointId: pending.checkpointId })
              }
            >
              {t("debug.edit.goThere")}
            </Button>
          )}
        </h3>
        <ul className="mt-1 flex flex-col gap-2">
          {names.map((name) => {
            const edit = pending.keys[name];
            if (!edit) return null;
            const reducer = reducers[name] ?? "overwrite";
            return (
              <li key={name}>
                <div className="flex min-h-6 items-center gap-2">
                  <span className="max-w-32 shrink-0 truncate font-mono text-xs font-semibold">{name}</span>
                  {hasReducer(reducer) ? (
                    <Tabs
                      look="segmented"
                      label={t("debug.edit.how", { key: name })}
                      value={edit.mode}
                      onChange={(mode) => setMode(name, mode === "reduce" ? "reduce" : "replace", reducer)}
                      tabs={[
                        { id: "replace", label: t("debug.edit.replace"), title: t("debug.edit.replaceText") },
                        { id: "reduce", label: reducer, title: t("debug.edit.reduceText", { reducer }) },
                      ]}
                    />
                  ) : (
                    <span className="min-w-0 flex-1 truncate font-mono text-xs text-text-2">
                      {preview(edit.value, 60)}
                    </span>
                  )}
                  <span className="ml-auto">
                    <IconButton size="small" label={t("debug.edit.revert")} onClick={() => revert(name)}>
                      <Undo2 size={13} aria-hidden />
                    </IconButton>
                  </span>
                </div>
                {edit.mode === "reduce" && (
                  <div className="mt-1">
                    <p className="mb-1 text-2xs text-text-2">{t("debug.edit.reduceText", { reducer })}</p>
                    <JsonEditor
                      value={edit.update}
                      onChange={(update: unknown) => setUpdate(name, update)}
                      minLines={1}
                      maxLines={6}
                      aria-label={name}
                    />
                  </div>
                )}
              </li>
            );
          })}
        </ul>
        <div className="mt-2 flex items-center gap-2">
          <span className="shrink-0 text-xs text-text-2">{t("debug.edit.asNode")}</span>
          <Select<string>
            size="small"
            className="min-w-0 flex-1"
            aria-label={t("debug.edit.asNode")}
            data-testid={debugIds.editAsNode}
            value={pending.asNode ?? ""}
            onChange={(node) => setAsNode(node === "" ? undefined : node)}
            options={[
              {
                value: "",
                label:
                  ran.length > 0
                    ? t("debug.edit.lastRan", { node: listed(ran) })
                    : t("debug.edit.lastRanUnknown"),
              },
              ...nodes.map((node) => ({ value: node, label: node })),
            ]}
          />
        </div>
        <p
          className="mt-2 min-h-4 text-xs [overflow-wrap:anywhere]"
          role="status"
          data-testid={debugIds.editPreview}
        >
          {off !== null ? (
            <span className="text-text-2">{off}</span>
          ) : answer === null ? (
            <span className="text-text-2">{t("debug.loading")}</span>
          ) : isProblem(answer) ? (
            <span className="text-failed">
              {answer.message} {answer.remedy}
            </span>
          ) : (
            <span className="text-text-2">
              {answer.next.length > 0
                ? t("debug.edit.preview", { node: answer.asNode, nodes: nodeList(answer.next) })
                : t("debug.edit.previewNothing", { node: answer.asNode })}
            </span>
          )}
        </p>
      </div>
      <div className="flex items-center gap-2 border-t border-line px-3 py-2">
        <Button
          size="small"
          variant="primary"
          icon={<GitFork size={13} aria-hidden />}
          busy={busy}
          disabled={off !== null || (answer !== null && isProblem(answer))}
          onClick={() => void apply()}
          data-testid={debugIds.editApply}
        >
          {forks ? t("debug.edit.applyFork") : t("debug.edit.apply")}
        </Button>
        <Button size="small" variant="ghost" onClick={clear} data-testid={debugIds.editDiscard}>
          {t("debug.edit.discard")}
        </Button>
      </div>
    </div>
  );
}
