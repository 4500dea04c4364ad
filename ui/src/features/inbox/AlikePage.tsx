/** Alike questions of any threads on one page: what they ask, what differs between them, and one answer for all. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type Ref, useCallback, useMemo, useRef, useState } from "react";
import { Checkbox } from "../../components/Checkbox";
import { headline } from "../../debugger/answers/asked-effect";
import { type AnswerHandle, AskedForm } from "../../debugger/answers/AskedForm";
import { NoteField } from "../../debugger/answers/NoteField";
import { useGuard } from "../../debugger/parts/useGuard";
import { questionKey, useInbox } from "../../debugger/model/inbox";
import { isObject } from "../../debugger/parts/diff";
import { answerAll } from "../../debugger/run/answering";
import type { Question } from "../../ipc/bindings/Question";
import { debugIds } from "../../lib/testIds";
import { problemText, t, tn } from "../../lib/texts";
import { commonCalls, differing, valueOf } from "./desk";

const ROW = 28;
/** Columns beside the question. */
const MOST_COLUMNS = 4;

interface Props {
  questions: readonly [Question, ...Question[]];
  byItself: boolean;
  ref?: Ref<AnswerHandle>;
}

export function AlikePage({ questions, byItself, ref }: Props) {
  const guarded = useGuard(byItself);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [note, setNote] = useState("");
  const [first] = questions;
  const names = useMemo(() => differing(questions), [questions]);
  const asksTheSame = useMemo(() => questions.every(({ text }) => text === first.text), [questions, first]);
  const asked = useMemo(() => {
    const context = isObject(first.context) ? Object.entries(first.context) : [];
    const calls = commonCalls(questions);
    return {
      ...first,
      ...(calls && { calls }),
      ...(!asksTheSame && { text: "" }),
      context: Object.fromEntries(context.filter(([name]) => !names.includes(name))),
    };
  }, [first, questions, names, asksTheSame]);
  const chosen = useMemo(
    () => questions.filter((question) => !left.has(questionKey(question))),
    [questions, left],
  );
  const send = useCallback(
    async (value: unknown) => {
      await answerAll(
        chosen.map((question) => ({ question, value })),
        note,
      );
      return null;
    },
    [chosen, note],
  );
  return (
    <div className="flex flex-col gap-4" data-testid={debugIds.alikePage}>
      <AskedForm
        ref={ref}
        asked={asked}
        id={first.interruptId}
        guarded={guarded || chosen.length === 0}
        answering={false}
        onAnswer={send}
      >
        <div className="flex items-center gap-3 text-sm">
          <Checkbox
            checked={left.size === 0}
            indeterminate={left.size > 0 && chosen.length > 0}
            onChange={(all) => setLeft(all ? new Set() : new Set(questions.map(questionKey)))}
          >
            <span data-testid={debugIds.alikeChosen}>
              {tn("debug.alike.one", "debug.alike.many", chosen.length)}
            </span>
          </Checkbox>
        </div>
        <Table
          questions={questions}
          names={names.slice(0, MOST_COLUMNS)}
          asksTheSame={asksTheSame}
          left={left}
          onToggle={(key) => {
            const next = new Set(left);
            if (!next.delete(key)) next.add(key);
            setLeft(next);
          }}
        />
        <p className="text-xs text-text-2">
          {tn("debug.alike.answersOne", "debug.alike.answers", chosen.length)}
        </p>
      </AskedForm>
      <NoteField value={note} onChange={setNote} />
    </div>
  );
}

function Table({
  questions,
  names,
  asksTheSame,
  left,
  onToggle,
}: {
  questions: readonly Question[];
  names: readonly string[];
  asksTheSame: boolean;
  left: ReadonlySet<string>;
  onToggle(key: string): void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const refusals = useInbox((inbox) => inbox.refusals);
  const rows = useVirtualizer({
    count: questions.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 8,
  });
  const asksOrIsCalled = (question: Question) => (asksTheSame ? question.threadTitle : headline(question));
  const columns = `28px minmax(8rem,2fr) ${names.map(() => "minmax(4rem,1fr)").join(" ")}`;
  return (
    <div
      ref={scroller}
      className="max-h-[36vh] min-h-16 overflow-auto rounded-md border border-line bg-surface-1 text-xs"
      role="table"
      aria-label={t("debug.alike.table")}
      tabIndex={0}
    >
      <div
        className="sticky top-0 z-1 grid h-7 items-center gap-x-3 border-b border-line bg-surface-4 px-2 text-text-2"
        style={{ gridTemplateColumns: columns }}
        role="row"
      >
        <span role="columnheader" aria-label={t("debug.alike.chosen")} />
        <span role="columnheader">{t(asksTheSame ? "debug.inbox.thread" : "debug.alike.question")}</span>
        {names.map((name) => (
          <span key={name} className="truncate" role="columnheader">
            {name}
          </span>
        ))}
      </div>
      <div className="relative" style={{ height: rows.getTotalSize() }} role="rowgroup">
        {rows.getVirtualItems().map((item) => {
          const question = questions[item.index];
          if (!question) return null;
          const key = questionKey(question);
          const told = refusals.get(key) ?? question.returned?.problem;
          const refusal = told && problemText(told).message;
          return (
            <div
              key={key}
              className={`absolute inset-x-0 grid items-center gap-x-3 border-b border-line px-2 ${left.has(key) ? "text-text-3" : ""} ${refusal === undefined ? "" : "bg-failed-soft"}`}
              style={{ top: item.start, height: item.size, gridTemplateColumns: columns }}
              role="row"
              title={refusal}
              data-testid={debugIds.alikeRow}
            >
              <span role="cell">
                <Checkbox
                  checked={!left.has(key)}
                  onChange={() => onToggle(key)}
                  aria-label={asksOrIsCalled(question)}
                />
              </span>
              <span className="truncate" role="cell" title={question.text}>
                {asksOrIsCalled(question)}
              </span>
              {names.map((name) => (
                <span
                  key={name}
                  className="tabular-nums truncate"
                  role="cell"
                  title={valueOf(question, name)}
                >
                  {valueOf(question, name)}
                </span>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}
