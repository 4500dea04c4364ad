/**
 * What a question says and everything needed to answer it: the text, the state that matters, choices as buttons with
 * number keys and where each leads, a form from the answer's schema and the same as JSON. A refusal is shown with what was
 * answered still in the form.
 */
import { CircleAlert, Clock, CornerDownLeft, TriangleAlert, Users } from "lucide-react";
import {
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  useCallback,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
} from "react";
import { cx } from "../../components/cx";
import { Button } from "../../components/Button";
import { JsonEditor } from "../../components/JsonEditor";
import { Kbd } from "../../components/Kbd";
import { InlineMarkdown, Markdown } from "../../components/Markdown";
import { SchemaForm } from "../../components/schema-form/SchemaForm";
import { Spinner } from "../../components/Spinner";
import { Tabs } from "../../components/Tabs";
import { blankValue } from "../../components/schema-form/initial";
import { labelAt } from "../../components/schema-form/labels";
import { validate } from "../../components/schema-form/validate";
import type { Schema } from "../../components/schema-form/schema";
import type { AnswerPreview } from "../../ipc/bindings/AnswerPreview";
import type { Asked } from "../../ipc/bindings/Asked";
import { fullTime, listed } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { showSettings } from "../../state/settings";
import { AnswerPath, textOf } from "./AnswerPath";
import { type AskedEffect, effectOf, withEffect } from "./asked-effect";
import { choicesOf, type OwnChoice } from "./choices";
import { answerKey, type Previews } from "./useAnswerPreviews";
import { isObject, sameJson } from "../parts/diff";
import { preview } from "../parts/format";
import { json, Pre } from "../parts/Pre";
import { asProblem, type ShownProblem } from "../parts/problem";
import { useNow } from "../parts/useNow";

export interface AnswerHandle {
  focus(): void;
  /** Takes the n-th choice, from 1. Answers whether there is one. */
  choose(n: number): boolean;
}

/** Beside the state a choice has a line, and one for where it leads, so that all of them are in view. */
const COMPACT = {
  list: "grid-cols-1 gap-1.5",
  choice: "min-h-8 py-1.5",
  words: "flex flex-wrap items-baseline gap-x-2",
  description: "min-w-0 flex-1 truncate",
};

interface Props {
  asked: Asked;
  /** The question's id, to be found by. */
  id?: string;
  /** What was typed is kept under this name, for when the form is shown again. */
  draftKey?: string;
  /** It appeared a moment ago, in the place of another: presses do not count yet. */
  guarded?: boolean;
  /** Why the last answer was not taken. */
  refusal?: ShownProblem | undefined;
  /** An answer is on its way. */
  answering: boolean;
  /** Gives an answer; says why it was refused. */
  onAnswer(value: unknown): Promise<ShownProblem | null>;
  /** What the choices would lead to, where that is known. */
  previews?: Previews;
  /** Says what another answer would lead to. */
  onPreview?(value: unknown): Promise<AnswerPreview | undefined>;
  /** Less room: no context unless opened. */
  compact?: boolean;
  /** Between what matters and the choices. */
  children?: ReactNode;
  ref?: Ref<AnswerHandle>;
}

const NONE: Previews = new Map();

interface Draft {
  readonly value: unknown;
  readonly tab: string;
}

/** What was typed into forms that are not shown now; the oldest go first. */
const drafts = new Map<string, Draft>();
const MAX_DRAFTS = 200;

function keepDraft(key: string | undefined, draft: Draft): void {
  if (key === undefined) return;
  drafts.delete(key);
  drafts.set(key, draft);
  for (const oldest of drafts.keys()) {
    if (drafts.size <= MAX_DRAFTS) break;
    drafts.delete(oldest);
  }
}

