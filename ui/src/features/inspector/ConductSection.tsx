/** How a node is run, beside what it does: retries, time limit, earlier results, deferral, what takes over. */
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { Badge } from "../../components/Badge";
import { Combobox } from "../../components/Combobox";
import { ExpressionField } from "../../components/ExpressionField";
import { Field } from "../../components/Field";
import { JsonEditor } from "../../components/JsonEditor";
import { NumberField } from "../../components/NumberField";
import { Select } from "../../components/Select";
import { Switch } from "../../components/Switch";
import { TextArea } from "../../components/TextField";
import type { KeyInfo } from "../../components/code/jinja";
import { isObject, type Json } from "../../document/types";
import type { Diagnostic } from "../../ipc/bindings/Diagnostic";
import { t, type TextKey } from "../../lib/texts";
import { conductCount, fallbackKind, fallbackOf, fieldsOf, withField, type FallbackKind } from "./conduct";
import { targetNames } from "./editors";
import { problemsOf } from "./problems";

const FALLBACKS: readonly FallbackKind[] = ["none", "value", "node", "branch"];
const EFFECTS = ["unsaid", "pure", "reads", "idempotent", "once"] as const;
/** What a switch begins with. */
const BEGIN: Record<string, Json> = { retry: 3, timeout: 60, cache: true };

interface ConductProps {
  name: string;
  record: Readonly<Record<string, Json>>;
  diagnostics: readonly Diagnostic[];
  keys: readonly KeyInfo[];
  set(pointer: string, value: Json | undefined, what: string): void;
}

export function ConductSection({ name, record, diagnostics, keys, set }: ConductProps) {
  const used = conductCount(record);
  const wrong = diagnostics.some((each) =>
    /^\/(retry|timeout|cache|defer|fallback|effect|concurrency|max_visits)(\/|$)/.test(each.pointer ?? ""),
  );
  const [chosen, setChosen] = useState<boolean | null>(null);
  const open = chosen ?? (used > 0 || wrong);
  const effect = EFFECTS.find((one) => one === record["effect"]) ?? "unsaid";
  return (
    <section className="ss-section" data-testid="inspector-conduct">
      <h3>
        <button
          type="button"
          className="conduct-toggle"
          aria-expanded={open}
          onClick={() => setChosen(!open)}
        >
          <ChevronRight size={14} aria-hidden />
          {t("forms.conduct")}
          {used > 0 && <Badge>{used}</Badge>}
        </button>
      </h3>
      {open && (
        <div className="conduct">
          <Retry record={record} diagnostics={diagnostics} keys={keys} name={name} set={set} />
          <TimeLimit record={record} diagnostics={diagnostics} keys={keys} name={name} set={set} />
          <Cache record={record} diagnostics={diagnostics} keys={keys} name={name} set={set} />
          <Field
            label={t("forms.conduct.defer")}
            description={t("forms.conduct.deferHelp")}
            className="ss-field-switch"
            pointer="/defer"
            error={problemsOf(diagnostics, (pointer) => pointer === "/defer")}
          >
            <Switch
              checked={record["defer"] === true}
              onChange={(on) => set("/defer", on ? true : undefined, t("forms.conduct.defer"))}
            />
          </Field>
          <Fallback record={record} diagnostics={diagnostics} keys={keys} name={name} set={set} />
          <Field
            label={t("forms.conduct.concurrency")}
            description={t("forms.conduct.concurrencyHelp")}
            pointer="/concurrency"
            error={problemsOf(diagnostics, (pointer) => pointer === "/concurrency")}
          >
            <NumberField
              value={number(record["concurrency"])}
              placeholder={t("forms.conduct.concurrencyNone")}
              min={1}
              integer
              onChange={(value) => set("/concurrency", value, t("forms.conduct.concurrency"))}
            />
          </Field>
          <Field
            label={t("forms.conduct.visits")}
            description={t("forms.conduct.visitsHelp")}
            pointer="/max_visits"
            error={problemsOf(diagnostics, (pointer) => pointer === "/max_visits")}
          >
            <NumberField
              value={number(record["max_visits"])}
              placeholder={t("forms.conduct.visitsNone")}
              min={1}
              integer
              onChange={(value) => set("/max_visits", value, t("forms.conduct.visits"))}
            />
          </Field>
          <Field
            label={t("forms.conduct.effect")}
            description={t(`forms.conduct.effect.${effect}Help`)}
            pointer="/effect"
            error={problemsOf(diagnostics, (pointer) => pointer === "/effect")}
          >
            <Select
              value={effect}
              onChange={(next) =>
                set("/effect", next === "unsaid" ? undefined : next, t("forms.conduct.effect"))
              }
              options={EFFECTS.map((value) => ({ value, label: t(`forms.conduct.effect.${value}`) }))}
            />
          </Field>
        </div>
      )}
    </section>
  );
}

