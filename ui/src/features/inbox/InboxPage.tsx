/**
 * Approve: every waiting question of every thread and branch, and the selected one in full: searched, filtered, sorted, alike
 * ones as one row. Works without the mouse and without ever seeing the canvas; a key means the same for every question. An
 * answered question leaves at once and comes back when its answer is refused or taken back; the one that takes its place
 * takes no press for a moment. Nothing is answered twice: a question that somebody else answered leaves with a note.
 */
import { rowsClass } from "../../components/recipes";
import { useVirtualizer } from "@tanstack/react-virtual";
import { X } from "lucide-react";
import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { IconButton } from "../../components/IconButton";
import { Spinner } from "../../components/Spinner";
import type { AnswerHandle } from "../../debugger/answers/AskedForm";
import { headline } from "../../debugger/answers/asked-effect";
import { HeldAnswers } from "../../debugger/answers/HeldAnswers";
import { useOnlyRead } from "../../debugger/model/only-read";
import { FOCUS_NOTE } from "../../debugger/answers/NoteField";
import { dismissGone, loadInbox, questionKey, useInbox, watchInbox } from "../../debugger/model/inbox";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { DELEGATE, SNOOZE, type Snooze } from "../../debugger/run/answering";
import { ensureStarted } from "../../debugger/model/connect";
import { useNow } from "../../debugger/parts/useNow";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { useCosts } from "./costs";
import { conditionsOf, EVERYTHING, isAsleep, listed, rowsOf, stepOf } from "./desk";
import { DeskHead } from "./DeskHead";
import { EmptyDesk } from "./EmptyDesk";
import { HistoryPage } from "./HistoryPage";
import { QuestionDetail } from "./QuestionDetail";
import { heightOf, QuestionRow } from "./QuestionRow";
import { snooze } from "./snoozes";

export function InboxPage() {
  const [isPast, setIsPast] = useState(false);
  if (isPast) return <HistoryPage onBack={() => setIsPast(false)} />;
  return <Desk onPast={() => setIsPast(true)} />;
}