export function AskedForm({
  asked: given,
  id,
  draftKey,
  guarded = false,
  refusal,
  answering,
  onAnswer,
  previews = NONE,
  onPreview,
  compact = false,
  children,
  ref,
}: Props) {
  const asked = useMemo(() => withEffect(given), [given]);
  const effect = useMemo(() => effectOf(asked), [asked]);
  const schema = isObject(asked.schema) ? asked.schema : undefined;
  const choices = useMemo(() => choicesOf(asked), [asked]);
  // Where the choices say everything, the form is one step away instead of in the way.
  const choicesSuffice = choices.length > 0;
  const [kept] = useState(() => (draftKey === undefined ? undefined : drafts.get(draftKey)));
  const [open, setOpen] = useState(!choicesSuffice || kept !== undefined);
  const [tab, setTab] = useState(kept?.tab ?? (schema && !isAnything(schema) ? "form" : "json"));
  const extras = useMemo(() => extrasOf(asked), [asked]);
  const [draft, setDraft] = useState<unknown>(() => {
    if (kept) return kept.value;
    if (extras.edited !== undefined) return extras.edited;
    return schema ? blankValue(schema) : undefined;
  });
  const [valid, setValid] = useState(true);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const shownProblem = problem ?? refusal;
  const type = (value: unknown) => {
    setDraft(value);
    keepDraft(draftKey, { value, tab });
  };
  const box = useRef<HTMLDivElement>(null);
  const form = useRef<HTMLDivElement>(null);

  const send = useCallback(
    async (value: unknown) => {
      setProblem(null);
      setProblem(await onAnswer(value));
    },
    [onAnswer],
  );
  const missing = useMemo(
    () => (open ? whatIsMissing(schema, draft, valid) : null),
    [schema, open, draft, valid],
  );
  const off = answering || guarded;
  const canSend = missing === null && !off;
  const take = useCallback(
    (choice: OwnChoice) => {
      if (!("form" in choice)) {
        void send(choice.value);
        return;
      }
      setDraft(choice.form);
      setTab("form");
      setOpen(true);
      requestAnimationFrame(() =>
        form.current?.querySelector<HTMLElement>("textarea, input, .cm-content")?.focus(),
      );
    },
    [send],
  );

  useImperativeHandle(
    ref,
    () => ({
      focus: () =>
        box.current
          ?.querySelector<HTMLElement>("[data-answer-first], input, textarea, [contenteditable=true], button")
          ?.focus(),
      choose: (n) => {
        const choice = choices[n - 1];
        if (!choice) return false;
        if (!off) take(choice);
        return true;
      },
    }),
    [choices, off, take],
  );

  /** A press that began while the form was guarded ends as nothing. */
  const early = useRef(false);
  const onKeyDown = (event: KeyboardEvent) => {
    const button = event.target instanceof HTMLElement && event.target.closest("button") !== null;
    // A key that is held down was pressed for something else.
    if (event.repeat && (event.key === "Enter" || event.key === " ") && button) {
      event.preventDefault();
      return;
    }
    if (event.repeat) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && open) {
      event.preventDefault();
      if (canSend) void send(draft);
    }
  };
  const context = isObject(asked.context) ? Object.entries(asked.context) : [];
  return (
    <div
      ref={box}
      className={`flex flex-col ${compact ? "gap-2.5" : "gap-4"}`}
      onKeyDown={onKeyDown}
      onPointerDownCapture={() => (early.current = guarded)}
      onClickCapture={(event) => {
        const began = early.current;
        early.current = false;
        const answers = event.target instanceof HTMLElement && event.target.closest("[data-answer]") !== null;
        if (!began || !answers) return;
        event.preventDefault();
        event.stopPropagation();
      }}
      data-testid={debugIds.answerForm}
      data-question={id}
      data-guarded={guarded || undefined}
    >
      {effect && <EarlierWork effect={effect} compact={compact} />}
      {asked.text !== "" &&
        (effect ? (
          <div className="select-text text-sm [overflow-wrap:anywhere]">
            <Markdown text={asked.text} lines />
          </div>
        ) : (
          <QuestionText text={asked.text} compact={compact} />
        ))}
      <Terms who={extras.who} deadline={extras.deadline} />
      {asked.refused !== undefined && !shownProblem && (
        <Note tone="asking">
          {t("debug.answer.refused")} {asked.refused}
        </Note>
      )}
      {shownProblem && (
        <Note tone="failed">
          {shownProblem.message} {shownProblem.remedy}
        </Note>
      )}
      {context.length > 0 && <Context entries={context} compact={compact} />}
      {children}
      {choices.length > 0 && (
        <div
          className={cx(
            onPreview ? "flex flex-col gap-2" : "grid grid-cols-[repeat(auto-fit,minmax(124px,1fr))] gap-2",
            compact && COMPACT.list,
          )}
        >
          {choices.map((choice, index) => {
            const path = "form" in choice ? undefined : previews.get(answerKey(choice.value));
            return (
              <button
                key={index}
                type="button"
                disabled={off}
                data-answer
                {...(index === 0 && { "data-answer-first": true })}
                className={cx(
                  "flex min-h-11 items-start gap-3 rounded-md border border-line-field bg-surface-2 px-3 py-2.5 text-left transition-opacity not-disabled:hover:border-accent not-disabled:hover:bg-accent-soft disabled:opacity-50",
                  compact && COMPACT.choice,
                )}
                onClick={() => take(choice)}
                data-testid={debugIds.answerChoice}
                data-choice={index + 1}
              >
                {index < 9 && <Kbd keys={String(index + 1)} />}
                <span className={cx("min-w-0 flex-1", compact && COMPACT.words)}>
                  <span className="block text-sm font-semibold">{choice.label}</span>
                  {choice.description !== undefined && (
                    <span className={cx("block text-xs text-text-2", compact && COMPACT.description)}>
                      {choice.description}
                    </span>
                  )}
                  {onPreview && !("form" in choice) && (
                    <span className="block w-full" title={path && textOf(path)}>
                      <AnswerPath preview={path} />
                    </span>
                  )}
                </span>
              </button>
            );
          })}
        </div>
      )}
      {choicesSuffice && !open && (
        <div>
          <Button size="small" variant="ghost" onClick={() => setOpen(true)}>
            {t("debug.answer.other")}
          </Button>
        </div>
      )}
      {open && (
        <div ref={form} className="flex flex-col gap-2">
          {schema && !isAnything(schema) && (
            <Tabs
              look="segmented"
              label={t("debug.input.as")}
              value={tab}
              onChange={(next) => {
                setTab(next);
                setValid(true);
              }}
              tabs={[
                { id: "form", label: t("debug.form") },
                { id: "json", label: t("debug.json") },
              ]}
            />
          )}
          {tab === "form" && schema ? (
            <SchemaForm
              schema={schema}
              value={draft}
              onChange={type}
              blank
              jsonSwitch={false}
              onValidity={setValid}
            />
          ) : (
            <JsonEditor
              value={draft}
              onChange={type}
              onValidity={setValid}
              {...(schema && { schema })}
              minLines={3}
              maxLines={18}
              placeholder={t("debug.answer.jsonHint")}
              aria-label={t("debug.answer.json")}
              data-testid={debugIds.answerJson}
            />
          )}
          <div className="flex flex-wrap items-center gap-2">
            <Button
              variant="primary"
              icon={<CornerDownLeft size={14} aria-hidden />}
              shortcut="Mod+Enter"
              disabled={!canSend}
              busy={answering}
              onClick={() => void send(draft)}
              data-answer
              data-testid={debugIds.answerSubmit}
            >
              {t("debug.answer.send")}
            </Button>
            {choicesSuffice && (
              <Button variant="ghost" onClick={() => setOpen(false)}>
                {t("debug.cancel")}
              </Button>
            )}
            {onPreview && missing === null && <DraftPreview value={draft} onPreview={onPreview} />}
            {missing !== null && (
              <p className="min-w-0 text-xs text-text-2" data-testid={debugIds.answerMissing}>
                {missing}
              </p>
            )}
          </div>
        </div>
      )}
      {answering && (
        <p className="flex items-center gap-2 text-xs text-text-2" role="status">
          <Spinner /> {t("debug.answer.sending")}
        </p>
      )}
    </div>
  );
}

