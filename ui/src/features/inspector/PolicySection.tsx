/** How a node is run, beside what it does: retries, time limit, earlier results, deferral, what takes over. */
import { ChevronRight } from "lucide-react";
import { memo, useMemo, useState } from "react";
import { Badge } from "../../components/Badge";
import { Combobox } from "../../components/Combobox";
import { ExpressionField } from "../../components/ExpressionField";
import { Field } from "../../components/Field";
import { JsonEditor } from "../../components/JsonEditor";
import { NumberField } from "../../components/NumberField";
import { Select } from "../../components/Select";
import { Switch } from "../../components/Switch";
import { TemplateField } from "../../components/TemplateField";
import { TextArea } from "../../components/TextField";
import type { KeyInfo } from "../../components/code/jinja";
import { useIds } from "../../document/store";
import { isObject, type Json } from "../../document/types";
import type { Diagnostic } from "../../ipc/bindings/Diagnostic";
import { t, type TextKey } from "../../lib/texts";
import { policyCount, fallbackKind, fallbackOf, fieldsOf, withField, type FallbackKind } from "./policy";
import { useContextVariables } from "./keys";
import { problemsOf } from "./problems";
import { sectionClass } from "../../components/recipes";
import { formsIds } from "../../lib/testIds";

const FALLBACKS: readonly FallbackKind[] = ["none", "value", "node", "branch"];
const EFFECTS = ["unsaid", "pure", "reads", "idempotent", "once"] as const;
/** What a switch begins with. */
const BEGIN: Record<string, Json> = { retry: 3, timeout: 60, cache: true };

interface PolicyProps {
  name: string;
  record: Readonly<Record<string, Json>>;
  diagnostics: readonly Diagnostic[];
  keys: readonly KeyInfo[];
  set(pointer: string, value: Json | undefined, what: string): void;
}

export const PolicySection = memo(function PolicySection({
  name,
  record,
  diagnostics,
  keys,
  set,
}: PolicyProps) {
  const used = policyCount(record);
  const wrong = diagnostics.some((each) =>
    /^\/(retry|timeout|cache|defer|fallback|effect|concurrency|max_visits|summary)(\/|$)/.test(
      each.pointer ?? "",
    ),
  );
  const [chosen, setChosen] = useState<boolean | null>(null);
  const open = chosen ?? (used > 0 || wrong);
  const context = useContextVariables();
  const variables = useMemo(() => ["update", ...context], [context]);
  const effect = EFFECTS.find((one) => one === record["effect"]) ?? "unsaid";
  return (
    <section className={sectionClass} data-testid={formsIds.inspectorPolicy}>
      <h3>
        <button
          type="button"
          className="flex items-center gap-1.5 w-full min-h-7 text-xs/inherit font-semibold text-text-2 text-left [&>svg]:transition-[rotate] aria-expanded:[&>svg]:rotate-90"
          aria-expanded={open}
          onClick={() => setChosen(!open)}
        >
          <ChevronRight size={14} aria-hidden />
          {t("forms.policy")}
          {used > 0 && <Badge>{used}</Badge>}
        </button>
      </h3>
      {open && (
        <div className="flex flex-col gap-3">
          <Retry record={record} diagnostics={diagnostics} keys={keys} name={name} set={set} />
          <TimeLimit record={record} diagnostics={diagnostics} keys={keys} name={name} set={set} />
          <Cache record={record} diagnostics={diagnostics} keys={keys} name={name} set={set} />
          <Field
            label={t("forms.policy.defer")}
            description={t("forms.policy.deferHelp")}
            layout="switch"
            pointer="/defer"
            error={problemsOf(diagnostics, (pointer) => pointer === "/defer")}
          >
            <Switch
              checked={record["defer"] === true}
              onChange={(on) => set("/defer", on ? true : undefined, t("forms.policy.defer"))}
            />
          </Field>
          <Fallback record={record} diagnostics={diagnostics} keys={keys} name={name} set={set} />
          <Field
            label={t("forms.policy.concurrency")}
            description={t("forms.policy.concurrencyHelp")}
            pointer="/concurrency"
            error={problemsOf(diagnostics, (pointer) => pointer === "/concurrency")}
          >
            <NumberField
              value={number(record["concurrency"])}
              placeholder={t("forms.policy.concurrencyNone")}
              min={1}
              integer
              onChange={(value) => set("/concurrency", value, t("forms.policy.concurrency"))}
            />
          </Field>
          <Field
            label={t("forms.policy.visits")}
            description={t("forms.policy.visitsHelp")}
            pointer="/max_visits"
            error={problemsOf(diagnostics, (pointer) => pointer === "/max_visits")}
          >
            <NumberField
              value={number(record["max_visits"])}
              placeholder={t("forms.policy.visitsNone")}
              min={1}
              integer
              onChange={(value) => set("/max_visits", value, t("forms.policy.visits"))}
            />
          </Field>
          <Field
            label={t("forms.summary")}
            description={t("forms.summary.nodeHelp")}
            pointer="/summary"
            error={problemsOf(diagnostics, (pointer) => pointer === "/summary")}
          >
            <TemplateField
              value={typeof record["summary"] === "string" ? record["summary"] : ""}
              keys={keys}
              variables={variables}
              minLines={2}
              maxLines={8}
              placeholder={t("forms.summary.placeholder")}
              data-testid={formsIds.summary}
              onChange={(value) => set("/summary", value === "" ? undefined : value, t("forms.summary"))}
            />
          </Field>
          <Field
            label={t("forms.policy.effect")}
            description={t(`forms.policy.effect.${effect}Help`)}
            pointer="/effect"
            error={problemsOf(diagnostics, (pointer) => pointer === "/effect")}
          >
            <Select
              value={effect}
              onChange={(next) =>
                set("/effect", next === "unsaid" ? undefined : next, t("forms.policy.effect"))
              }
              options={EFFECTS.map((value) => ({ value, label: t(`forms.policy.effect.${value}`) }))}
            />
          </Field>
        </div>
      )}
    </section>
  );
});

