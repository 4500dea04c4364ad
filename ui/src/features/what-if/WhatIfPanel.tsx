/** The answers of what-if grids: every run of every row, beside what followed the moment. A row leads to its branch. */
import { FlaskConical, Pencil, Plus, Square, Trash2 } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { IconButton } from "../../components/IconButton";
import { Select } from "../../components/Select";
import { Spinner } from "../../components/Spinner";
import { useNow } from "../../debugger/parts/useNow";
import { CopyAnswer } from "../../debugger/parts/CopyAnswer";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { useOnlyRead } from "../../debugger/model/only-read";
import { chooseGrid, loadGrids, seeGrid, useGrids, useThreadGrids } from "../../debugger/model/what-ifs";
import type { WhatIfView } from "../../ipc/bindings/WhatIfView";
import { rpc } from "../../ipc/client";
import { when } from "../../lib/intl";
import { whatIfIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { showProblem, showToast } from "../../state/toasts";
import { askWhatIf } from "../../state/what-if";
import { gridText } from "./report";
import { ResultTable } from "./ResultTable";

export function WhatIfPanel() {
  const threadId = useSession((session) => session.cursor.threadId);
  if (threadId === null)
    return (
      <EmptyState compact icon={<FlaskConical size={20} aria-hidden />} title={t("whatIf.noThread")}>
        {t("whatIf.noThreadText")}
      </EmptyState>
    );
  return <ThreadGrids key={threadId} threadId={threadId} />;
}

function ThreadGrids({ threadId }: { threadId: string }) {
  const { grids, state, problem } = useThreadGrids(threadId);
  const chosen = useGrids((store) => store.chosen.get(threadId));
  const grid = grids.find(({ id }) => id === chosen) ?? grids[0];
  const shown = grid !== undefined && !grid.running ? grid.id : null;
  const unseen = useGrids((store) => shown !== null && store.unseen.has(shown));
  useEffect(() => {
    if (unseen && shown !== null) seeGrid(shown);
  }, [unseen, shown]);
  const onlyRead = useOnlyRead((store) => store.onlyRead);
  const ask = () => askWhatIf({ threadId, checkpointId: useSession.getState().cursor.checkpointId });
  if (problem && !grid) return <ProblemNote problem={problem} onRetry={() => void loadGrids(threadId)} />;
  if (!grid && state === "loading")
    return (
      <div className="grid h-full place-items-center">
        <Spinner label={t("whatIf.tab")} />
      </div>
    );
  if (!grid)
    return (
      <EmptyState
        compact
        icon={<FlaskConical size={20} aria-hidden />}
        title={t("whatIf.none")}
        action={
          <Button onClick={ask} disabled={onlyRead} data-testid={whatIfIds.open}>
            {t("whatIf.open")}
          </Button>
        }
      >
        {t(onlyRead ? "debug.off.onlyRead" : "whatIf.noneText")}
      </EmptyState>
    );
  return (
    <section
      className="@container flex h-full min-h-0 flex-col"
      aria-label={t("whatIf.tab")}
      data-testid={whatIfIds.panel}
    >
      <Bar grids={grids} grid={grid} onNew={ask} />
      <ResultTable key={grid.id} grid={grid} />
    </section>
  );
}

interface BarProps {
  grids: readonly WhatIfView[];
  grid: WhatIfView;
  onNew(): void;
}

function Bar({ grids, grid, onNew }: BarProps) {
  const now = useNow(60_000);
  const [stopping, setStopping] = useState(false);
  const { threadId, id, running, results, base } = grid;
  const ended = useMemo(
    () => results.filter(({ status }) => status !== "queued" && status !== "running").length,
    [results],
  );
  const again = () => askWhatIf({ threadId, checkpointId: grid.checkpointId, grid: grid.grid });
  const stop = () => {
    setStopping(true);
    rpc("whatIf.stop", { threadId, id })
      .catch(showProblem)
      .finally(() => setStopping(false));
  };
  const remove = () => {
    rpc("whatIf.remove", { threadId, id }).then(
      () => showToast({ tone: "info", text: t("whatIf.removed") }),
      showProblem,
    );
  };
  return (
    <div className="flex h-8 shrink-0 items-center gap-2 px-2">
      <Select
        size="small"
        className="max-w-80 min-w-40"
        aria-label={t("whatIf.grid")}
        value={id}
        options={grids.map((one) => ({
          value: one.id,
          label: t("whatIf.gridLabel", {
            step: one.step,
            time: when(one.madeAt, now),
            rows: tn("whatIf.rowsOne", "whatIf.rowsMany", one.grid.rows.length),
          }),
        }))}
        onChange={(next) => chooseGrid(threadId, next)}
      />
      <span
        className="shrink-0 text-xs tabular-nums text-text-2"
        role="status"
        data-testid={whatIfIds.progress}
      >
        {running
          ? t("whatIf.progress", { done: ended, total: results.length })
          : t("whatIf.ended", { n: ended })}
      </span>
      <span className="hidden min-w-0 flex-1 truncate text-xs text-text-3 @2xl:block">
        {t(base.followed ? "whatIf.baseFollowed" : "whatIf.baseMoment")}
      </span>
      <span className="flex-1 @2xl:hidden" />
      <CopyAnswer text={() => gridText(grid, results)} />
      {running ? (
        <Button
          size="small"
          icon={<Square size={12} aria-hidden />}
          disabled={stopping}
          onClick={stop}
          data-testid={whatIfIds.stop}
        >
          {t("whatIf.stop")}
        </Button>
      ) : (
        <>
          <Button size="small" variant="ghost" icon={<Pencil size={13} aria-hidden />} onClick={again}>
            {t("whatIf.again")}
          </Button>
          <IconButton size="small" label={t("whatIf.remove")} onClick={remove}>
            <Trash2 size={13} aria-hidden />
          </IconButton>
        </>
      )}
      <Button
        size="small"
        variant="ghost"
        icon={<Plus size={13} aria-hidden />}
        onClick={onNew}
        data-testid={whatIfIds.open}
      >
        {t("whatIf.new")}
      </Button>
    </div>
  );
}