/** What the node did before: the heading of the question, when it was, and what came of it. */
function EarlierWork({ effect, compact }: { effect: AskedEffect; compact: boolean }) {
  return (
    <div className="flex flex-col gap-2" data-testid={debugIds.earlierWork}>
      <p className={`flex gap-2 font-semibold ${compact ? "text-sm" : "text-lg"}`}>
        <TriangleAlert size={compact ? 16 : 20} className="mt-0.5 shrink-0 text-asking" aria-hidden />
        <span className="min-w-0 [overflow-wrap:anywhere]">
          <InlineMarkdown text={effect.heading} />
        </span>
      </p>
      {(effect.at !== undefined || effect.result !== undefined) && (
        <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-1 text-xs">
          {effect.at !== undefined && (
            <>
              <dt className="text-text-2">{t("debug.effect.at")}</dt>
              <dd className="tabular-nums">{fullTime(effect.at)}</dd>
            </>
          )}
          {effect.result !== undefined && (
            <>
              <dt className="text-text-2">{t("debug.effect.result")}</dt>
              <dd className="min-w-0">
                <Pre>{json(effect.result)}</Pre>
              </dd>
            </>
          )}
        </dl>
      )}
    </div>
  );
}

interface Extras {
  /** The value that is to be edited. */
  edited: unknown;
  who: string[];
  deadline: string | undefined;
}