interface PartProps extends PolicyProps {
  part: "retry" | "timeout" | "cache";
  label: TextKey;
  help: TextKey;
  /** The field that a bare number stands for. */
  short: string;
  children(
    fields: Record<string, Json>,
    change: (field: string, value: Json | undefined) => void,
    errors: (field: string) => ReturnType<typeof problemsOf>,
  ): React.ReactNode;
}

/** A part that is there or not, with its fields below the switch. */
function Part({ record, diagnostics, set, part, label, help, short, children }: PartProps) {
  const fields = fieldsOf(record[part], short);
  const pointer = `/${part}`;
  const what = t(label);
  return (
    <div className="flex flex-col gap-3" data-testid={formsIds.policy(part)}>
      <Field
        label={what}
        description={t(help)}
        layout="switch"
        pointer={pointer}
        error={problemsOf(diagnostics, (at) => at === pointer)}
      >
        <Switch
          checked={fields !== null}
          onChange={(on) => set(pointer, on ? BEGIN[part] : undefined, what)}
        />
      </Field>
      {fields === undefined && (
        <Field
          label={t("forms.policy.policies")}
          description={t("forms.policy.policiesHelp")}
          error={problemsOf(diagnostics, (at) => at.startsWith(`${pointer}/`))}
        >
          <JsonEditor value={record[part] ?? null} onChange={(next) => set(pointer, next, what)} />
        </Field>
      )}
      {fields && (
        <div className="flex flex-col gap-3 pl-2.5 border-l-2 border-line">
          {children(
            fields,
            (field, value) => set(pointer, withField(fields, field, value), what),
            (field) => problemsOf(diagnostics, (at) => at === `${pointer}/${field}`),
          )}
        </div>
      )}
    </div>
  );
}

const number = (value: Json | undefined) => (typeof value === "number" ? value : undefined);

function Retry(props: PolicyProps) {
  return (
    <Part {...props} part="retry" label="forms.policy.retry" help="forms.policy.retryHelp" short="attempts">
      {(fields, change, errors) => {
        const field = (name: string, label: TextKey, usual: number, min: number, integer = false) => (
          <Field label={t(label)} pointer={`/retry/${name}`} error={errors(name)}>
            <NumberField
              value={number(fields[name])}
              placeholder={String(usual)}
              min={min}
              integer={integer}
              onChange={(value) => change(name, value)}
            />
          </Field>
        );
        const classes = Array.isArray(fields["retry_on"]) ? fields["retry_on"].join("\n") : "";
        return (
          <>
            <div className="grid grid-cols-2 items-end gap-2">
              {field("attempts", "forms.policy.attempts", 3, 1, true)}
              {field("initial_interval", "forms.policy.initial", 0.5, 0)}
            </div>
            <div className="grid grid-cols-2 items-end gap-2">
              {field("backoff_factor", "forms.policy.factor", 2, 1)}
              {field("max_interval", "forms.policy.max", 128, 0)}
            </div>
            <Field label={t("forms.policy.jitter")} layout="switch" error={errors("jitter")}>
              <Switch
                checked={fields["jitter"] !== false}
                onChange={(on) => change("jitter", on ? undefined : false)}
              />
            </Field>
            <Field
              label={t("forms.policy.retryOn")}
              description={t("forms.policy.retryOnHelp")}
              pointer="/retry/retry_on"
              error={errors("retry_on")}
            >
              <TextArea
                mono
                minRows={1}
                value={classes}
                placeholder="ConnectionError"
                onChange={(text) => change("retry_on", text === "" ? undefined : text.split("\n"))}
              />
            </Field>
          </>
        );
      }}
    </Part>
  );
}

