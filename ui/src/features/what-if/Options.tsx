/** What grades the rows of a what-if grid, how much they may use, and what happens with side effects. */
import { useEffect, useState } from "react";
import { Field } from "../../components/Field";
import { NumberField } from "../../components/NumberField";
import { Select } from "../../components/Select";
import { TextArea, TextField } from "../../components/TextField";
import { hintClass } from "../../components/recipes";
import type { EffectChoice } from "../../ipc/bindings/EffectChoice";
import { rpc } from "../../ipc/client";
import { whatIfIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import type { Draft } from "./draft";

interface Props {
  draft: Draft;
  threadId: string;
  checkpointId: string | null;
  onChange(change: Partial<Draft>): void;
}

const SCORERS: readonly Draft["scorer"][] = ["none", "expression", "model"];

/** A limit without those that are empty. */
function limited<L extends object>(limit: L, name: keyof L, value: number | undefined): L {
  const next = { ...limit };
  if (value === undefined) delete next[name];
  else next[name] = value as L[keyof L];
  return next;
}

export function Options({ draft, threadId, checkpointId, onChange }: Props) {
  const { limit, total } = draft;
  return (
    <div className="flex flex-col gap-3 px-2 pt-1 pb-2">
      <Scorer draft={draft} onChange={onChange} />
      <div className="grid grid-cols-2 gap-3 min-[900px]:grid-cols-3">
        <Field label={t("whatIf.repeat")}>
          <NumberField
            integer
            min={1}
            max={50}
            placeholder="1"
            value={draft.repeat}
            onChange={(repeat) => onChange({ repeat })}
          />
        </Field>
        <Field label={t("whatIf.concurrency")}>
          <NumberField
            integer
            min={1}
            max={16}
            placeholder="2"
            value={draft.concurrency}
            onChange={(concurrency) => onChange({ concurrency })}
          />
        </Field>
        <Field label={t("whatIf.seconds")}>
          <NumberField
            min={0}
            placeholder="300"
            value={limit.seconds}
            onChange={(value) => onChange({ limit: limited(limit, "seconds", value) })}
          />
        </Field>
        <Field label={t("whatIf.tokens")}>
          <NumberField
            integer
            min={1}
            value={limit.tokens}
            onChange={(value) => onChange({ limit: limited(limit, "tokens", value) })}
          />
        </Field>
        <Field label={t("whatIf.totalTokens")}>
          <NumberField
            integer
            min={1}
            value={total.tokens}
            onChange={(value) => onChange({ total: limited(total, "tokens", value) })}
          />
        </Field>
        <Field label={t("whatIf.totalCost")}>
          <NumberField
            min={0}
            value={total.cost}
            onChange={(value) => onChange({ total: limited(total, "cost", value) })}
          />
        </Field>
      </div>
      <Effects draft={draft} threadId={threadId} checkpointId={checkpointId} onChange={onChange} />
    </div>
  );
}

function Scorer({ draft, onChange }: Pick<Props, "draft" | "onChange">) {
  return (
    <div className="grid grid-cols-[180px_minmax(0,1fr)] items-start gap-3">
      <Field label={t("whatIf.scorer")}>
        <Select
          aria-label={t("whatIf.scorer")}
          value={draft.scorer}
          options={SCORERS.map((value) => ({ value, label: t(`whatIf.scorer.${value}`) }))}
          onChange={(scorer) => onChange({ scorer })}
        />
      </Field>
      {draft.scorer === "expression" && (
        <Field label={t("whatIf.expression")} description={t("whatIf.expressionHelp")}>
          <TextField
            mono
            placeholder="state.total - base.total"
            value={draft.expression}
            onChange={(expression) => onChange({ expression })}
            data-testid={whatIfIds.expression}
          />
        </Field>
      )}
      {draft.scorer === "model" && (
        <div className="flex flex-col gap-2">
          <Field label={t("whatIf.judge")}>
            <TextField
              placeholder={t("whatIf.modelExample")}
              value={draft.judge}
              onChange={(judge) => onChange({ judge })}
            />
          </Field>
          <Field label={t("whatIf.rubric")}>
            <TextArea value={draft.rubric} onChange={(rubric) => onChange({ rubric })} />
          </Field>
        </div>
      )}
    </div>
  );
}

/** Nodes that worked outside after the moment, and those that the grid names. */
function Effects({ draft, threadId, checkpointId, onChange }: Props) {
  const [done, setDone] = useState<readonly string[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    rpc("run.effects", { threadId, ...(checkpointId !== null && { checkpointId }) }, abort.signal).then(
      ({ effects }) => {
        if (!abort.signal.aborted) setDone(effects.map(({ node }) => node));
      },
      // Rows stop before such nodes anyway.
      () => {},
    );
    return () => abort.abort();
  }, [threadId, checkpointId]);
  const nodes = [...new Set([...done, ...Object.keys(draft.effects)])];
  const choose = (node: string, choice: EffectChoice) =>
    onChange({ effects: { ...draft.effects, [node]: choice } });
  return (
    <section className="flex flex-col gap-1.5">
      <h3 className="text-xs font-medium">{t("whatIf.effects")}</h3>
      <p className={hintClass}>{t("whatIf.effectsText")}</p>
      {nodes.length === 0 && <p className="text-xs text-text-2">{t("whatIf.effectsNone")}</p>}
      {nodes.map((node) => (
        <div key={node} className="grid grid-cols-[180px_240px] items-center gap-3">
          <span className="truncate text-sm">{node}</span>
          <Select<EffectChoice>
            size="small"
            aria-label={node}
            value={draft.effects[node] === "again" ? "again" : "reuse"}
            options={[
              { value: "reuse", label: t("whatIf.effect.reuse") },
              { value: "again", label: t("whatIf.effect.again") },
            ]}
            onChange={(choice) => choose(node, choice)}
          />
        </div>
      ))}
    </section>
  );
}