/** What a question of the `ask` kind says besides its text. */
function extrasOf(asked: Asked): Extras {
  const value: unknown = asked.value;
  const fields = isObject(value) ? value : {};
  const who = Array.isArray(fields["who"]) ? fields["who"] : [];
  return {
    edited: typeof fields["edit"] === "string" ? fields["value"] : undefined,
    who: who.filter((one): one is string => typeof one === "string"),
    deadline: typeof fields["deadline"] === "string" ? fields["deadline"] : undefined,
  };
}

/** For whom the question is, and until when it waits. */
function Terms({ who, deadline }: { who: string[]; deadline: string | undefined }) {
  const now = useNow(15_000);
  const me = useSession((session) => session.appInfo?.settings.name);
  const same = (name: string) => name.trim().toLowerCase() === me?.trim().toLowerCase();
  const notMe = who.length > 0 && !who.some(same);
  if (who.length === 0 && deadline === undefined) return null;
  const late = deadline !== undefined && Date.parse(deadline) <= now;
  return (
    <p className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-text-2" data-testid={debugIds.answerTerms}>
      {who.length > 0 && (
        <span className="flex items-center gap-1.5">
          <Users size={13} aria-hidden />
          {t("debug.answer.for", { who: listed(who) })}
          {notMe && (
            <>
              {" · "}
              {me === undefined ? t("debug.answer.nobody") : t("debug.answer.notYou", { me })}{" "}
              <button
                type="button"
                className="text-accent-text underline underline-offset-2"
                onClick={() => showSettings("general")}
              >
                {t("debug.answer.sayWho")}
              </button>
            </>
          )}
        </span>
      )}
      {deadline !== undefined && (
        <span className="flex items-center gap-1.5" title={fullTime(deadline)}>
          <Clock size={13} aria-hidden />
          {t(late ? "debug.answer.late" : "debug.answer.until", { time: fullTime(deadline) })}
        </span>
      )}
    </p>
  );
}

/** The first line says what is asked; what follows explains. */
function QuestionText({ text, compact }: { text: string; compact: boolean }) {
  const [first = "", ...rest] = text.split("\n");
  const more = rest.join("\n").trim();
  return (
    <div
      className={`select-text [overflow-wrap:anywhere] ${compact ? "max-h-48 shrink-0 overflow-y-auto" : ""}`}
    >
      <p className={`font-semibold ${compact ? "text-sm" : "text-lg"}`}>
        <InlineMarkdown text={first} />
      </p>
      {more !== "" && (
        <div className={`text-sm ${compact ? "mt-1 text-text-2" : "mt-2"}`}>
          <Markdown text={more} lines />
        </div>
      )}
    </div>
  );
}

