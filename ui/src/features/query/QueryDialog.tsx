/** Finds moments in all threads: words, conditions, and a table of what fits. Opening one moves the cursor there. */
import { Search, SearchX } from "lucide-react";
import { useEffect, useId, useRef, useState, type KeyboardEvent } from "react";
import { create } from "zustand";
import { Dialog } from "../../components/Dialog";
import { EmptyState } from "../../components/EmptyState";
import { Spinner } from "../../components/Spinner";
import { TextField } from "../../components/TextField";
import { openMoment } from "../../debugger/run/open-moment";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { useNow } from "../../debugger/parts/useNow";
import { hintClass } from "../../components/recipes";
import type { IndexState } from "../../ipc/bindings/IndexState";
import type { MomentFound } from "../../ipc/bindings/MomentFound";
import { when } from "../../lib/intl";
import { queryIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { registerCommands } from "../../state/commands";
import { useSession } from "../../state/session";
import { Conditions } from "./Conditions";
import { EMPTY, requestOf, withCondition, type Query } from "./query";
import { momentsText } from "./report";
import { Results } from "./Results";
import { SavedQueries } from "./SavedQueries";
import { searchWalk, startSearch, stopSearch, useSearch } from "./search";
import { WalkProgress } from "./SearchProgress";

/** A query that is being written is sent when it rests so long. */
const REST_MS = 250;

const useDialog = create<{ open: boolean; query: Query; asked: string | null }>(() => ({
  open: false,
  query: EMPTY,
  asked: null,
}));

const openWith = (query: Query): void => useDialog.setState({ open: true, query });

/** Opens the desk with one more column. */
export const addColumn = (expression: string): void =>
  openWith(withCondition(useDialog.getState().query, "column", expression));

export function QueryDialog() {
  const open = useDialog((dialog) => dialog.open);
  useEffect(
    () =>
      registerCommands([
        {
          id: "query.open",
          title: t("query.open"),
          group: t("shell.group.debug"),
          run: () => useDialog.setState({ open: true }),
        },
        {
          id: "query.column",
          title: t("query.addColumn"),
          group: t("shell.group.debug"),
          run: () => openWith(withCondition(useDialog.getState().query, "column", "")),
        },
      ]),
    [],
  );
  const close = () => {
    stopSearch();
    useDialog.setState({ open: false });
  };
  return open ? <Desk onClose={close} /> : null;
}

function Desk({ onClose }: { onClose(): void }) {
  const query = useDialog((dialog) => dialog.query);
  const asked = useDialog((dialog) => dialog.asked);
  const graphId = useSession((session) => session.graphId);
  const search = useSearch();
  const [chosen, setChosen] = useState(search.rows.length > 0 ? 0 : -1);
  const field = useRef<HTMLInputElement>(null);
  const list = useId();

  // What is asked for, as text: the time "since" counts from is the moment of asking.
  const wanted = JSON.stringify(requestOf(query, graphId, 0));
  const ask = () => {
    useDialog.setState({ asked: wanted });
    setChosen(-1);
    void startSearch(requestOf(query, graphId, Date.now()));
  };
  const askRef = useRef(ask);
  useEffect(() => {
    askRef.current = ask;
  });
  useEffect(() => {
    if (wanted === asked) return;
    const timer = setTimeout(() => askRef.current(), REST_MS);
    return () => clearTimeout(timer);
  }, [wanted, asked]);

  const { rows: moments, state } = search;
  const at = Math.min(chosen, moments.length - 1);
  const openAt = (moment: MomentFound | undefined) => {
    if (!moment) return;
    onClose();
    void openMoment({ threadId: moment.threadId, checkpointId: moment.checkpointId });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const page = 10;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page }[event.key];
    if (to !== undefined) {
      setChosen(Math.max(0, Math.min(moments.length - 1, to)));
      event.preventDefault();
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (wanted !== asked) ask();
      else openAt(moments[Math.max(0, at)]);
    }
  };
  const columns = query.conditions.flatMap(({ kind, value }) =>
    kind === "column" && value.trim() !== "" ? [value.trim()] : [],
  );
  return (
    <Dialog
      open
      onClose={onClose}
      title={t("query.title")}
      size="large"
      initialFocus={field}
      data-testid={queryIds.dialog}
    >
      <div className="flex h-[min(620px,calc(100vh-130px))] min-h-0 flex-col gap-2">
        <TextField
          ref={field}
          type="search"
          role="combobox"
          aria-expanded={moments.length > 0}
          aria-controls={list}
          aria-activedescendant={at >= 0 ? `${list}-${at}` : undefined}
          aria-label={t("query.words")}
          placeholder={t("query.words")}
          className="shrink-0"
          prefix={<Search size={14} aria-hidden />}
          value={query.words}
          onChange={(words) => useDialog.setState({ query: { ...query, words } })}
          onKeyDown={onKeyDown}
          data-testid={queryIds.words}
        />
        <SavedQueries query={query} onOpen={(saved) => useDialog.setState({ query: saved })} />
        <Conditions
          query={query}
          hasGraph={graphId !== null}
          onChange={(next) => useDialog.setState({ query: next })}
          onCommit={ask}
        />
        {search.problem ? (
          <ProblemNote problem={search.problem} onRetry={ask} />
        ) : moments.length > 0 ? (
          <Results
            id={list}
            moments={moments}
            columns={columns}
            chosen={at}
            onChoose={setChosen}
            onOpen={openAt}
          />
        ) : (
          <Nothing state={state} total={search.total} />
        )}
        <WalkProgress
          walk={searchWalk}
          found={tn("query.foundOne", "query.found", moments.length)}
          onAgain={ask}
          text={(searched) => momentsText(query, columns, moments, searched)}
        >
          {search.index !== null && <Index index={search.index} />}
        </WalkProgress>
      </div>
    </Dialog>
  );
}

function Nothing({ state, total }: { state: string; total: number }) {
  if (state === "idle")
    return (
      <EmptyState icon={<Search size={20} aria-hidden />} title={t("query.begin")}>
        {t("query.beginText")}
      </EmptyState>
    );
  if (state === "running")
    return (
      <div className="grid min-h-0 flex-1 place-items-center">
        <Spinner label={t("query.searching")} />
      </div>
    );
  return (
    <EmptyState icon={<SearchX size={20} aria-hidden />} title={t("query.nothing")}>
      {total === 0 ? t("query.noThreads") : t("query.nothingText")}
    </EmptyState>
  );
}

function Index({ index: { until, behind } }: { index: IndexState }) {
  const time = when(until, useNow(30_000));
  return (
    <span className={hintClass} title={t("query.indexHelp")} data-testid={queryIds.index}>
      {behind > 0 ? tn("query.behindOne", "query.behind", behind, { time }) : t("query.upTo", { time })}
    </span>
  );
}