function Desk({ onPast }: { onPast(): void }) {
  useEffect(() => {
    ensureStarted();
    return watchInbox();
  }, []);
  const all = useInbox((inbox) => inbox.questions);
  const waiting = useInbox((inbox) => inbox.waiting);
  const reading = useInbox((inbox) => inbox.reading);
  const state = useInbox((inbox) => inbox.state);
  const problem = useInbox((inbox) => inbox.problem);
  const back = useInbox((inbox) => inbox.back);
  const held = useInbox((inbox) => inbox.held);
  const me = useSession((session) => session.appInfo?.settings.name);
  const [filter, setFilter] = useState(EVERYTHING);
  const wanted = useDeferredValue(filter);
  const [selectedKey, setSelectedKey] = useState<string | null>(null);
  const onlyRead = useOnlyRead((store) => store.onlyRead);
  const [lastIndex, setLastIndex] = useState(0);
  /** The question that the person chose; any other got its place by itself. */
  const [chosenKey, setChosenKey] = useState<string | null>(null);
  const now = useNow(15_000);
  const form = useRef<AnswerHandle>(null);
  const detail = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const search = useRef<HTMLInputElement>(null);

  const costs = useCosts(all, wanted.cost !== null || wanted.sort === "cost");
  const questions = useMemo(() => listed(all, wanted, { me, now, costs }), [all, wanted, me, now, costs]);
  const list = useMemo(() => rowsOf(questions, wanted.grouped), [questions, wanted.grouped]);
  const asleep = useMemo(() => all.filter((question) => isAsleep(question, now)).length, [all, now]);

  // When the selected question goes away, the one that takes its place is next.
  const found = useMemo(() => list.findIndex(({ key }) => key === selectedKey), [list, selectedKey]);
  const index = found >= 0 ? found : Math.min(lastIndex, list.length - 1);
  const selected = list[index];
  useEffect(() => {
    if (selected && selected.key !== selectedKey) {
      // The first one that is shown was chosen by opening this page.
      if (selectedKey === null) setChosenKey(selected.key);
      setSelectedKey(selected.key);
    }
    if (found >= 0 && found !== lastIndex) setLastIndex(found);
  }, [selected, selectedKey, found, lastIndex]);

  const rows = useVirtualizer({
    count: list.length,
    getItemKey: (index) => list[index]?.key ?? index,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => heightOf(list[index]),
    overscan: 8,
  });
  const choose = useCallback((key: string) => {
    setSelectedKey(key);
    setChosenKey(key);
  }, []);
  const go = useCallback(
    (to: number) => {
      const at = Math.max(0, Math.min(list.length - 1, to));
      const row = list[at];
      if (!row) return;
      choose(row.key);
      setLastIndex(at);
      rows.scrollToIndex(at);
    },
    [list, rows, choose],
  );

  // An answer that was refused or taken back brings its question back; it is shown, unless the person is writing another
  // answer by now.
  const shownBack = useRef(back);
  useEffect(() => {
    if (back === null || back === shownBack.current) return;
    const at = list.findIndex(({ questions }) =>
      questions.some((question) => questionKey(question) === back.key),
    );
    const row = list[at];
    if (!row) return;
    shownBack.current = back;
    const writing = document.activeElement?.closest("input, textarea, [contenteditable=true]");
    if (writing && detail.current?.contains(writing)) return;
    setSelectedKey(row.key);
    setChosenKey(null);
    setLastIndex(at);
    rows.scrollToIndex(at);
  }, [back, list, rows]);

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
      const inTabs = target?.closest("[role=tablist]") !== null && target !== null;
      if (event.key === "j" || (event.key === "ArrowDown" && !inTabs)) go(index + 1);
      else if (event.key === "k" || (event.key === "ArrowUp" && !inTabs)) go(index - 1);
      // A key that is held down was pressed for the question before.
      else if (/^[1-9ar]$/i.test(event.key)) {
        if (!event.repeat && !form.current?.press(event.key)) return;
      } else if (event.repeat) return;
      else if (event.key === "/") search.current?.focus();
      else if (event.key === "g") setFilter((before) => ({ ...before, grouped: !before.grouped }));
      else if (event.key === "n") window.dispatchEvent(new Event(FOCUS_NOTE));
      else if (event.key === "s" && selected) void snooze(selected.questions, "hour");
      else if (event.key === "d") window.dispatchEvent(new CustomEvent(DELEGATE, { detail: "delegate" }));
      else if (
        event.key === "Enter" &&
        (!target || target === document.body || scroller.current?.contains(target))
      )
        form.current?.focus();
      else return;
      event.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [go, index, selected]);

  useEffect(() => {
    const onSnooze = (event: Event) => {
      if (selected && event instanceof CustomEvent) void snooze(selected.questions, event.detail as Snooze);
    };
    window.addEventListener(SNOOZE, onSnooze);
    return () => window.removeEventListener(SNOOZE, onSnooze);
  }, [selected]);

  const step = useMemo(() => (selected ? stepOf(all, selected.questions[0]) : []), [all, selected]);
  // The page of a step stays while some of its questions come and go.
  const isStep = selected?.questions.length === 1 && step.length > 1;
  const shownKey = isStep ? `step ${selected.questions[0].checkpointId}` : (selected?.key ?? "");
  const byItself = selectedKey !== null && selected?.key !== chosenKey;
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
        <DeskHead
          filter={filter}
          onChange={setFilter}
          questions={all}
          waiting={waiting}
          shown={questions.length}
          asleep={asleep}
          search={search}
          onPast={onPast}
        />
        <GoneNotes />
        <div
          ref={scroller}
          className={`min-h-0 flex-1 overflow-y-auto ${rowsClass}`}
          role="listbox"
          aria-label={t("debug.inbox.title")}
          aria-activedescendant={selected ? `question-${selected.key}` : undefined}
          tabIndex={list.length > 0 ? 0 : -1}
        >
          <div className="relative" style={{ height: rows.getTotalSize() }}>
            {rows.getVirtualItems().map((item) => {
              const row = list[item.index];
              if (!row) return null;
              return (
                <div
                  key={row.key}
                  className="absolute inset-x-0"
                  style={{ top: item.start, height: item.size }}
                >
                  <QuestionRow row={row} selected={item.index === index} now={now} onSelect={choose} />
                </div>
              );
            })}
          </div>
          {reading && <p className="px-4 py-2 text-2xs text-text-3">{t("debug.inbox.more")}</p>}
        </div>
        <HeldAnswers held={held} />
        {list.length > 0 && (
          <p className="shrink-0 border-t border-line px-4 py-2 text-2xs text-text-3 max-[641px]:hidden">
            {t(onlyRead ? "debug.inbox.keysOnlyRead" : "debug.inbox.keys")}
          </p>
        )}
      </div>
      <div ref={detail} className="min-h-0 min-w-0 flex-1 overflow-y-auto">
        {selected ? (
          <QuestionDetail
            key={shownKey}
            row={selected}
            step={step}
            byItself={byItself}
            now={now}
            form={form}
          />
        ) : (
          <EmptyDesk
            isFiltered={conditionsOf(filter) > 0 || filter.words.trim() !== "" || filter.snoozed}
            asleep={asleep}
            onEverything={() => setFilter(EVERYTHING)}
            onAsleep={() => setFilter({ ...EVERYTHING, snoozed: true })}
          />
        )}
      </div>
    </section>
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