function Note({ tone, children }: { tone: "asking" | "failed"; children: React.ReactNode }) {
  return (
    <div
      className={`flex gap-2 rounded-md px-3 py-2 text-sm ${tone === "failed" ? "bg-failed-soft" : "bg-asking-soft"}`}
      role="alert"
    >
      <CircleAlert
        size={16}
        className={`mt-0.5 shrink-0 ${tone === "failed" ? "text-failed" : "text-asking"}`}
        aria-hidden
      />
      <p className="select-text min-w-0 [overflow-wrap:anywhere]">{children}</p>
    </div>
  );
}

/** The state that the question was asked about; one line of it where there is little room. */
function Context({ entries, compact }: { entries: [string, unknown][]; compact: boolean }) {
  if (compact) {
    return (
      <dl className="flex max-h-20 flex-wrap gap-x-4 gap-y-0.5 overflow-y-auto text-xs">
        {entries.map(([key, value]) => (
          <div key={key} className="flex max-w-full gap-1.5">
            <dt className="shrink-0 font-mono text-text-2">{key}</dt>
            <dd
              className="select-text truncate"
              title={typeof value === "string" ? value : JSON.stringify(value)}
            >
              {typeof value === "string" ? value : preview(value)}
            </dd>
          </div>
        ))}
      </dl>
    );
  }
  return (
    <dl className="grid grid-cols-[fit-content(30%)_1fr] gap-x-4 gap-y-1.5 rounded-md bg-surface-1 px-3 py-2.5">
      {entries.map(([key, value]) => (
        <div key={key} className="contents">
          <dt className="truncate font-mono text-xs leading-5 text-text-2" title={key}>
            {key}
          </dt>
          <dd className="select-text max-h-64 min-w-0 overflow-y-auto text-sm whitespace-pre-wrap [overflow-wrap:anywhere]">
            {typeof value === "string" ? (
              value
            ) : typeof value === "object" && value !== null ? (
              <pre>{JSON.stringify(value, null, 2)}</pre>
            ) : (
              preview(value)
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Why an answer cannot be sent yet: the field that is missing or wrong first; `null` when it can. */
function whatIsMissing(schema: Schema | undefined, draft: unknown, valid: boolean): string | null {
  if (!valid) return t("debug.input.invalid");
  if (draft === undefined) return t("debug.answer.nothing");
  const [first, ...others] = schema ? validate(schema, draft) : [];
  if (first === undefined) return null;
  const field = labelAt(schema ?? {}, first.pointer, draft);
  const text =
    field === ""
      ? first.message
      : first.message === t("forms.check.required")
        ? t("debug.answer.missing", { field })
        : t("debug.answer.field", { field, problem: first.message });
  return others.length === 0
    ? text
    : `${text} ${tn("debug.answer.othersOne", "debug.answer.others", others.length)}`;
}

const isAnything = (schema: Record<string, unknown>): boolean => Object.keys(schema).length === 0;

/** What the answer in the form would lead to, when a person asks. */
function DraftPreview({
  value,
  onPreview,
}: {
  value: unknown;
  onPreview(value: unknown): Promise<AnswerPreview | undefined>;
}) {
  const [shown, setShown] = useState<{ of: unknown; preview: AnswerPreview } | null>(null);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const [busy, setBusy] = useState(false);
  const look = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const preview = await onPreview(value);
      setShown(preview ? { of: value, preview } : null);
    } catch (thrown) {
      setProblem(asProblem(thrown));
    }
    setBusy(false);
  };
  return (
    <>
      <Button variant="ghost" busy={busy} onClick={() => void look()} data-testid={debugIds.answerPreview}>
        {t("debug.preview.look")}
      </Button>
      {problem && (
        <p className="w-full text-xs text-failed">
          {problem.message} {problem.remedy}
        </p>
      )}
      {shown && sameJson(shown.of, value) && (
        <div className="w-full">
          <AnswerPath preview={shown.preview} />
        </div>
      )}
    </>
  );
}
