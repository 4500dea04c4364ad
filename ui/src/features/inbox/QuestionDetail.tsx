/** The question that is selected, in full: by itself, with the others of its step, or with all that are alike. */
import type { Ref } from "react";
import { AnswerForm } from "../../debugger/answers/AnswerForm";
import type { AnswerHandle } from "../../debugger/answers/AskedForm";
import type { Question } from "../../ipc/bindings/Question";
import { fullTime, since } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { AlikePage } from "./AlikePage";
import type { DeskRow } from "./desk";
import { handedWhole } from "./handed";
import { QuestionMenu } from "./QuestionMenu";
import { ShowInDebug } from "./ShowInDebug";
import { StepPage } from "./StepPage";

interface Props {
  row: DeskRow;
  /** All questions of the step that asks; those of a row that stands for several are of any. */
  step: readonly Question[];
  byItself: boolean;
  now: number;
  form: Ref<AnswerHandle>;
}

export function QuestionDetail({ row, step, byItself, now, form }: Props) {
  const [question] = row.questions;
  const alike = row.questions.length;
  return (
    <article className="mx-auto max-w-2xl px-6 py-6" data-testid={debugIds.questionDetail}>
      <header className="mb-4 flex items-start gap-3">
        <dl className="grid flex-1 grid-cols-[auto_1fr] gap-x-3 gap-y-0.5 text-xs">
          <dt className="text-text-2">{t("debug.inbox.graph")}</dt>
          <dd className="truncate">{question.graphName}</dd>
          {alike === 1 && (
            <>
              <dt className="text-text-2">{t("debug.inbox.thread")}</dt>
              <dd className="truncate">{question.threadTitle}</dd>
            </>
          )}
          <dt className="text-text-2">{t("debug.inbox.node")}</dt>
          <dd className="truncate">{question.node}</dd>
          <dt className="text-text-2">{t("debug.inbox.since")}</dt>
          <dd className="tabular-nums" title={fullTime(question.since)}>
            {since(question.since, now)}
          </dd>
          {alike === 1 && question.delegation && (
            <>
              <dt className="text-text-2">{t("debug.hand.label")}</dt>
              <dd className="[overflow-wrap:anywhere]">{handedWhole(question.delegation)}</dd>
            </>
          )}
          {alike === 1 && question.branch && (
            <>
              <dt className="text-text-2">{t("debug.inbox.branch")}</dt>
              <dd className="tabular-nums text-past">
                {t("debug.inbox.branchText", { step: question.branch.step, left: question.branch.leftAt })}
              </dd>
            </>
          )}
        </dl>
        {alike === 1 && <ShowInDebug question={question} />}
        <QuestionMenu question={question} questions={row.questions} />
      </header>
      {alike > 1 ? (
        <AlikePage ref={form} questions={row.questions} byItself={byItself} />
      ) : step.length > 1 ? (
        <StepPage ref={form} questions={step} byItself={byItself} />
      ) : (
        <AnswerForm ref={form} question={question} byItself={byItself} />
      )}
    </article>
  );
}
