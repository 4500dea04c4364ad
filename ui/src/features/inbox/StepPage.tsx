/** All questions of one step of a thread on one page: each is decided, and the answers are sent together. */
import { Check, Send } from "lucide-react";
import { type Ref, useImperativeHandle, useRef, useState } from "react";
import { Button } from "../../components/Button";
import { InlineMarkdown } from "../../components/Markdown";
import { headline } from "../../debugger/answers/asked-effect";
import { type AnswerHandle, AskedForm } from "../../debugger/answers/AskedForm";
import { NoteField } from "../../debugger/answers/NoteField";
import { useGuard } from "../../debugger/parts/useGuard";
import { questionKey, useInbox } from "../../debugger/model/inbox";
import { answerStep } from "../../debugger/run/answering";
import type { Question } from "../../ipc/bindings/Question";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";

/** Questions with a form of their own; those after them come when these are decided. */
const AT_ONCE = 20;

interface Props {
  questions: readonly Question[];
  byItself: boolean;
  ref?: Ref<AnswerHandle>;
}

export function StepPage({ questions, byItself, ref }: Props) {
  const guarded = useGuard(byItself);
  const refusals = useInbox((inbox) => inbox.refusals);
  const [decided, setDecided] = useState<ReadonlyMap<string, unknown>>(new Map());
  const [note, setNote] = useState("");
  const first = useRef<AnswerHandle>(null);
  const send = useRef<HTMLButtonElement>(null);
  const given = questions.flatMap((question) => {
    const key = questionKey(question);
    return decided.has(key) ? [{ question, value: decided.get(key) }] : [];
  });
  const open = questions.filter((question) => !decided.has(questionKey(question)));
  const shown = new Set(open.slice(0, AT_ONCE));
  useImperativeHandle(ref, () => ({
    focus: () => (open.length === 0 ? send.current?.focus() : first.current?.focus()),
    press: (key) => first.current?.press(key) ?? false,
  }));
  const decide = (question: Question, value: unknown) => {
    setDecided(new Map(decided).set(questionKey(question), value));
    // Nothing is left to decide: the next press sends.
    if (open.length === 1) requestAnimationFrame(() => send.current?.focus());
  };
  const change = (question: Question) => {
    const next = new Map(decided);
    next.delete(questionKey(question));
    setDecided(next);
  };
  return (
    <div className="flex flex-col gap-3" data-testid={debugIds.stepPage}>
      <p className="text-sm text-text-2">{t("debug.step.text", { n: questions.length })}</p>
      {questions.map((question) => {
        const key = questionKey(question);
        if (decided.has(key))
          return (
            <div
              key={key}
              className="flex items-center gap-2 rounded-md border border-line bg-surface-1 px-3 py-2 text-sm"
            >
              <Check size={15} className="shrink-0 text-done" aria-hidden />
              <span className="min-w-0 flex-1 truncate">
                <InlineMarkdown text={headline(question)} />
              </span>
              <span className="max-w-[40%] truncate font-medium">{inWords(decided.get(key))}</span>
              <Button size="small" variant="ghost" onClick={() => change(question)}>
                {t("debug.step.change")}
              </Button>
            </div>
          );
        if (!shown.has(question)) return null;
        return (
          <section key={key} className="rounded-md border border-asking bg-surface-1 px-4 py-3">
            <AskedForm
              ref={question === open[0] ? first : undefined}
              asked={question}
              id={question.interruptId}
              draftKey={key}
              guarded={guarded}
              refusal={refusals.get(key) ?? question.returned?.problem}
              answering={false}
              onAnswer={(value) => {
                decide(question, value);
                return Promise.resolve(null);
              }}
              compact
            />
          </section>
        );
      })}
      {open.length > AT_ONCE && (
        <p className="text-xs text-text-3">
          {tn("debug.step.moreOne", "debug.step.more", open.length - AT_ONCE)}
        </p>
      )}
      <div className="sticky bottom-0 flex flex-wrap items-center gap-3 border-t border-line bg-surface-0 py-3">
        <Button
          ref={send}
          variant="primary"
          icon={<Send size={14} aria-hidden />}
          disabled={given.length === 0}
          onClick={() => void answerStep(given, note)}
          data-answer
          data-testid={debugIds.stepSend}
        >
          {tn("debug.step.sendOne", "debug.step.send", given.length)}
        </Button>
        <NoteField value={note} onChange={setNote} />
      </div>
    </div>
  );
}

const inWords = (answer: unknown): string => (typeof answer === "string" ? answer : JSON.stringify(answer));