function TimeLimit(props: PolicyProps) {
  return (
    <Part {...props} part="timeout" label="forms.policy.timeout" help="forms.policy.timeoutHelp" short="run">
      {(fields, change, errors) => (
        <>
          <div className="grid grid-cols-2 items-end gap-2">
            {(["run", "idle"] as const).map((name) => (
              <Field
                key={name}
                label={t(`forms.policy.${name}`)}
                pointer={`/timeout/${name}`}
                error={errors(name)}
              >
                <NumberField value={number(fields[name])} min={0} onChange={(value) => change(name, value)} />
              </Field>
            ))}
          </div>
          <Field label={t("forms.policy.heartbeat")} layout="switch" error={errors("refresh_on")}>
            <Switch
              checked={fields["refresh_on"] === "heartbeat"}
              onChange={(on) => change("refresh_on", on ? "heartbeat" : undefined)}
            />
          </Field>
        </>
      )}
    </Part>
  );
}

function Cache(props: PolicyProps) {
  const variables = useContextVariables();
  return (
    <Part {...props} part="cache" label="forms.policy.cache" help="forms.policy.cacheHelp" short="ttl">
      {(fields, change, errors) => (
        <>
          <Field label={t("forms.policy.ttl")} pointer="/cache/ttl" error={errors("ttl")}>
            <NumberField
              value={number(fields["ttl"])}
              min={0}
              placeholder={t("forms.policy.ttlNone")}
              onChange={(value) => change("ttl", value)}
            />
          </Field>
          <Field
            label={t("forms.policy.key")}
            description={t("forms.policy.keyHelp")}
            pointer="/cache/key"
            error={errors("key")}
          >
            <ExpressionField
              keys={props.keys}
              variables={variables}
              value={typeof fields["key"] === "string" ? fields["key"] : ""}
              onChange={(value) => change("key", value)}
            />
          </Field>
        </>
      )}
    </Part>
  );
}

/** What takes over when the last attempt has failed. */
export function Fallback({ name, record, diagnostics, keys, set }: PolicyProps) {
  const fallback = record["fallback"];
  const nodes = useIds("node");
  const kind = fallbackKind(fallback);
  const fields = isObject(fallback) ? fallback : {};
  const what = t("forms.policy.fallback");
  const place = kind === "branch" ? "to" : "node";
  const text = (field: string) => (typeof fields[field] === "string" ? fields[field] : "");
  const errors = (field: string) => problemsOf(diagnostics, (at) => at === `/fallback/${field}`);
  const change = (field: string, value: Json | undefined) =>
    set("/fallback", withField(fields, field, value), what);
  return (
    <div className="flex flex-col gap-3" data-testid={formsIds.policy("fallback")}>
      <Field label={what} pointer="/fallback" error={problemsOf(diagnostics, (at) => at === "/fallback")}>
        <Select
          value={kind}
          onChange={(next) => set("/fallback", fallbackOf(next, fallback), what)}
          options={FALLBACKS.map((value) => ({ value, label: t(`forms.policy.fallback.${value}`) }))}
        />
      </Field>
      {kind === "value" && (
        <Field label={t("forms.policy.fallback.update")} pointer="/fallback/value" error={errors("value")}>
          <JsonEditor value={fields["value"] ?? {}} onChange={(next) => change("value", next ?? {})} />
        </Field>
      )}
      {(kind === "node" || kind === "branch") && (
        <Field label={t("forms.policy.fallback.other")} pointer={`/fallback/${place}`} error={errors(place)}>
          <Combobox
            mono
            choose
            value={text(place)}
            // A choice that is being made is not yet a different kind.
            onChange={(next) => set("/fallback", { ...fields, [place]: next }, what)}
            items={nodes.filter((other) => other !== name).map((value) => ({ value }))}
          />
        </Field>
      )}
      {kind === "branch" && (
        <Field label={t("forms.policy.fallback.into")} pointer="/fallback/into" error={errors("into")}>
          <Combobox
            mono
            choose
            value={text("into")}
            onChange={(next) => change("into", next)}
            items={keys.map((key) => ({ value: key.name, hint: key.type, description: key.description }))}
          />
        </Field>
      )}
    </div>
  );
}
