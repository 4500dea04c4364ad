/** A rule for threads that nobody touches: what it would do now, doing it, and doing it every day. */
import { useState } from "react";
import { Button } from "../../components/Button";
import { Field } from "../../components/Field";
import { NumberField } from "../../components/NumberField";
import { Switch } from "../../components/Switch";
import { useOnlyRead } from "../../debugger/model/only-read";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import type { RemovalView } from "../../ipc/bindings/RemovalView";
import type { RetentionRule } from "../../ipc/bindings/RetentionRule";
import { rpc } from "../../ipc/client";
import { storageIds, formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { withJob } from "../../state/jobs";
import { KeepField, Plan, removed } from "./Prune";
import { Working } from "./JobProgress";
import { storageActionsClass, storageFormClass } from "../../components/recipes";

const USUAL: RetentionRule = { idleDays: 30, keep: { type: "latest" } };

export function CleanTab() {
  const kept = useSession((session) => session.appInfo?.settings.retention);
  const setSettings = useSession((session) => session.setSettings);
  const [rule, setRule] = useState<RetentionRule>(kept ?? USUAL);
  const [plan, setPlan] = useState<RemovalView | null>(null);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const [work, setWork] = useState<string | null>(null);
  const change = (next: RetentionRule) => {
    setRule(next);
    setPlan(null);
    if (kept) setSettings({ retention: next });
  };
  const apply = async (dryRun: boolean) => {
    setProblem(null);
    try {
      const answer = await withJob((name) => rpc("storage.retain", { rule, dryRun, work: name }), setWork);
      if (dryRun) setPlan(answer);
      else {
        setPlan(null);
        removed(answer);
      }
    } catch (thrown) {
      setProblem(asProblem(thrown));
    } finally {
      setWork(null);
    }
  };
  const onlyRead = useOnlyRead((store) => store.onlyRead);
  if (onlyRead) return <p className={storageFormClass}>{t("debug.off.onlyRead")}</p>;
  return (
    <div className={storageFormClass}>
      <Field label={t("storage.clean.rule")} description={t("storage.clean.waiting")}>
        <span className="flex items-center gap-2 max-w-45">
          <NumberField
            integer
            min={1}
            value={rule.idleDays}
            onChange={(days) => change({ ...rule, idleDays: Math.max(1, days ?? 1) })}
            data-testid={storageIds.days}
          />
          <span>{t("storage.clean.days")}</span>
        </span>
      </Field>
      <KeepField value={rule.keep} onChange={(keep) => change({ ...rule, keep })} />
      <Field label={t("storage.clean.daily")} description={t("storage.clean.dailyHelp")} layout="switch">
        <Switch
          checked={kept !== undefined}
          // A rule that is left out of the settings is no rule.
          onChange={(on) =>
            setSettings({ retention: on ? rule : undefined } as Partial<{ retention: RetentionRule }>)
          }
        />
      </Field>
      {problem && <ProblemNote problem={problem} onRetry={() => void apply(true)} />}
      {plan && <Plan plan={plan} />}
      {work !== null ? (
        <Working work={work} label={t("storage.prune.looking")} />
      ) : (
        <div className={storageActionsClass}>
          {plan && plan.checkpoints > 0 ? (
            <Button variant="danger" onClick={() => void apply(false)} data-testid={formsIds.confirm}>
              {t("storage.prune.confirm")}
            </Button>
          ) : (
            <Button onClick={() => void apply(true)} data-testid={storageIds.look}>
              {t("storage.clean.look")}
            </Button>
          )}
        </div>
      )}
    </div>
  );
}
