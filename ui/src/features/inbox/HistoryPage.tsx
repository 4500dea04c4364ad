/** What people answered: who, when, on which state and why; searched, and written to a file as a table. */
import { rowsClass } from "../../components/recipes";
import { useVirtualizer } from "@tanstack/react-virtual";
import {
  ArrowLeft,
  Bug,
  CircleAlert,
  CircleCheck,
  FileDown,
  History,
  Search,
  ShieldCheck,
  Undo2,
  UserRoundCheck,
} from "lucide-react";
import { memo, useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { IconButton } from "../../components/IconButton";
import { Spinner } from "../../components/Spinner";
import { TextField } from "../../components/TextField";
import { useInbox } from "../../debugger/model/inbox";
import { json, Pre } from "../../debugger/parts/Pre";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { useNow } from "../../debugger/parts/useNow";
import { openMoment } from "../../debugger/run/open-moment";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import type { AnswerState } from "../../ipc/bindings/AnswerState";
import type { AnswerView } from "../../ipc/bindings/AnswerView";
import { host, rpc } from "../../ipc/client";
import { fullTime, listed, since } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, type TextKey, tn } from "../../lib/texts";
import { saveFileDialog } from "../../state/file-dialogs";
import { useSession } from "../../state/session";
import { showProblem, showToast } from "../../state/toasts";
import { ChainDialog } from "./ChainDialog";

const PAGE = 200;
const ROW = 52;
/** Rows before the end of the list at which the next page is read. */
const AHEAD = 20;

const STATES: Readonly<Record<AnswerState, TextKey>> = {
  held: "debug.answered.held",
  giving: "debug.answered.held",
  given: "debug.answered.given",
  returned: "debug.answered.returned",
  lost: "debug.answered.lost",
  withdrawn: "debug.answered.withdrawn",
  delegated: "debug.answered.delegated",
  escalated: "debug.answered.escalated",
};

const isHanded = (state: AnswerState): boolean => state === "delegated" || state === "escalated";

const inWords = ({ answer, state }: AnswerView): string => {
  if (state === "withdrawn") return t("debug.answered.withdrawn");
  if (isHanded(state)) {
    const names = (Array.isArray(answer) ? answer : []).filter((name) => typeof name === "string");
    if (names.length === 0) return t("debug.hand.back");
    return t(state === "escalated" ? "debug.hand.escalatedTo" : "debug.hand.handedTo", {
      who: listed(names),
    });
  }
  return typeof answer === "string" ? answer : JSON.stringify(answer);
};

