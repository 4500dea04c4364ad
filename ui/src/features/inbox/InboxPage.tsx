/**
 * Approve: every waiting question of every thread and branch, waiting longest first, and the selected one in full. Works
 * without the mouse (j, k, number keys) and without ever seeing the canvas. An answered question leaves at once and comes
 * back when its answer is refused; the one that takes its place takes no press for a moment. Nothing is answered twice: a
 * question that somebody else answered leaves with a note.
 */
import { useVirtualizer } from "@tanstack/react-virtual";
import { CircleAlert, GitBranch, Inbox, MessageCircleQuestionMark, X } from "lucide-react";
import { memo, useCallback, useEffect, useRef, useState } from "react";
import { EmptyState } from "../../components/EmptyState";
import { IconButton } from "../../components/IconButton";
import { InlineMarkdown } from "../../components/Markdown";
import { Spinner } from "../../components/Spinner";
import { AnswerForm } from "../../debugger/answers/AnswerForm";
import type { AnswerHandle } from "../../debugger/answers/AskedForm";
import { headline } from "../../debugger/answers/asked-effect";
import {
  dismissGone,
  loadInbox,
  loadMoreQuestions,
  questionKey,
  useInbox,
  watchInbox,
} from "../../debugger/model/inbox";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { ensureStarted } from "../../debugger/model/connect";
import { useNow } from "../../debugger/parts/useNow";
import type { Question } from "../../ipc/bindings/Question";
import { fullTime, since } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { QuestionMenu } from "./QuestionMenu";
import { ShowInDebug } from "./ShowInDebug";

const ROW = 68;
/** Of a question whose thread is called like its graph. */
const SHORT = 52;