interface PartProps extends ConductProps {
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
    <div className="conduct-part" data-testid={`conduct-${part}`}>
      <Field
        label={what}
        description={t(help)}
        className="ss-field-switch"
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
          label={t("forms.conduct.policies")}
          description={t("forms.conduct.policiesHelp")}
          error={problemsOf(diagnostics, (at) => at.startsWith(`${pointer}/`))}
        >
          <JsonEditor value={record[part] ?? null} onChange={(next) => set(pointer, next, what)} />
        </Field>
      )}
      {fields && (
        <div className="conduct-fields">
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

function Retry(props: ConductProps) {
  return (
    <Part {...props} part="retry" label="forms.conduct.retry" help="forms.conduct.retryHelp" short="attempts">
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
            <div className="conduct-row">
              {field("attempts", "forms.conduct.attempts", 3, 1, true)}
              {field("initial_interval", "forms.conduct.initial", 0.5, 0)}
            </div>
            <div className="conduct-row">
              {field("backoff_factor", "forms.conduct.factor", 2, 1)}
              {field("max_interval", "forms.conduct.max", 128, 0)}
            </div>
            <Field label={t("forms.conduct.jitter")} className="ss-field-switch" error={errors("jitter")}>
              <Switch
                checked={fields["jitter"] !== false}
                onChange={(on) => change("jitter", on ? undefined : false)}
              />
            </Field>
            <Field
              label={t("forms.conduct.retryOn")}
              description={t("forms.conduct.retryOnHelp")}
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

function TimeLimit(props: ConductProps) {
  return (
    <Part
      {...props}
      part="timeout"
      label="forms.conduct.timeout"
      help="forms.conduct.timeoutHelp"
      short="run"
    >
      {(fields, change, errors) => (
        <>
          <div className="conduct-row">
            {(["run", "idle"] as const).map((name) => (
              <Field
                key={name}
                label={t(`forms.conduct.${name}`)}
                pointer={`/timeout/${name}`}
                error={errors(name)}
              >
                <NumberField value={number(fields[name])} min={0} onChange={(value) => change(name, value)} />
              </Field>
            ))}
          </div>
          <Field
            label={t("forms.conduct.heartbeat")}
            className="ss-field-switch"
            error={errors("refresh_on")}
          >
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

function Cache(props: ConductProps) {
  return (
    <Part {...props} part="cache" label="forms.conduct.cache" help="forms.conduct.cacheHelp" short="ttl">
      {(fields, change, errors) => (
        <>
          <Field label={t("forms.conduct.ttl")} pointer="/cache/ttl" error={errors("ttl")}>
            <NumberField
              value={number(fields["ttl"])}
              min={0}
              placeholder={t("forms.conduct.ttlNone")}
              onChange={(value) => change("ttl", value)}
            />
          </Field>
          <Field
            label={t("forms.conduct.key")}
            description={t("forms.conduct.keyHelp")}
            pointer="/cache/key"
            error={errors("key")}
          >
            <ExpressionField
              keys={props.keys}
              value={typeof fields["key"] === "string" ? fields["key"] : ""}
              onChange={(value) => change("key", value)}
            />
          </Field>
        </>
      )}
    </Part>
  );
}

function Fallback({ name, record, diagnostics, keys, set }: ConductProps) {
  const fallback = record["fallback"];
  const kind = fallbackKind(fallback);
  const fields = isObject(fallback) ? fallback : {};
  const what = t("forms.conduct.fallback");
  const place = kind === "branch" ? "to" : "node";
  const text = (field: string) => (typeof fields[field] === "string" ? fields[field] : "");
  const errors = (field: string) => problemsOf(diagnostics, (at) => at === `/fallback/${field}`);
  const change = (field: string, value: Json | undefined) =>
    set("/fallback", withField(fields, field, value), what);
  return (
    <div className="conduct-part" data-testid="conduct-fallback">
      <Field label={what} pointer="/fallback" error={problemsOf(diagnostics, (at) => at === "/fallback")}>
        <Select
          value={kind}
          onChange={(next) => set("/fallback", fallbackOf(next, fallback), what)}
          options={FALLBACKS.map((value) => ({ value, label: t(`forms.conduct.fallback.${value}`) }))}
        />
      </Field>
      {kind === "value" && (
        <Field label={t("forms.conduct.fallback.update")} pointer="/fallback/value" error={errors("value")}>
          <JsonEditor value={fields["value"] ?? {}} onChange={(next) => change("value", next ?? {})} />
        </Field>
      )}
      {(kind === "node" || kind === "branch") && (
        <Field label={t("forms.conduct.fallback.other")} pointer={`/fallback/${place}`} error={errors(place)}>
          <Combobox
            mono
            choose
            value={text(place)}
            // A choice that is being made is not yet a different kind.
            onChange={(next) => set("/fallback", { ...fields, [place]: next }, what)}
            items={targetNames()
              .filter((other) => other !== name)
              .map((value) => ({ value }))}
          />
        </Field>
      )}
      {kind === "branch" && (
        <Field label={t("forms.conduct.fallback.into")} pointer="/fallback/into" error={errors("into")}>
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