export function HistoryPage({ onBack }: { onBack(): void }) {
  const [words, setWords] = useState("");
  const [chosen, setChosen] = useState<number | null>(null);
  const [isChecked, setIsChecked] = useState(false);
  const { answers, more, isRead, problem, readMore } = useAnswers(useDeferredValue(words));
  const now = useNow(15_000);
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: answers.length,
    getItemKey: (index) => answers[index]?.id ?? index,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 8,
  });
  const last = rows.getVirtualItems().at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && last >= answers.length - AHEAD) readMore();
  }, [more, last, answers.length, readMore]);
  const selected = useMemo(() => answers.find(({ id }) => id === chosen) ?? answers[0], [answers, chosen]);
  return (
    <section
      className="flex h-full min-h-0 bg-surface-0 max-[641px]:flex-col"
      aria-label={t("debug.answered")}
      data-testid={debugIds.history}
    >
      {isChecked && <ChainDialog onClose={() => setIsChecked(false)} />}
      <div className="flex w-[clamp(260px,30%,380px)] shrink-0 flex-col border-r border-line bg-surface-1 max-[641px]:h-[40%] max-[641px]:w-full max-[641px]:border-r-0 max-[641px]:border-b">
        <header className="flex shrink-0 flex-col gap-1.5 border-b border-line px-4 py-1.5">
          <div className="flex min-h-7 items-center gap-2">
            <IconButton
              size="small"
              label={t("debug.answered.back")}
              onClick={onBack}
              data-testid={debugIds.historyBack}
            >
              <ArrowLeft size={15} aria-hidden />
            </IconButton>
            <h1 className="flex-1 truncate text-sm font-semibold">{t("debug.answered")}</h1>
            <IconButton
              size="small"
              label={t("debug.chain.check")}
              onClick={() => setIsChecked(true)}
              data-testid={debugIds.historyCheck}
            >
              <ShieldCheck size={15} aria-hidden />
            </IconButton>
            <IconButton
              size="small"
              label={t("debug.answered.export")}
              disabled={answers.length === 0}
              onClick={() => void exportAnswers(words)}
              data-testid={debugIds.historyExport}
            >
              <FileDown size={15} aria-hidden />
            </IconButton>
          </div>
          <TextField
            value={words}
            onChange={setWords}
            placeholder={t("debug.answered.search")}
            aria-label={t("debug.answered.search")}
            prefix={<Search size={13} aria-hidden />}
            data-testid={debugIds.historySearch}
          />
        </header>
        <div
          ref={scroller}
          className={`min-h-0 flex-1 overflow-y-auto ${rowsClass}`}
          role="listbox"
          aria-label={t("debug.answered")}
          tabIndex={answers.length > 0 ? 0 : -1}
        >
          <div className="relative" style={{ height: rows.getTotalSize() }}>
            {rows.getVirtualItems().map((item) => {
              const answer = answers[item.index];
              if (!answer) return null;
              return (
                <div
                  key={answer.id}
                  className="absolute inset-x-0"
                  style={{ top: item.start, height: item.size }}
                >
                  <AnswerRow answer={answer} selected={answer === selected} now={now} onSelect={setChosen} />
                </div>
              );
            })}
          </div>
        </div>
      </div>
      <div className="min-h-0 min-w-0 flex-1 overflow-y-auto">
        {problem ? (
          <ProblemNote problem={problem} />
        ) : selected ? (
          <AnswerDetail key={selected.id} answer={selected} />
        ) : isRead ? (
          <EmptyState icon={<History size={24} aria-hidden />} title={t("debug.answered.none")}>
            {t(words.trim() === "" ? "debug.answered.noneText" : "debug.answered.noMatch")}
          </EmptyState>
        ) : (
          <div className="flex h-full items-center justify-center">
            <Spinner label={t("debug.loading")} />
          </div>
        )}
      </div>
    </section>
  );
}

/** The answers that have these words, as far as somebody looked; read again when questions come or go. */
function useAnswers(words: string) {
  const [answers, setAnswers] = useState<readonly AnswerView[]>([]);
  const [next, setNext] = useState<number | undefined>();
  const [isRead, setIsRead] = useState(false);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const held = useInbox((inbox) => inbox.held);
  const waiting = useInbox((inbox) => inbox.waiting);
  const reading = useRef(0);
  useEffect(() => {
    const mine = (reading.current += 1);
    rpc("answers.list", { words, limit: PAGE }).then(
      (list) => {
        if (mine !== reading.current) return;
        setAnswers(list.answers);
        setNext(list.next);
        setIsRead(true);
        setProblem(null);
      },
      (thrown: unknown) => {
        if (mine === reading.current) setProblem(asProblem(thrown));
      },
    );
  }, [words, held, waiting]);
  const readMore = useCallback(() => {
    if (next === undefined) return;
    const mine = reading.current;
    setNext(undefined);
    rpc("answers.list", { words, limit: PAGE, before: next }).then(
      (list) => {
        if (mine !== reading.current) return;
        setAnswers((before) => [...before, ...list.answers]);
        setNext(list.next);
      },
      (thrown: unknown) => setProblem(asProblem(thrown)),
    );
  }, [words, next]);
  return { answers, more: next !== undefined, isRead, problem, readMore };
}