export function InboxPage() {
  useEffect(() => {
    ensureStarted();
    return watchInbox();
  }, []);
  const questions = useInbox((inbox) => inbox.questions);
  const waiting = useInbox((inbox) => inbox.waiting);
  const more = useInbox((inbox) => inbox.next !== null);
  const state = useInbox((inbox) => inbox.state);
  const problem = useInbox((inbox) => inbox.problem);
  const back = useInbox((inbox) => inbox.back);
  const [selectedKey, setSelectedKey] = useState<string | null>(null);
  const [lastIndex, setLastIndex] = useState(0);
  /** The question that the person chose; any other got its place by itself. */
  const [chosenKey, setChosenKey] = useState<string | null>(null);
  const now = useNow(15_000);
  const form = useRef<AnswerHandle>(null);
  const detail = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);

  // When the selected question goes away, the one that takes its place is next.
  const found = questions.findIndex((question) => questionKey(question) === selectedKey);
  const index = found >= 0 ? found : Math.min(lastIndex, questions.length - 1);
  const selected = questions[index];
  useEffect(() => {
    if (selected && questionKey(selected) !== selectedKey) {
      // The first one that is shown was chosen by opening this page.
      if (selectedKey === null) setChosenKey(questionKey(selected));
      setSelectedKey(questionKey(selected));
    }
    if (found >= 0 && found !== lastIndex) setLastIndex(found);
  }, [selected, selectedKey, found, lastIndex]);

  const keyOf = useCallback(
    (index: number) => {
      const question = questions[index];
      return question ? questionKey(question) : index;
    },
    [questions],
  );
  const rows = useVirtualizer({
    count: questions.length,
    getItemKey: keyOf,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => heightOf(questions[index]),
    overscan: 8,
  });
  const go = useCallback(
    (to: number) => {
      const at = Math.max(0, Math.min(questions.length - 1, to));
      const question = questions[at];
      if (!question) return;
      setSelectedKey(questionKey(question));
      setChosenKey(questionKey(question));
      setLastIndex(at);
      rows.scrollToIndex(at);
    },
    [questions, rows],
  );
  const lastShown = rows.getVirtualItems().at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && lastShown >= questions.length - AHEAD) void loadMoreQuestions();
  }, [more, lastShown, questions.length]);

  // A refused answer brings its question back; it is shown, unless the person is writing another answer by now.
  const shownBack = useRef(back);
  useEffect(() => {
    if (back === null || back === shownBack.current) return;
    const at = questions.findIndex((question) => questionKey(question) === back.key);
    if (at < 0) return;
    shownBack.current = back;
    const writing = document.activeElement?.closest("input, textarea, [contenteditable=true]");
    if (writing && detail.current?.contains(writing)) return;
    setSelectedKey(back.key);
    setChosenKey(null);
    setLastIndex(at);
    rows.scrollToIndex(at);
  }, [back, questions, rows]);

  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const target = event.target instanceof HTMLElement ? event.target : null;
      if (
        target?.closest(
          "input, textarea, [contenteditable=true], [role=dialog], [role=listbox][data-popup], [role=menu]",
        )
      )
        return;
      if (event.key === "j" || (event.key === "ArrowDown" && !target?.closest("[role=tablist]")))
        go(index + 1);
      else if (event.key === "k" || (event.key === "ArrowUp" && !target?.closest("[role=tablist]")))
        go(index - 1);
      else if (/^[1-9]$/.test(event.key)) {
        // A key that is held down was pressed for the question before.
        if (!event.repeat && !form.current?.choose(Number(event.key))) return;
      } else if (
        event.key === "Enter" &&
        !event.repeat &&
        (!target || target === document.body || scroller.current?.contains(target))
      )
        form.current?.focus();
      else return;
      event.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [go, index]);

  const key = selected ? questionKey(selected) : "";
  const isByItself = (key: string) => selectedKey !== null && key !== chosenKey;
  if (state === "failed" && problem)
    return <ProblemNote problem={problem} onRetry={() => void loadInbox()} />;
  if (state !== "ready") {
    return (
      <div className="flex h-full items-center justify-center">
        <Spinner label={t("debug.loading")} />
      </div>
    );
  }
  return (
    <section
      className="flex h-full min-h-0 bg-surface-0 max-[641px]:flex-col"
      aria-label={t("debug.inbox")}
      data-testid={debugIds.inbox}
    >
      <div className="flex w-[clamp(260px,30%,380px)] shrink-0 flex-col border-r border-line bg-surface-1 max-[641px]:h-[40%] max-[641px]:w-full max-[641px]:border-r-0 max-[641px]:border-b">
        <header className="flex h-10 shrink-0 items-center gap-2 border-b border-line px-4">
          <h1 className="flex-1 text-sm font-semibold">{t("debug.inbox.title")}</h1>
          <span className="tabular-nums text-xs text-text-2">
            {tn("debug.inbox.countOne", "debug.inbox.count", waiting)}
          </span>
        </header>
        <GoneNotes />
        <div
          ref={scroller}
          className="min-h-0 flex-1 overflow-y-auto focus-visible:outline-offset-[-2px]"
          role="listbox"
          aria-label={t("debug.inbox.title")}
          aria-activedescendant={selected ? `question-${key}` : undefined}
          tabIndex={questions.length > 0 ? 0 : -1}
        >
          <div className="relative" style={{ height: rows.getTotalSize() }}>
            {rows.getVirtualItems().map((item) => {
              const question = questions[item.index];
              if (!question) return null;
              return (
                <div
                  key={questionKey(question)}
                  className="absolute inset-x-0"
                  style={{ top: item.start, height: item.size }}
                >
                  <Row
                    question={question}
                    selected={item.index === index}
                    now={now}
                    onSelect={() => go(item.index)}
                  />
                </div>
              );
            })}
          </div>
          {more && <p className="px-4 py-2 text-2xs text-text-3">{t("debug.inbox.more")}</p>}
        </div>
        {questions.length > 0 && (
          <p className="shrink-0 border-t border-line px-4 py-2 text-2xs text-text-3 max-[641px]:hidden">
            {t("debug.inbox.keys")}
          </p>
        )}
      </div>
      <div ref={detail} className="min-h-0 min-w-0 flex-1 overflow-y-auto">
        {selected ? (
          <Detail key={key} question={selected} byItself={isByItself(key)} now={now} form={form} />
        ) : (
          <div className="flex h-full items-center justify-center">
            <EmptyState icon={<Inbox size={24} aria-hidden />} title={t("debug.inbox.none")}>
              {t("debug.inbox.noneText")}
            </EmptyState>
          </div>
        )}
      </div>
    </section>
  );
}

/** Rows before the end of the list at which the next page is loaded. */
const AHEAD = 20;
const LINE = 16;

const heightOf = (question: Question | undefined): number =>
  (question?.threadTitle === question?.graphName ? SHORT : ROW) + (question?.branch ? LINE : 0);

