/**
 * Everything needed to answer a question: what it says, choices as buttons with keys and where each leads, a form
 * from the answer's schema and the same as JSON. A refusal is shown with what was answered still in the form.
 */
import { CircleAlert, CornerDownLeft } from "lucide-react";
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
import { Button } from "../../components/Button";
import { JsonEditor } from "../../components/JsonEditor";
import { Spinner } from "../../components/Spinner";
import { Tabs } from "../../components/Tabs";
import { blankValue } from "../../components/schema-form/initial";
import type { AnswerPreview } from "../../ipc/bindings/AnswerPreview";
import type { Asked } from "../../ipc/bindings/Asked";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { AnswerChoices } from "./AnswerChoices";
import { effectOf, withEffect } from "./asked-effect";
import { previewsText } from "./report";
import { CopyAnswer } from "../parts/CopyAnswer";
import { Calls } from "./Calls";
import { answerOf, decisionsIn } from "./call-answers";
import { choiceOf, choicesOf, type OwnChoice } from "./choices";
import type { Previews } from "./useAnswerPreviews";
import { cannotRun, useOnlyRead } from "../model/only-read";
import { isObject } from "../parts/diff";
import type { ShownProblem } from "../parts/problem";
import { keepDraft, keptDraft } from "./drafts";
import { AskedText, EarlierWork, Terms, QuestionText, Context } from "./AskedQuestion";
import { extrasOf } from "./question-details";
import { focusAt, problemBeside, problemsOf } from "../parts/many-fields";
import { ManyFields } from "../parts/ManyFields";
import { whatIsMissing } from "./send-blockers";
import { DraftPreview } from "./DraftPreview";

export interface AnswerHandle {
  focus(): void;
  /** Takes the choice of a key. Answers whether there is one. */
  press(key: string): boolean;
}

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

/** A list has an input of its own that nobody sees. */
const FIRST_FIELD = "textarea, input:not([aria-hidden=true]), .cm-content";

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
  const [kept] = useState(() => keptDraft(draftKey));
  const [open, setOpen] = useState(!choicesSuffice || kept !== undefined);
  const [tab, setTab] = useState(kept?.tab ?? (schema && !isAnything(schema) ? "form" : "json"));
  const extras = useMemo(() => extrasOf(asked), [asked]);
  const [draft, setDraft] = useState<unknown>(() => {
    if (kept) return kept.value;
    if (extras.edited !== undefined) return extras.edited;
    return schema ? answerOf(asked.calls, blankValue(schema)) : undefined;
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
  // Decisions about tool calls are filled in by themselves, and sent as their asker reads them.
  const filled = useMemo(() => decisionsIn(asked.calls, draft), [asked.calls, draft]);
  const problems = useMemo(() => (open ? problemsOf(schema, filled) : []), [schema, open, filled]);
  const missing = open ? whatIsMissing(schema, filled, valid, problems) : null;
  const firstProblem = problems[0]?.pointer;
  const [reveal, setReveal] = useState<string | null>(null);
  const goTo = (pointer: string) => {
    setReveal(pointer);
    focusAt(form.current, pointer, () => setReveal(null));
  };
  /** Goes to what is missing or wrong after the field that has the focus, or before it. */
  const goBeside = (by: 1 | -1) => {
    const field = document.activeElement?.closest<HTMLElement>("[data-pointer]");
    const at =
      field !== null && field !== undefined && form.current?.contains(field)
        ? field.dataset["pointer"]
        : null;
    const to = schema === undefined ? null : problemBeside(schema, problems, at ?? null, by);
    if (to !== null) goTo(to);
  };
  // The program whose database it is answers its questions.
  const onlyRead = useOnlyRead(cannotRun);
  const off = answering || guarded || onlyRead;
  const canSend = missing === null && !off;
  const take = useCallback(
    (choice: OwnChoice) => {
      if (!("form" in choice)) {
        void send(choice.value);
        return;
      }
      setDraft(answerOf(asked.calls, choice.form));
      setTab("form");
      setOpen(true);
      requestAnimationFrame(() => {
        const field = form.current?.querySelector<HTMLElement>(FIRST_FIELD);
        field?.focus();
        // What is typed takes the place of what was there.
        if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) field.select();
      });
    },
    [send, asked.calls],
  );

  useImperativeHandle(
    ref,
    () => ({
      focus: () =>
        box.current
          ?.querySelector<HTMLElement>("[data-answer-first], input, textarea, [contenteditable=true], button")
          ?.focus(),
      press: (key) => {
        const choice = choices[choiceOf(choices, key)];
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
      else if (firstProblem !== undefined && tab === "form") goTo(firstProblem);
    }
    if (event.key === "F7" && open && tab === "form" && problems.length > 0) {
      event.preventDefault();
      goBeside(event.shiftKey ? -1 : 1);
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
            <AskedText text={asked.text} />
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
      {asked.calls && <Calls calls={asked.calls.calls} compact={compact} />}
      {context.length > 0 && !asked.calls && <Context entries={context} compact={compact} />}
      {children}
      {onlyRead && <Note tone="asking">{t("debug.off.onlyRead")}</Note>}
      {choices.length > 0 && (
        <AnswerChoices
          choices={choices}
          off={off}
          compact={compact}
          {...(onPreview && { previews })}
          onTake={take}
        />
      )}
      {choicesSuffice && (!open || previews.size > 0) && (
        <div className="flex items-center gap-1">
          {!open && !onlyRead && (
            <Button size="small" variant="ghost" onClick={() => setOpen(true)}>
              {t("debug.answer.other")}
            </Button>
          )}
          {previews.size > 0 && <CopyAnswer text={() => previewsText(asked, choices, previews)} />}
        </div>
      )}
      {open && !onlyRead && (
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
            <ManyFields
              schema={schema}
              reveal={reveal}
              value={filled}
              onChange={(next) => type(answerOf(asked.calls, next))}
              blank
              jsonSwitch={false}
              onValidity={setValid}
            />
          ) : (
            <JsonEditor
              value={draft}
              onChange={type}
              onValidity={setValid}
              {...(schema && !asked.calls && { schema })}
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
                {missing}{" "}
                {tab === "form" && firstProblem !== undefined && (
                  <button
                    type="button"
                    className="text-accent-text underline underline-offset-2"
                    onClick={() => goTo(firstProblem)}
                    title={t("debug.answer.goToKeys")}
                    aria-keyshortcuts="F7"
                    data-testid={debugIds.answerGoTo}
                  >
                    {t("debug.answer.goTo")}
                  </button>
                )}
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

const isAnything = (schema: Record<string, unknown>): boolean => Object.keys(schema).length === 0;
