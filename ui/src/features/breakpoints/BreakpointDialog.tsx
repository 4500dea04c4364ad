/** One breakpoint: its place, its condition, which hits count, and whether it stops or logs. */
import { useMemo, useState } from "react";
import { ExpressionField } from "../../components/ExpressionField";
import { Field } from "../../components/Field";
import { FormDialog } from "../../components/FormDialog";
import { NumberField } from "../../components/NumberField";
import { Select } from "../../components/Select";
import { Switch } from "../../components/Switch";
import { TextField } from "../../components/TextField";
import { UnknownKeys } from "../../components/UnknownKeys";
import { editBreakpoint, useBreakpointDialog } from "../../debugger/run/breakpoint-dialog";
import { placeText } from "../../debugger/run/breakpoint-text";
import { setBreakpoint } from "../../debugger/run/breakpoints";
import { useIds } from "../../document/store";
import type { BreakHits } from "../../ipc/bindings/BreakHits";
import type { Breakpoint } from "../../ipc/bindings/Breakpoint";
import { rpc } from "../../ipc/client";
import { listed } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { asProblem } from "../../debugger/parts/problem";

export function BreakpointDialog() {
  const point = useBreakpointDialog((store) => store.point);
  return point === null ? null : <Form key={point.id ?? point.node} point={point} />;
}

type Rule = "each" | BreakHits["rule"];
const RULES: readonly Rule[] = ["each", "every", "nth", "from"];
const NODE_PLACES: ReadonlySet<Breakpoint["when"]> = new Set([
  "before",
  "after",
  "edge",
  "error",
  "retry",
  "question",
  "emitted",
]);
const LIMITS: ReadonlySet<Breakpoint["when"]> = new Set([
  "steps",
  "seconds",
  "stateBytes",
  "keyBytes",
  "tokens",
]);
/** What a condition sees beside `state`, by place. */
const VARIABLES: Partial<Record<Breakpoint["when"], readonly string[]>> = {
  key: ["old", "new", "writer", "task", "run"],
  before: ["task", "run"],
  retry: ["task", "run"],
  emitted: ["value", "old", "task", "run"],
  question: ["value", "task", "run"],
  error: ["task", "run"],
};

const text = (value: string): string | undefined => (value.trim() === "" ? undefined : value.trim());

