/** Reads everything that is stored and says what is damaged; repairs what can be repaired. */
import { CircleCheck, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/Button";
import { ConfirmDialog } from "../../components/Dialog";
import { EmptyState } from "../../components/EmptyState";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import type { IntegrityView } from "../../ipc/bindings/IntegrityView";
import { rpc } from "../../ipc/client";
import { count } from "../../lib/intl";
import { storageIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { withJob } from "../../state/jobs";
import { Working } from "./JobProgress";
import { hintClass, storageActionsClass, storageFormClass } from "../../components/recipes";

export function CheckTab() {
  const [found, setFound] = useState<IntegrityView | null>(null);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const [running, setRunning] = useState(false);
  const [work, setWork] = useState<string | null>(null);
  const [asking, setAsking] = useState(false);
  const check = async (repair: boolean) => {
    setRunning(true);
    setProblem(null);
    setAsking(false);
    try {
      setFound(await withJob((work) => rpc("storage.verify", { repair, work }), setWork));
    } catch (thrown) {
      const problem = asProblem(thrown);
      // It was stopped here, by the person who reads this.
      if (problem.code !== "stopped") setProblem(problem);
    } finally {
      setWork(null);
      setRunning(false);
    }
  };
  const start = (
    <Button onClick={() => void check(false)} data-testid={storageIds.check}>
      {t("storage.check.start")}
    </Button>
  );
  if (running) {
    return (
      <div className="flex flex-col items-center gap-2 py-12">
        <p>{t("storage.check.running")}</p>
        <p className={hintClass}>{t("storage.check.leave")}</p>
        <Working work={work} label={t("storage.check.running")} />
      </div>
    );
  }
  if (problem) return <ProblemNote problem={problem} onRetry={() => void check(false)} />;
  if (!found) {
    return (
      <EmptyState title={t("storage.tab.check")} action={start}>
        {t("storage.check.text")}
      </EmptyState>
    );
  }
  const read = t("storage.check.soundText", {
    threads: count(found.threads),
    checkpoints: count(found.checkpoints),
    items: count(found.items),
  });
  if (found.damage.length === 0) {
    return (
      <div data-testid={storageIds.integrity}>
        <EmptyState
          icon={<CircleCheck size={22} className="text-done" aria-hidden />}
          title={t("storage.check.sound")}
          action={start}
        >
          {read}
        </EmptyState>
      </div>
    );
  }
  const repairable = !found.repaired && found.damage.some((damage) => damage.repair !== undefined);
  return (
    <div className={storageFormClass} data-testid={storageIds.integrity}>
      <h3 className="flex items-center gap-1.5 text-sm/inherit! text-failed!">
        <TriangleAlert size={16} aria-hidden />
        {found.repaired
          ? t("storage.check.repaired")
          : tn("storage.check.damageOne", "storage.check.damage", found.damage.length)}
      </h3>
      <p className={hintClass}>{read}</p>
      <ul className="flex flex-col gap-2 [&_li]:py-2 [&_li]:px-2.5 [&_li]:rounded-md [&_li]:bg-surface-0 [&_li]:text-sm/inherit [&_li]:wrap-anywhere select-text">
        {found.damage.map((damage, index) => (
          <li key={index}>
            {damage.threadId !== undefined && <code>{damage.threadId}</code>}
            <p>{damage.what}</p>
            <p className={hintClass}>
              {damage.repair === undefined
                ? t("storage.check.cannot")
                : t(found.repaired ? "storage.check.did" : "storage.check.would", { repair: damage.repair })}
            </p>
          </li>
        ))}
      </ul>
      <div className={storageActionsClass}>
        {start}
        {repairable && (
          <Button variant="danger" onClick={() => setAsking(true)}>
            {t("storage.check.repair")}
          </Button>
        )}
      </div>
      <ConfirmDialog
        open={asking}
        title={t("storage.check.repairTitle")}
        text={t("storage.check.repairText")}
        confirm={t("storage.check.repairYes")}
        onConfirm={() => void check(true)}
        onCancel={() => setAsking(false)}
      />
    </div>
  );
}
