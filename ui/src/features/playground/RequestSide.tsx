/** The request: model, settings and messages; a message that the node's prompt gave is edited as that prompt. */
import { useEffect, useState } from "react";
import { Combobox, namesPart } from "../../components/Combobox";
import { Field } from "../../components/Field";
import { Fold } from "../../components/Fold";
import { JsonEditor } from "../../components/JsonEditor";
import { NumberField } from "../../components/NumberField";
import { MessagesEditor } from "../../components/schema-form/MessagesEditor";
import { Select } from "../../components/Select";
import { TextArea } from "../../components/TextField";
import {
  type Draft,
  type Part,
  PARTS,
  type Setting,
  type Subject,
  withMessages,
  withPart,
} from "../../debugger/exchanges/playground";
import { isObject } from "../../debugger/parts/diff";
import { Pre } from "../../debugger/parts/Pre";
import type { Json } from "../../document/types";
import { taskIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { isPlain, type Rendered, renderAt } from "./render";
import { useConnections } from "./subject";

const REASONING = [undefined, "none", "minimal", "low", "medium", "high"] as const;

interface Props {
  readonly subject: Subject;
  readonly draft: Draft;
  readonly unmapped: boolean;
  onChange(draft: Draft | ((draft: Draft) => Draft)): void;
}

export function RequestSide({ subject, draft, unmapped, onChange }: Props) {
  const connections = useConnections();
  const { settings, rest, places } = draft;
  const set = (name: Setting, value: Json | undefined) => {
    const next = { ...settings };
    if (value === undefined) delete next[name];
    else next[name] = value;
    onChange({ ...draft, settings: next });
  };
  const own = new Set(Object.values(places));
  const others = draft.messages.filter((_, at) => !own.has(at));
  const text = (value: Json | undefined) => (typeof value === "number" ? value : undefined);
  return (
    <div className="flex flex-col gap-3">
      <div className="grid grid-cols-2 gap-3">
        <Field label={t("playground.model")}>
          <Combobox
            mono
            choose={namesPart(draft.model)}
            value={draft.model}
            items={[...connections]}
            onChange={(model) => onChange({ ...draft, model })}
            data-testid={taskIds.playgroundModel}
          />
        </Field>
        <Field label={t("playground.answers")}>
          <Select
            value={draft.replay}
            options={[false, true].map((value) => ({
              value,
              label: t(value ? "playground.answers.recording" : "playground.answers.model"),
            }))}
            onChange={(replay) => onChange({ ...draft, replay })}
          />
        </Field>
        <Field label={t("playground.temperature")}>
          <NumberField
            value={text(settings.temperature)}
            min={0}
            max={2}
            step={0.1}
            onChange={(value) => set("temperature", value)}
          />
        </Field>
        <Field label={t("playground.maxTokens")}>
          <NumberField
            integer
            value={text(settings.max_tokens)}
            min={1}
            onChange={(value) => set("max_tokens", value)}
          />
        </Field>
        <Field label={t("playground.reasoning")}>
          <Select<string | undefined>
            value={typeof settings.reasoning === "string" ? settings.reasoning : undefined}
            options={REASONING.map((value) => ({
              value,
              label: t(
                value === undefined ? "playground.reasoning.default" : `playground.reasoning.${value}`,
              ),
            }))}
            same={Object.is}
            placeholder={t("playground.reasoning.default")}
            onChange={(value) => set("reasoning", value)}
          />
        </Field>
      </div>
      {subject.node === null && <p className="text-xs text-text-2">{t("playground.foreign")}</p>}
      {unmapped && <p className="text-xs text-text-2">{t("playground.unmapped")}</p>}
      {PARTS.map(
        (part) =>
          places[part] !== undefined && (
            <Prompt key={part} part={part} subject={subject} draft={draft} onChange={onChange} />
          ),
      )}
      <Field label={t("playground.messages")}>
        <MessagesEditor
          value={others}
          onChange={(next: unknown) =>
            onChange(withMessages(draft, joined(draft, Array.isArray(next) ? (next as Json[]) : [])))
          }
        />
      </Field>
      {Object.keys(rest).length > 0 && (
        <Fold small className="-ml-2" head={t("playground.tools")}>
          {() => (
            <JsonEditor
              value={rest}
              onChange={(next: unknown) => {
                if (isObject(next)) onChange({ ...draft, rest: next as Draft["rest"] });
              }}
              maxLines={16}
              aria-label={t("playground.tools")}
            />
          )}
        </Fold>
      )}
    </div>
  );
}

/** All messages again: the system prompt of the node stands first, its prompt last, as it sends them. */
function joined({ messages, places }: Draft, others: readonly Json[]): Json[] {
  const at = (part: Part): Json[] => {
    const place = places[part];
    const message = place === undefined ? undefined : messages[place];
    return message === undefined ? [] : [message];
  };
  return [...at("system"), ...others, ...at("prompt")];
}

/** A prompt of the node, as a template, and what it gives at the moment of the task. */
function Prompt({ part, subject, draft, onChange }: { part: Part } & Omit<Props, "unmapped">) {
  const graphId = useSession((session) => session.graphId);
  const template = draft.templates[part] ?? "";
  const [rendered, setRendered] = useState<Rendered>({});
  useEffect(() => {
    if (graphId === null) return;
    const abort = new AbortController();
    const rest = setTimeout(() => {
      renderAt(subject, graphId, template, abort.signal).then(
        (next) => {
          setRendered(next);
          const { text } = next;
          if (text !== undefined) onChange((known) => withPart(known, part, template, text));
        },
        () => {
          // The template stays as it is; running it says what is wrong.
        },
      );
    }, 150);
    return () => {
      clearTimeout(rest);
      abort.abort();
    };
  }, [subject, graphId, template, part, onChange]);
  return (
    <Field label={t(part === "system" ? "playground.system" : "playground.prompt")}>
      <TextArea
        mono={!isPlain(template)}
        value={template}
        minRows={3}
        onChange={(next) => onChange(withPart(draft, part, next, isPlain(next) ? next : undefined))}
        data-testid={part === "prompt" ? taskIds.playgroundPrompt : undefined}
      />
      {!isPlain(template) && (
        <div className="mt-1">
          <p className="text-2xs text-text-3">{t("playground.rendered")}</p>
          {rendered.message === undefined ? (
            <Pre
              tone="plain"
              prose
              height="short"
              {...(part === "prompt" && { "data-testid": taskIds.playgroundRendered })}
            >
              {rendered.text ?? ""}
            </Pre>
          ) : (
            <p className="text-xs text-failed">
              {t("playground.cannotRender", { message: rendered.message })}
            </p>
          )}
        </div>
      )}
    </Field>
  );
}
