/**
 * The questions at the moment that is shown, of the newest branch or at the end of another: docked above the state, or
 * over the lower edge of the canvas while that panel is folded. Folds to one line, so that what is below stays in view.
 */
import { ChevronDown, ChevronUp, MessageCircleQuestionMark, X } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { IconButton } from "../../components/IconButton";
import { InlineMarkdown } from "../../components/Markdown";
import { FOCUS_ANSWER } from "../../debugger/run/answering";
import { isPast } from "../../debugger/run/situation";
import { AnswerForm } from "../../debugger/answers/AnswerForm";
import type { AnswerHandle } from "../../debugger/answers/AskedForm";
import { HeldAnswers } from "../../debugger/answers/HeldAnswers";
import { headline } from "../../debugger/answers/asked-effect";
import { dismissGoneOfThread, questionKey, useInbox } from "../../debugger/model/inbox";
import { ensureStarted } from "../../debugger/model/connect";
import { useRuns } from "../../debugger/model/runStore";
import type { Question } from "../../ipc/bindings/Question";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { QuestionMenu } from "./QuestionMenu";

/** Height of a window in which canvas and form stand side by side, in pixels. */
const ROOM_FOR_BOTH = 780;

/** Where keys mean something else. */
const TAKES_KEYS =
  "[role=dialog], [role=alertdialog], [role=menu], [role=listbox], [role=combobox], [role=slider], [role=tablist], [role=tree], [role=grid]";

/** A key that stands for a choice, and not for a letter that is typed. */
function isVerdict(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "target">): boolean {
  const typing =
    event.target instanceof HTMLElement &&
    event.target.closest("input, textarea, select, [contenteditable=true]") !== null;
  return !typing && !event.ctrlKey && !event.metaKey && !event.altKey && /^[1-9ar]$/i.test(event.key);
}

export function AnswerBanner({ docked = false }: { docked?: boolean }) {
  useEffect(ensureStarted, []);
  const cursor = useSession((session) => session.cursor);
  const past = useRuns((store) => isPast(cursor, store));
  const all = useInbox((inbox) => inbox.ofThread);
  const gone = useInbox((inbox) => inbox.goneOfThread);
  const allHeld = useInbox((inbox) => inbox.held);
  const questions = useMemo(
    () =>
      all.filter(
        (question) =>
          question.threadId === cursor.threadId &&
          (past ? question.checkpointId === cursor.checkpointId : question.branch === undefined),
      ),
    [all, cursor.threadId, cursor.checkpointId, past],
  );
  // In a low window the form would hide the canvas; there it begins as one line.
  const [open, setOpen] = useState(() => docked || window.innerHeight >= ROOM_FOR_BOTH);
  const [index, setIndex] = useState(0);
  const [chosen, setChosen] = useState<string | null>(null);
  const form = useRef<AnswerHandle>(null);
  useEffect(() => {
    const focus = () => {
      setOpen(true);
      setTimeout(() => form.current?.focus(), 0);
    };
    window.addEventListener(FOCUS_ANSWER, focus);
    return () => window.removeEventListener(FOCUS_ANSWER, focus);
  }, []);
  // The keys on the choices count wherever they are in view, unless something else takes them.
  useEffect(() => {
    if (!open) return;
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.repeat || !isVerdict(event)) return;
      if (event.target instanceof Element && event.target.closest(TAKES_KEYS) !== null) return;
      if (form.current?.press(event.key)) event.preventDefault();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [open]);
  const question = questions[Math.min(index, questions.length - 1)];
  const held = useMemo(
    () => allHeld.filter(({ threadId }) => threadId === cursor.threadId),
    [allHeld, cursor.threadId],
  );
  if (!question && held.length > 0)
    return (
      <aside className="pointer-events-auto shrink-0 border-b border-line">
        <HeldAnswers held={held} />
      </aside>
    );
  if (!question) return gone?.threadId === cursor.threadId ? <GoneLine question={gone} /> : null;
  return (
    <aside
      className={
        docked
          ? "flex max-h-[62%] shrink-0 flex-col overflow-hidden border-b border-asking bg-surface-1"
          : "pointer-events-auto mx-auto flex max-h-[min(54vh,30rem)] w-full max-w-2xl flex-col overflow-hidden rounded-lg border border-asking bg-surface-1 shadow-popup"
      }
      aria-label={t("debug.questionOf", { node: question.node })}
      data-testid={debugIds.answerBanner}
      onKeyDown={(event) => {
        if (!isVerdict(event)) return;
        if (event.repeat || form.current?.press(event.key)) {
          event.preventDefault();
          event.stopPropagation();
        }
      }}
    >
      <header className="flex h-9 shrink-0 items-center gap-2 bg-asking-soft pr-1.5 pl-3 text-sm">
        <MessageCircleQuestionMark size={16} className="shrink-0 text-asking" aria-hidden />
        <button
          type="button"
          className="min-w-0 flex-1 truncate text-left font-semibold"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          {open ? (
            t("debug.questionOf", { node: question.node })
          ) : (
            <InlineMarkdown text={headline(question)} />
          )}
        </button>
        {questions.length > 1 && (
          <span className="flex items-center text-xs">
            {questions.map((each, at) => (
              <button
                key={questionKey(each)}
                type="button"
                aria-pressed={each === question}
                title={each.node}
                className={`tabular-nums size-6 rounded-sm ${each === question ? "bg-surface-2 font-semibold" : "hover:bg-surface-3"}`}
                onClick={() => {
                  setIndex(at);
                  setChosen(questionKey(each));
                }}
              >
                {at + 1}
              </button>
            ))}
          </span>
        )}
        <QuestionMenu question={question} />
        <IconButton
          size="small"
          label={open ? t("debug.fold") : t("debug.unfold")}
          onClick={() => setOpen(!open)}
        >
          {open ? <ChevronDown size={15} aria-hidden /> : <ChevronUp size={15} aria-hidden />}
        </IconButton>
      </header>
      {open && (
        <div className="min-h-0 overflow-y-auto px-4 py-3">
          <AnswerForm
            key={questionKey(question)}
            ref={form}
            question={question}
            byItself={questionKey(question) !== chosen}
            compact
          />
        </div>
      )}
      <HeldAnswers held={held} />
    </aside>
  );
}

/** Says why the question is not there any more that stood here a moment ago. */
function GoneLine({ question }: { question: Question }) {
  return (
    <aside
      className="pointer-events-auto flex items-center gap-2 border-b border-line bg-surface-1 px-3 py-1.5 text-sm"
      role="status"
      data-testid={debugIds.answerGone}
    >
      <span className="min-w-0 flex-1">{t("debug.inbox.goneOne", { text: headline(question) })}</span>
      <IconButton size="small" label={t("debug.dismiss")} onClick={dismissGoneOfThread}>
        <X size={15} aria-hidden />
      </IconButton>
    </aside>
  );
}
