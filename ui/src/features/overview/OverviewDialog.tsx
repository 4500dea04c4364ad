/** The overview of runs: figures over a period at the left, and at the right the runs that the chosen figure counts. */
import { ChartColumn, RotateCw } from "lucide-react";
import { useEffect } from "react";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { EmptyState } from "../../components/EmptyState";
import { hintClass } from "../../components/recipes";
import { Select } from "../../components/Select";
import { Spinner } from "../../components/Spinner";
import { Tabs } from "../../components/Tabs";
import { useAnswer } from "../../debugger/model/useAnswer";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import type { RunGroup } from "../../ipc/bindings/RunGroup";
import { rpc } from "../../ipc/client";
import { when } from "../../lib/intl";
import { overviewIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { registerCommands } from "../../state/commands";
import { usePriceChanges } from "../../state/prices";
import { Figures } from "./Figures";
import { type Period, PERIODS, periodOf } from "./figures";
import { RunLines } from "./RunLines";
import { refreshOverview, showOverview, useOverview } from "./state";

export function OverviewDialog() {
  const open = useOverview((overview) => overview.open);
  useEffect(
    () =>
      registerCommands([
        { id: "overview.open", title: t("overview.open"), group: t("shell.group.debug"), run: showOverview },
      ]),
    [],
  );
  return open ? <Overview /> : null;
}

function Overview() {
  const { period, graph, now, group } = useOverview();
  const request = periodOf(period, graph, now);
  const prices = usePriceChanges();
  const read = useAnswer(`${prices} ${JSON.stringify(request)}`, (signal) =>
    rpc("runs.overview", request, signal),
  );
  const choose = (next: RunGroup) => useOverview.setState({ group: next });
  const graphs = read.value?.graphs ?? [];
  const options = [
    { value: "", label: t("overview.graph.all") },
    ...graphs
      .filter(({ key }) => key !== "")
      .map(({ key, name, runs }) => ({ value: key, label: `${name || key} (${runs})`, description: key })),
  ];
  // The graph that was chosen may have no runs in the period.
  if (graph !== null && !graphs.some(({ key }) => key === graph))
    options.push({ value: graph, label: graph, description: graph });
  return (
    <Dialog
      open
      onClose={() => useOverview.setState({ open: false })}
      title={t("overview.title")}
      size="full"
      data-testid={overviewIds.dialog}
    >
      <div className="flex min-h-0 flex-1 flex-col gap-3">
        <div className="flex shrink-0 flex-wrap items-center gap-2">
          <div data-testid={overviewIds.period}>
            <Tabs
              look="segmented"
              label={t("overview.period")}
              value={period}
              onChange={(next) =>
                useOverview.setState({ period: next as Period, now: Date.now(), group: { type: "all" } })
              }
              tabs={PERIODS.map((id) => ({ id, label: t(`overview.period.${id}`) }))}
            />
          </div>
          <div className="w-56">
            <Select
              size="small"
              value={graph ?? ""}
              options={options}
              onChange={(next) =>
                useOverview.setState({ graph: next === "" ? null : next, group: { type: "all" } })
              }
              aria-label={t("overview.graph")}
              data-testid={overviewIds.graph}
            />
          </div>
          <span className="flex-1" />
          <span className={hintClass}>
            {t("overview.asOf", { time: when(new Date(now).toISOString(), now) })}
          </span>
          <Button
            size="small"
            icon={<RotateCw size={13} aria-hidden />}
            onClick={refreshOverview}
            busy={read.loading}
            data-testid={overviewIds.refresh}
          >
            {t("overview.refresh")}
          </Button>
        </div>
        {read.problem ? (
          <ProblemNote problem={read.problem} onRetry={refreshOverview} />
        ) : !read.value ? (
          <div className="grid min-h-0 flex-1 place-items-center">
            <Spinner label={t("overview.reading")} />
          </div>
        ) : read.value.counts.begun === 0 ? (
          <EmptyState icon={<ChartColumn size={20} aria-hidden />} title={t("overview.none")}>
            {period === "all" && graph === null ? t("overview.noneText") : t("overview.noneInPeriod")}
          </EmptyState>
        ) : (
          <div className="grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)_minmax(0,1.15fr)] gap-4">
            <Figures figures={read.value} chosen={group} onChoose={choose} />
            <RunLines key={JSON.stringify([prices, request, group])} period={request} group={group} />
          </div>
        )}
      </div>
    </Dialog>
  );
}
