/** The runs that a figure counts, of which only the visible lines are there; pages are read as they come into sight. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useId, useRef, useState, type KeyboardEvent } from "react";
import { EmptyState } from "../../components/EmptyState";
import { Spinner } from "../../components/Spinner";
import { StatusMark } from "../../debugger/parts/StatusMark";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { openMoment } from "../../debugger/run/open-moment";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import type { RunGroup } from "../../ipc/bindings/RunGroup";
import type { RunLine } from "../../ipc/bindings/RunLine";
import type { RunPeriod } from "../../ipc/bindings/RunPeriod";
import { rpc } from "../../ipc/client";
import { count, duration, fullTime, momentText } from "../../lib/intl";
import { overviewIds } from "../../lib/testIds";
import { problemText, t } from "../../lib/texts";
import { costText, groupText, statusOf } from "./figures";
import { useOverview } from "./state";

const ROW = 42;
const PAGE = 200;
const GRID = "grid grid-cols-[minmax(0,1fr)_108px_60px_48px_84px] items-center gap-2 px-2";

interface Lines {
  readonly runs: readonly RunLine[];
  readonly total: number | null;
  readonly problem: ShownProblem | null;
}

/** Reads pages until the wanted number of lines is there. */
function useLines(period: RunPeriod, group: RunGroup, wanted: number) {
  const [lines, setLines] = useState<Lines>({ runs: [], total: null, problem: null });
  const [turn, setTurn] = useState(0);
  const known = lines.runs.length;
  const isMissing = lines.total === null || (known < wanted && known < lines.total);
  useEffect(() => {
    if (!isMissing) return;
    const abort = new AbortController();
    rpc("runs.list", { period, group, offset: known, limit: PAGE }, abort.signal).then(
      ({ runs, total }) => {
        if (abort.signal.aborted) return;
        // A page without runs is the last one, also where the number said another thing before.
        setLines((before) => ({
          runs: [...before.runs, ...runs],
          total: runs.length === 0 ? before.runs.length : total,
          problem: null,
        }));
      },
      (thrown: unknown) => {
        if (!abort.signal.aborted) setLines((before) => ({ ...before, problem: asProblem(thrown) }));
      },
    );
    return () => abort.abort();
    // Period and group belong to the component: another one is made for others.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [isMissing, known, turn]);
  return { ...lines, again: () => setTurn((before) => before + 1) };
}

const open = (line: RunLine): void => {
  useOverview.setState({ open: false });
  void openMoment({
    threadId: line.run.threadId,
    checkpointId: line.checkpointId ?? null,
    taskId: line.taskId ?? null,
  });
};

export function RunLines({ period, group }: { period: RunPeriod; group: RunGroup }) {
  const [wanted, setWanted] = useState(PAGE);
  const { runs, total, problem, again } = useLines(period, group, wanted);
  const [chosen, setChosen] = useState(-1);
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: runs.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 8,
  });
  const last = rows.getVirtualItems().at(-1)?.index ?? 0;
  if (last > wanted - 20 && wanted <= runs.length) setWanted(runs.length + PAGE);
  const isNode = group.type === "node" || group.type === "failure";
  const onKeyDown = (event: KeyboardEvent) => {
    const to = {
      ArrowDown: chosen + 1,
      ArrowUp: chosen - 1,
      PageDown: chosen + 10,
      PageUp: chosen - 10,
      Home: 0,
      End: runs.length - 1,
    }[event.key];
    const line = runs[chosen];
    if (to !== undefined) {
      const next = Math.max(0, Math.min(runs.length - 1, to));
      setChosen(next);
      rows.scrollToIndex(next);
      event.preventDefault();
    } else if (event.key === "Enter" && line) {
      open(line);
      event.preventDefault();
    }
  };
  return (
    <section className="flex min-h-0 min-w-0 flex-col" aria-label={groupText(group)}>
      <h3 className="flex shrink-0 items-baseline gap-2 pb-1 text-xs font-semibold text-text-2">
        <span className="truncate">{groupText(group)}</span>
        {total !== null && <span className="font-normal text-text-3 tabular-nums">{count(total)}</span>}
      </h3>
      {problem !== null ? (
        <ProblemNote problem={problem} onRetry={again} />
      ) : total === null ? (
        <div className="grid min-h-0 flex-1 place-items-center">
          <Spinner label={t("overview.reading")} />
        </div>
      ) : total === 0 ? (
        <EmptyState compact title={t("overview.list.none")} />
      ) : (
        <>
          <div className={`${GRID} shrink-0 border-b border-line pb-1 text-2xs text-text-3`} aria-hidden>
            <span>{t("overview.column.run")}</span>
            <span className="text-right">{t("overview.column.began")}</span>
            <span className="text-right">{t(isNode ? "overview.column.task" : "overview.column.took")}</span>
            <span className="text-right">{t("overview.column.tokens")}</span>
            <span className="text-right">{t("overview.column.cost")}</span>
          </div>
          <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto">
            <div
              className="relative outline-offset-[-2px]"
              style={{ height: rows.getTotalSize() }}
              role="listbox"
              tabIndex={0}
              aria-label={groupText(group)}
              aria-activedescendant={chosen >= 0 ? `${id}-${chosen}` : undefined}
              onKeyDown={onKeyDown}
              data-testid={overviewIds.list}
            >
              {rows.getVirtualItems().map(({ index, start }) => {
                const line = runs[index];
                if (!line) return null;
                const millis = isNode ? line.taskMillis : line.millis;
                return (
                  <div
                    key={line.run.runId}
                    id={`${id}-${index}`}
                    role="option"
                    aria-selected={index === chosen}
                    aria-posinset={index + 1}
                    aria-setsize={total}
                    className={`${GRID} absolute inset-x-0 cursor-default rounded-md text-xs tabular-nums hover:bg-surface-3 aria-selected:bg-accent-soft`}
                    style={{ height: ROW, transform: `translateY(${start}px)` }}
                    onClick={() => open(line)}
                    data-testid={overviewIds.run}
                  >
                    <span className="flex min-w-0 items-center gap-1.5">
                      <StatusMark status={statusOf(line)} size={13} />
                      <span
                        className="min-w-0"
                        title={line.run.problem && problemText(line.run.problem).message}
                      >
                        <span className="block truncate font-medium">{line.title}</span>
                        <span className="block truncate text-2xs text-text-3">
                          {line.graphName || t("overview.graph.unknown")}
                        </span>
                      </span>
                    </span>
                    <time className="truncate text-right text-text-2" title={fullTime(line.run.startedAt)}>
                      {momentText(line.run.startedAt)}
                    </time>
                    <span className="text-right">
                      {millis === undefined ? t("overview.nothing") : duration(millis)}
                    </span>
                    <span className="text-right text-text-2">
                      {line.tokens === 0 ? t("overview.nothing") : count(line.tokens)}
                    </span>
                    <span className="truncate text-right text-text-2">
                      {costText(line.cost, line.unpriced)}
                    </span>
                  </div>
                );
              })}
            </div>
          </div>
        </>
      )}
    </section>
  );
}