function Form({ point: given }: { point: Breakpoint }) {
  const [point, setPoint] = useState(given);
  const [problem, setProblem] = useState<string | null>(null);
  const nodes = useIds("node");
  const keyIds = useIds("key");
  const keys = useMemo(() => keyIds.map((name) => ({ name, type: "", description: undefined })), [keyIds]);
  const change = (part: Partial<Breakpoint>) => {
    setPoint({ ...point, ...part });
    setProblem(null);
  };
  const rule: Rule = point.hits?.rule ?? "each";
  const setHits = (next: Rule, n: number) => {
    const { hits: _, ...rest } = point;
    setPoint(next === "each" ? rest : { ...rest, hits: { rule: next, n: Math.max(1, n) } });
    setProblem(null);
  };
  const nodeOptions = [
    { value: "*", label: t("breakpoints.anyNode") },
    ...nodes.map((node) => ({ value: node, label: node })),
  ];
  // A nested graph has keys of its own.
  const isOfThisGraph = text(point.within ?? "") === undefined;
  const isDone =
    (point.when !== "watch" || text(point.condition ?? "") !== undefined) &&
    (!NODE_PLACES.has(point.when) || point.node !== "") &&
    (point.when !== "key" && point.when !== "keyBytes" ? true : (point.key ?? "") !== "") &&
    (!LIMITS.has(point.when) || (point.limit ?? 0) > 0) &&
    (point.when !== "cost" || (point.amount ?? 0) > 0);

  const save = async () => {
    const next = cleaned(point);
    try {
      const { graphId } = useSession.getState();
      await rpc("breakpoint.check", { point: next, ...(graphId !== null && { graphId }) });
    } catch (refused) {
      const { message, remedy } = asProblem(refused);
      setProblem([message, remedy].filter(Boolean).join(" "));
      return;
    }
    setBreakpoint(next);
    editBreakpoint(null);
  };
  return (
    <FormDialog
      onClose={() => editBreakpoint(null)}
      size="medium"
      title={placeText(point)}
      save={t("breakpoints.save")}
      isDone={isDone}
      onSave={() => void save()}
      className="gap-3"
      saveTestId={debugIds.breakpointSave}
      data-testid={debugIds.breakpointDialog}
    >
      {NODE_PLACES.has(point.when) && (
        <Field label={t(point.when === "edge" ? "breakpoints.from" : "breakpoints.node")}>
          <Select value={point.node} options={nodeOptions} onChange={(node) => change({ node })} />
        </Field>
      )}
      {point.when === "edge" && (
        <Field label={t("breakpoints.to")}>
          <Select
            value={point.to}
            options={[...nodeOptions, { value: "__end__", label: t("canvas.end") }]}
            onChange={(to) => change({ to })}
          />
        </Field>
      )}
      {(point.when === "key" || point.when === "keyBytes") && (
        <Field label={t("breakpoints.stateKey")}>
          <Select
            value={point.key}
            placeholder={t("breakpoints.chooseKey")}
            options={keyIds.map((key) => ({ value: key, label: key }))}
            onChange={(key) => change({ key })}
          />
        </Field>
      )}
      {(point.when === "error" || point.when === "question") && (
        <Field
          label={t(point.when === "error" ? "breakpoints.class" : "breakpoints.kind")}
          description={t(point.when === "error" ? "breakpoints.classHelp" : "breakpoints.kindHelp")}
        >
          <TextField value={point.kind ?? ""} onChange={(kind) => change({ kind })} />
        </Field>
      )}
      {point.when === "cost" && (
        <Field label={t("breakpoints.limit.cost")} description={t("breakpoints.costHelp")}>
          <NumberField
            value={point.amount}
            min={0}
            step={0.1}
            onChange={(amount) => change({ amount: amount ?? 0 })}
          />
        </Field>
      )}
      {LIMITS.has(point.when) && (
        <Field
          label={t(`breakpoints.limit.${point.when as "steps"}`)}
          {...(point.when === "tokens" && { description: t("breakpoints.tokensHelp") })}
        >
          <NumberField
            value={point.limit}
            integer
            min={1}
            onChange={(limit) => change({ limit: limit ?? 0 })}
          />
        </Field>
      )}
      <Field
        label={t("breakpoints.condition")}
        required={point.when === "watch"}
        description={t("breakpoints.conditionHelp", {
          names: listed(["state", ...(VARIABLES[point.when] ?? ["old", "task", "run"])]),
        })}
        {...(problem !== null && { error: problem })}
      >
        <ExpressionField
          value={point.condition ?? ""}
          onChange={(condition) => change({ condition })}
          onCommit={() => {
            if (isDone) void save();
          }}
          keys={keys}
          variables={VARIABLES[point.when] ?? ["old", "task", "run"]}
          error={problem ?? undefined}
          tellsUnknownKeys={isOfThisGraph}
          autoFocus
          aria-label={t("breakpoints.condition")}
          data-testid={debugIds.breakpointCondition}
        />
      </Field>
      <Field label={t("breakpoints.hitsLabel")}>
        <span className="flex gap-2">
          <Select
            className="flex-1"
            value={rule}
            options={RULES.map((value) => ({ value, label: t(`breakpoints.rule.${value}`) }))}
            onChange={(next) => setHits(next, point.hits?.n ?? 2)}
          />
          {rule !== "each" && (
            <NumberField
              className="w-24"
              value={point.hits?.n}
              integer
              min={1}
              aria-label={t("breakpoints.hitsNumber")}
              onChange={(n) => setHits(rule, n ?? 1)}
            />
          )}
        </span>
      </Field>
      <Field label={t("breakpoints.withinLabel")} description={t("breakpoints.withinHelp")}>
        <TextField value={point.within ?? ""} onChange={(within) => change({ within })} />
      </Field>
      <Field label={t("breakpoints.log")} description={t("breakpoints.logHelp")}>
        <TextField value={point.log ?? ""} onChange={(log) => change({ log })} />
        {isOfThisGraph && (
          <UnknownKeys text={point.log ?? ""} keys={keyIds} template onChange={(log) => change({ log })} />
        )}
      </Field>
      <Field label={t("breakpoints.once")} layout="switch">
        <Switch
          checked={point.once === true}
          disabled={text(point.log ?? "") !== undefined}
          onChange={(once) => change({ once })}
          aria-label={t("breakpoints.once")}
        />
      </Field>
    </FormDialog>
  );
}

/** Without what is empty. */
function cleaned(point: Breakpoint): Breakpoint {
  const { condition, kind, within, log, once, ...rest } = point;
  const given = {
    condition: text(condition ?? ""),
    kind: text(kind ?? ""),
    within: text(within ?? ""),
    log: text(log ?? ""),
    once: once === true && text(log ?? "") === undefined ? true : undefined,
  };
  const kept = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { ...rest, id: point.id ?? crypto.randomUUID(), ...kept };
}