async function exportAnswers(words: string): Promise<void> {
  const suggested = `${useSession.getState().appInfo?.graphsDir ?? ""}/answers.csv`;
  const path = await (host.pickSave ? host.pickSave(suggested, "csv") : saveFileDialog(suggested, "csv"));
  if (path === null) return;
  try {
    const done = await rpc("answers.export", { path, which: { words } });
    showToast({
      tone: "done",
      text: tn("debug.answered.exportedOne", "debug.answered.exported", done.answers),
      detail: done.path,
    });
  } catch (problem) {
    showProblem(problem);
  }
}

const AnswerRow = memo(function AnswerRow({
  answer,
  selected,
  now,
  onSelect,
}: {
  answer: AnswerView;
  selected: boolean;
  now: number;
  onSelect(id: number): void;
}) {
  const Icon =
    answer.state === "given"
      ? CircleCheck
      : answer.state === "withdrawn"
        ? Undo2
        : isHanded(answer.state)
          ? UserRoundCheck
          : CircleAlert;
  return (
    <div
      role="option"
      aria-selected={selected}
      className={`flex h-full gap-2.5 border-b border-line px-4 py-2 ${selected ? "bg-accent-soft" : "hover:bg-surface-3"}`}
      onClick={() => onSelect(answer.id)}
      data-testid={debugIds.historyRow}
    >
      <Icon size={16} className="mt-0.5 shrink-0 text-text-2" aria-label={t(STATES[answer.state])} />
      <div className="min-w-0 flex-1">
        <div className="flex items-baseline gap-2">
          <p className="min-w-0 flex-1 truncate text-sm">{answer.question.split("\n", 1)[0]}</p>
          <span className="tabular-nums shrink-0 text-2xs text-text-3" title={fullTime(answer.at)}>
            {since(answer.at, now)}
          </span>
        </div>
        <p className="truncate text-xs text-text-2">
          <span className="font-medium">{inWords(answer)}</span>
          {answer.person !== undefined && ` · ${answer.person}`}
          {answer.note !== undefined && ` · ${answer.note}`}
        </p>
      </div>
    </div>
  );
});

function AnswerDetail({ answer }: { answer: AnswerView }) {
  const facts: [TextKey, string][] = [
    ["debug.inbox.graph", answer.graphName],
    ["debug.inbox.thread", answer.threadTitle],
    ["debug.inbox.node", answer.node],
    ["debug.answered.when", fullTime(answer.at)],
    ["debug.answered.who", answer.person ?? t("debug.answered.nobody")],
    ["debug.answered.state", t(STATES[answer.state])],
  ];
  const { threadId, checkpointId, problem } = answer;
  return (
    <article className="mx-auto flex max-w-2xl flex-col gap-4 px-6 py-6" data-testid={debugIds.historyDetail}>
      <header className="flex items-start gap-3">
        <dl className="grid flex-1 grid-cols-[auto_1fr] gap-x-3 gap-y-0.5 text-xs">
          {facts.map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-text-2">{t(name)}</dt>
              <dd className="truncate">{value}</dd>
            </div>
          ))}
        </dl>
        <Button
          size="small"
          icon={<Bug size={14} aria-hidden />}
          onClick={() => void openMoment({ threadId, checkpointId })}
        >
          {t("debug.inbox.show")}
        </Button>
      </header>
      <p className="select-text text-lg font-semibold whitespace-pre-wrap [overflow-wrap:anywhere]">
        {answer.question}
      </p>
      {isHanded(answer.state) && <p className="select-text text-sm">{inWords(answer)}</p>}
      {answer.state !== "withdrawn" && !isHanded(answer.state) && (
        <Pre tone="plain">{typeof answer.answer === "string" ? answer.answer : json(answer.answer)}</Pre>
      )}
      {answer.note !== undefined && (
        <p className="select-text text-sm [overflow-wrap:anywhere]">
          <span className="text-text-2">{t("debug.note")}: </span>
          {answer.note}
        </p>
      )}
      {problem && <ProblemNote problem={problem} />}
    </article>
  );
}
