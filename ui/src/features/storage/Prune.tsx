/** What stays of threads, and what would go: nothing is removed before it has been shown. */
import { useEffect, useState } from "react";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { NumberField } from "../../components/NumberField";
import { Select } from "../../components/Select";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { loadCheckpoints } from "../../debugger/model/checkpoints";
import type { KeepRule } from "../../ipc/bindings/KeepRule";
import type { RemovalView } from "../../ipc/bindings/RemovalView";
import { rpc } from "../../ipc/client";
import { bytes } from "../../lib/intl";
import { storageIds, formsIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { showProblem, showToast } from "../../state/toasts";
import { stopJob, withJob } from "../../state/jobs";
import { useAnswer } from "../../debugger/model/useAnswer";
import { Working } from "./JobProgress";

const KINDS = ["latest", "branches", "newest", "nothing"] as const;
const SHOWN = 8;

export function KeepField({ value, onChange }: { value: KeepRule; onChange(value: KeepRule): void }) {
  return (
    <>
      <Field label={t("storage.prune.keep")} description={t(`storage.prune.${value.type}Help`)}>
        <Select
          value={value.type}
          onChange={(type) => onChange(type === "newest" ? { type, count: 10 } : { type })}
          options={KINDS.map((type) => ({ value: type, label: t(`storage.prune.${type}`) }))}
        />
      </Field>
      {value.type === "newest" && (
        <Field label={t("storage.prune.count")}>
          <NumberField
            integer
            min={1}
            value={value.count}
            onChange={(count) => onChange({ type: "newest", count: Math.max(1, count ?? 1) })}
          />
        </Field>
      )}
    </>
  );
}

/** What goes, with the forks that are lost by name. */
export function Plan({ plan }: { plan: RemovalView }) {
  return (
    <div
      className="flex flex-col gap-1 mt-2 py-2.5 px-3 rounded-md bg-surface-0 text-sm/inherit [&_ul]:pl-4.5 [&_ul]:list-disc [&_ul]:text-xs/inherit [&_ul]:text-text-2 tabular-nums"
      data-testid={storageIds.plan}
      role="status"
    >
      {plan.checkpoints === 0 ? (
        <p>{t("storage.prune.none")}</p>
      ) : (
        <p>
          <strong>{tn("storage.prune.goesOne", "storage.prune.goes", plan.checkpoints)}</strong>{" "}
          {plan.bytes !== undefined && t("storage.prune.bytes", { bytes: bytes(plan.bytes) })}
        </p>
      )}
      {plan.threads > 0 && <p>{tn("storage.prune.threadsOne", "storage.prune.threads", plan.threads)}</p>}
      {plan.checkpoints > 0 && plan.bookmarks > 0 && (
        <p>{tn("storage.prune.bookmarksOne", "storage.prune.bookmarks", plan.bookmarks)}</p>
      )}
      {plan.branchCount > 0 && (
        <>
          <p className="text-failed">
            {tn("storage.prune.branchesLostOne", "storage.prune.branchesLost", plan.branchCount)}
          </p>
          <ul>
            {plan.branches.slice(0, SHOWN).map((branch) => (
              <li key={`${branch.threadId}/${branch.checkpointId}`}>
                {branch.title} <code>{branch.checkpointId.slice(0, 13)}</code>
              </li>
            ))}
            {plan.branchCount > SHOWN && (
              <li>{t("storage.prune.andMore", { n: plan.branchCount - SHOWN })}</li>
            )}
          </ul>
        </>
      )}
    </div>
  );
}

export function removed(went: RemovalView): void {
  showToast({ tone: "done", text: tn("storage.prune.doneOne", "storage.prune.done", went.checkpoints) });
}

interface PruneProps {
  threadId: string;
  title: string;
  onClose(): void;
}

export function PruneDialog({ threadId, title, onClose }: PruneProps) {
  const [keep, setKeep] = useState<KeepRule>({ type: "latest" });
  const [asked, setAsked] = useState(keep);
  const [busy, setBusy] = useState(false);
  const [work, setWork] = useState<string | null>(null);
  // A number that is being typed is not a question each time.
  useEffect(() => {
    const timer = setTimeout(() => setAsked(keep), 200);
    return () => clearTimeout(timer);
  }, [keep]);
  const plan = useAnswer(JSON.stringify(asked), (signal) =>
    withJob((name) => {
      // Nobody waits for the answer to an older question, nor for one whose dialog is closed.
      signal.addEventListener("abort", () => stopJob(name), { once: true });
      return rpc("thread.prune", { threadIds: [threadId], keep: asked, dryRun: true, work: name }, signal);
    }, setWork),
  );
  const current = keep === asked;
  const remove = async () => {
    setBusy(true);
    try {
      removed(
        await withJob(
          (name) => rpc("thread.prune", { threadIds: [threadId], keep: asked, dryRun: false, work: name }),
          setWork,
        ),
      );
      void loadCheckpoints(threadId, true);
      onClose();
    } catch (problem) {
      showProblem(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t("storage.prune.title", { title })}
      data-testid={storageIds.prune}
      actions={
        <>
          <Button onClick={onClose}>{t("storage.cancel")}</Button>
          <Button
            variant="danger"
            busy={busy}
            disabled={!current || !plan.value || plan.value.checkpoints === 0}
            onClick={() => void remove()}
            data-testid={formsIds.confirm}
          >
            {t("storage.prune.confirm")}
          </Button>
        </>
      }
    >
      <KeepField value={keep} onChange={setKeep} />
      {plan.problem && <ProblemNote problem={plan.problem} onRetry={plan.again} />}
      {!plan.problem && (busy || !plan.value || !current) && (
        <Working work={work} label={t("storage.prune.looking")} />
      )}
      {current && plan.value && <Plan plan={plan.value} />}
    </Dialog>
  );
}