const Row = memo(function Row({
  question,
  selected,
  now,
  onSelect,
}: {
  question: Question;
  selected: boolean;
  now: number;
  onSelect(): void;
}) {
  const key = questionKey(question);
  const refusal = useInbox((inbox) => inbox.refusals.get(key))?.message ?? question.refused;
  return (
    <div
      id={`question-${key}`}
      role="option"
      aria-selected={selected}
      data-testid={debugIds.question}
      data-question={question.interruptId}
      className={`flex h-full gap-2.5 border-b border-line px-4 py-2 ${selected ? "bg-accent-soft" : "hover:bg-surface-3"}`}
      onClick={onSelect}
    >
      {refusal === undefined ? (
        <MessageCircleQuestionMark size={16} className="mt-0.5 shrink-0 text-asking" aria-hidden />
      ) : (
        <CircleAlert size={16} className="mt-0.5 shrink-0 text-failed" aria-hidden />
      )}
      <div className="min-w-0 flex-1">
        <div className="flex items-baseline gap-2">
          <p className="min-w-0 flex-1 truncate text-sm font-medium">
            <InlineMarkdown text={headline(question)} />
          </p>
          <span className="tabular-nums shrink-0 text-2xs text-text-3" title={fullTime(question.since)}>
            {since(question.since, now)}
          </span>
        </div>
        {question.threadTitle !== question.graphName && (
          <p className="truncate text-xs text-text-2">{question.threadTitle}</p>
        )}
        {question.branch && (
          <p
            className="flex items-center gap-1 text-2xs leading-4 text-past"
            data-testid={debugIds.questionBranch}
          >
            <GitBranch size={11} className="shrink-0" aria-hidden />
            <span className="tabular-nums truncate">
              {t("debug.inbox.branchRow", { step: question.branch.step, left: question.branch.leftAt })}
            </span>
          </p>
        )}
        {refusal === undefined ? (
          <p className="truncate text-2xs text-text-3">
            {question.graphName} · {question.node}
          </p>
        ) : (
          <p className="truncate text-2xs text-failed" title={refusal} data-testid={debugIds.questionRefused}>
            {t("debug.inbox.refused", { reason: refusal })}
          </p>
        )}
      </div>
    </div>
  );
});

function Detail({
  question,
  byItself,
  now,
  form,
}: {
  question: Question;
  byItself: boolean;
  now: number;
  form: React.Ref<AnswerHandle>;
}) {
  return (
    <article className="mx-auto max-w-2xl px-6 py-6" data-testid={debugIds.questionDetail}>
      <header className="mb-4 flex items-start gap-3">
        <dl className="grid flex-1 grid-cols-[auto_1fr] gap-x-3 gap-y-0.5 text-xs">
          <dt className="text-text-2">{t("debug.inbox.graph")}</dt>
          <dd className="truncate">{question.graphName}</dd>
          <dt className="text-text-2">{t("debug.inbox.thread")}</dt>
          <dd className="truncate">{question.threadTitle}</dd>
          <dt className="text-text-2">{t("debug.inbox.node")}</dt>
          <dd className="truncate">{question.node}</dd>
          <dt className="text-text-2">{t("debug.inbox.since")}</dt>
          <dd className="tabular-nums" title={fullTime(question.since)}>
            {since(question.since, now)}
          </dd>
          {question.branch && (
            <>
              <dt className="text-text-2">{t("debug.inbox.branch")}</dt>
              <dd className="tabular-nums text-past">
                {t("debug.inbox.branchText", { step: question.branch.step, left: question.branch.leftAt })}
              </dd>
            </>
          )}
        </dl>
        <ShowInDebug question={question} />
        <QuestionMenu question={question} />
      </header>
      <AnswerForm ref={form} question={question} byItself={byItself} />
    </article>
  );
}

/** What has left the list a moment ago, and who saw to it. */
function GoneNotes() {
  const others = useInbox((inbox) => inbox.gone);
  const [first] = others;
  if (!first) return null;
  return (
    <div className="flex items-start gap-2 border-b border-line bg-surface-4 px-4 py-2 text-xs" role="status">
      <p className="min-w-0 flex-1">
        {others.length === 1
          ? t("debug.inbox.goneOne", { text: headline(first) })
          : t("debug.inbox.gone", { n: others.length })}
      </p>
      <IconButton size="small" label={t("debug.dismiss")} onClick={dismissGone}>
        <X size={13} aria-hidden />
      </IconButton>
    </div>
  );
}
