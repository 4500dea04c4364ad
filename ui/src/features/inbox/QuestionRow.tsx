/** A row of the list: one question, or how many there are that are alike. */
import { CircleAlert, GitBranch, MessageCircleQuestionMark } from "lucide-react";
import { memo } from "react";
import { InlineMarkdown } from "../../components/Markdown";
import { headline } from "../../debugger/answers/asked-effect";
import { questionKey, useInbox } from "../../debugger/model/inbox";
import { fullTime, since } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { problemText, t, tn } from "../../lib/texts";
import type { DeskRow } from "./desk";
import { handedText } from "./handed";

const ROW = 68;
/** Of a question whose thread is called like its graph. */
const SHORT = 52;
const LINE = 16;

/** How high the row is, in pixels. */
export function heightOf(row: DeskRow | undefined): number {
  const [question, another] = row?.questions ?? [];
  if (another) return SHORT;
  return (question?.threadTitle === question?.graphName ? SHORT : ROW) + (question?.branch ? LINE : 0);
}

export const QuestionRow = memo(function QuestionRow({
  row,
  selected,
  now,
  onSelect,
}: {
  row: DeskRow;
  selected: boolean;
  now: number;
  onSelect(key: string): void;
}) {
  const [question] = row.questions;
  const alike = row.questions.length;
  const key = questionKey(question);
  const refusal =
    useInbox((inbox) => inbox.refusals.get(key))?.message ??
    (question.returned && problemText(question.returned.problem).message) ??
    question.refused;
  return (
    <div
      id={`question-${row.key}`}
      role="option"
      aria-selected={selected}
      data-testid={debugIds.question}
      data-question={question.interruptId}
      className={`flex h-full gap-2.5 border-b border-line px-4 py-2 ${selected ? "bg-accent-soft" : "hover:bg-surface-3"}`}
      onClick={() => onSelect(row.key)}
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
          {alike > 1 && (
            <span
              className="tabular-nums shrink-0 rounded-sm bg-surface-4 px-1.5 text-2xs text-text-2"
              title={tn("debug.alike.one", "debug.alike.many", alike)}
              data-testid={debugIds.alikeCount}
            >
              ×{alike}
            </span>
          )}
          <span className="tabular-nums shrink-0 text-2xs text-text-3" title={fullTime(question.since)}>
            {since(question.since, now)}
          </span>
        </div>
        {alike === 1 && question.threadTitle !== question.graphName && (
          <p className="truncate text-xs text-text-2">{question.threadTitle}</p>
        )}
        {alike === 1 && question.branch && (
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
            {alike === 1 && question.delegation && (
              <span className="text-text-2" data-testid={debugIds.questionHanded}>
                {handedText(question.delegation)}
                {" · "}
              </span>
            )}
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
