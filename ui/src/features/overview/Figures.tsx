/** The figures of a period. Each is a button that lists the runs it counts. */
import { TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../../components/Button";
import { cx } from "../../components/cx";
import { hintClass } from "../../components/recipes";
import type { NodeFailures } from "../../ipc/bindings/NodeFailures";
import type { NodeTimes } from "../../ipc/bindings/NodeTimes";
import type { RunGroup } from "../../ipc/bindings/RunGroup";
import type { RunSlice } from "../../ipc/bindings/RunSlice";
import type { RunsOverview } from "../../ipc/bindings/RunsOverview";
import { count, duration, fullTime, listed } from "../../lib/intl";
import { overviewIds, safetyIds } from "../../lib/testIds";
import { t, tn, type TextKey } from "../../lib/texts";
import { askPrice } from "../../state/prices";
import { barsOf, costText, OUTCOMES, sameGroup } from "./figures";

interface Chosen {
  chosen: RunGroup;
  onChoose(group: RunGroup): void;
}

const HELP: Readonly<Record<string, TextKey>> = {
  waiting: "overview.waitingHelp",
  continued: "overview.continuedHelp",
  stopped: "overview.stoppedHelp",
};

export function Figures({ figures, ...chosen }: { figures: RunsOverview } & Chosen) {
  const { counts, took } = figures;
  return (
    <div className="flex min-h-0 flex-col gap-3 overflow-y-auto pr-1 pb-1">
      <div
        className="grid shrink-0 grid-cols-[repeat(auto-fill,minmax(78px,1fr))] gap-2"
        role="group"
        aria-label={t("overview.runs")}
      >
        <Figure name="begun" value={count(counts.begun)} group={{ type: "all" }} {...chosen} />
        {OUTCOMES.map((outcome) => (
          <Figure
            key={outcome}
            name={outcome}
            value={count(counts[outcome])}
            group={{ type: "outcome", outcome }}
            help={HELP[outcome]}
            tone={outcome === "failed" && counts.failed > 0 ? "text-failed" : undefined}
            {...chosen}
          />
        ))}
      </div>
      <Slices slices={figures.slices} />
      <div className="grid shrink-0 grid-cols-[repeat(auto-fill,minmax(124px,1fr))] gap-2">
        {(["median", "p95"] as const).map((name) => (
          <Figure
            key={name}
            name={name}
            value={took ? duration(took[name]) : t("overview.nothing")}
            group={{ type: "longest" }}
            help="overview.tookHelp"
            {...chosen}
          />
        ))}
        <Figure name="input" value={count(figures.input)} group={{ type: "tokens" }} {...chosen} />
        <Figure name="output" value={count(figures.output)} group={{ type: "tokens" }} {...chosen} />
        <Figure
          name="cost"
          value={costText(figures.cost, figures.unpriced)}
          group={{ type: "dearest" }}
          {...chosen}
        />
      </div>
      {figures.unpriced > 0 && (
        <Note
          id={overviewIds.unpriced}
          group={{ type: "unpriced" }}
          action={
            <Button
              size="small"
              variant="ghost"
              onClick={() => askPrice(figures.unpricedModels)}
              data-testid={safetyIds.priceAsk}
            >
              {t("prices.ask")}
            </Button>
          }
          {...chosen}
        >
          {tn("overview.unpricedOne", "overview.unpriced", figures.unpriced, {
            models: listed(figures.unpricedModels),
          })}
        </Note>
      )}
      {figures.unrecorded > 0 && (
        <Note id={overviewIds.unrecorded} group={{ type: "unrecorded" }} {...chosen}>
          {tn("overview.unrecordedOne", "overview.unrecorded", figures.unrecorded)}
        </Note>
      )}
      <Table
        title={t("overview.failures")}
        columns={["node", "error", "graph", "tasks", "runs"]}
        none={t("overview.noFailures")}
        rows={figures.failures}
        id={overviewIds.failures}
        group={(row: NodeFailures) => ({
          type: "failure",
          graph: row.graph,
          node: row.node,
          class: row.class,
        })}
        cells={(row) => [row.node, row.class, graphText(row), count(row.tasks), count(row.runs)]}
        {...chosen}
      />
      <Table
        title={t("overview.nodes")}
        columns={["node", "graph", "tasks", "median", "p95"]}
        none={t("overview.noNodes")}
        rows={figures.nodes}
        id={overviewIds.nodes}
        group={(row: NodeTimes) => ({ type: "node", graph: row.graph, node: row.node })}
        cells={(row) => [
          row.node,
          graphText(row),
          count(row.tasks),
          duration(row.took.median),
          duration(row.took.p95),
        ]}
        {...chosen}
      />
      <p className={cx(hintClass, "shrink-0")}>{t("overview.scope")}</p>
    </div>
  );
}

const graphText = ({ graph, graphName }: { graph: string; graphName: string }): string =>
  graphName || graph || t("overview.graph.unknown");

interface FigureProps extends Chosen {
  name: "begun" | (typeof OUTCOMES)[number] | "median" | "p95" | "input" | "output" | "cost";
  value: string;
  group: RunGroup;
  help?: TextKey | undefined;
  tone?: string | undefined;
}

function Figure({ name, value, group, help, tone, chosen, onChoose }: FigureProps) {
  return (
    <button
      type="button"
      className="flex min-w-0 flex-col rounded-md border border-transparent bg-surface-0 px-2.5 py-1.5 text-left hover:bg-surface-3 aria-pressed:border-accent aria-pressed:bg-accent-soft"
      aria-pressed={sameGroup(chosen, group)}
      title={help && t(help)}
      onClick={() => onChoose(group)}
      data-testid={overviewIds.figure(name)}
    >
      <span className="truncate text-2xs text-text-2">{t(`overview.${name}`)}</span>
      <span className={cx("truncate text-base font-semibold tabular-nums", tone)}>{value}</span>
    </button>
  );
}

interface NoteProps extends Chosen {
  id: string;
  group: RunGroup;
  action?: ReactNode;
  children: ReactNode;
}

function Note({ id, group, action, children, onChoose }: NoteProps) {
  return (
    <p
      className="flex shrink-0 items-start gap-1.5 text-xs/4.5 text-asking [&>svg]:mt-0.5 [&>svg]:shrink-0"
      data-testid={id}
    >
      <TriangleAlert size={13} aria-hidden />
      <span className="min-w-0 flex-1 wrap-anywhere">{children}</span>
      {action}
      <Button size="small" variant="ghost" onClick={() => onChoose(group)}>
        {t("overview.show")}
      </Button>
    </p>
  );
}

/** When runs began; the failed ones are the lower part of each bar. */
function Slices({ slices }: { slices: readonly RunSlice[] }) {
  return (
    <figure className="shrink-0" data-testid={overviewIds.slices}>
      <svg
        viewBox="0 0 100 30"
        preserveAspectRatio="none"
        role="img"
        aria-label={t("overview.when")}
        className="block h-16 w-full rounded-md bg-surface-0"
      >
        {barsOf(slices).map(({ x, width, height, failed, slice }) => (
          <g key={slice.from}>
            <title>
              {t("overview.slice", {
                from: fullTime(new Date(slice.from).toISOString()),
                begun: count(slice.begun),
                failed: count(slice.failed),
              })}
            </title>
            <rect x={x} width={width} y={0} height={30} className="fill-transparent" />
            <rect
              x={x + width * 0.1}
              width={width * 0.8}
              y={30 - height}
              height={height - failed}
              className="fill-accent"
            />
            <rect
              x={x + width * 0.1}
              width={width * 0.8}
              y={30 - failed}
              height={failed}
              className="fill-failed"
            />
          </g>
        ))}
      </svg>
      <figcaption className="flex justify-between pt-1 text-2xs text-text-3">
        <span>{t("overview.when")}</span>
        <span aria-hidden className="flex items-center gap-1">
          <i className="size-2 rounded-[2px] bg-failed" /> {t("overview.failed")}
        </span>
      </figcaption>
    </figure>
  );
}

type Column = "node" | "error" | "graph" | "tasks" | "runs" | "median" | "p95";
const isNumber = (column: Column): boolean => !["node", "error", "graph"].includes(column);
const columnText = (column: Column): string =>
  t(column === "median" || column === "p95" ? `overview.${column}` : `overview.column.${column}`);

interface TableProps<Row> extends Chosen {
  title: string;
  columns: readonly Column[];
  none: string;
  rows: readonly Row[];
  id: string;
  group(row: Row): RunGroup;
  cells(row: Row): readonly string[];
}

function Table<Row>({ title, columns, none, rows, id, group, cells, chosen, onChoose }: TableProps<Row>) {
  return (
    <section className="shrink-0" aria-label={title} data-testid={id}>
      <h3 className="pb-1 text-xs font-semibold text-text-2">{title}</h3>
      {rows.length === 0 ? (
        <p className={hintClass}>{none}</p>
      ) : (
        <div className="max-h-52 overflow-y-auto rounded-md border border-line">
          <table className="w-full table-fixed text-xs tabular-nums">
            <thead className="sticky top-0 bg-surface-1 text-2xs text-text-3">
              <tr className="h-6">
                {columns.map((column) => (
                  <th
                    key={column}
                    className={cx(
                      "truncate px-2 font-medium",
                      isNumber(column)
                        ? column === "p95"
                          ? "w-28 text-right"
                          : "w-16 text-right"
                        : "text-left",
                    )}
                    title={columnText(column)}
                  >
                    {columnText(column)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => {
                const of = group(row);
                return (
                  <tr
                    key={JSON.stringify(of)}
                    className="h-7 cursor-default hover:bg-surface-3 data-chosen:bg-accent-soft"
                    data-chosen={sameGroup(chosen, of) || undefined}
                    onClick={() => onChoose(of)}
                  >
                    {cells(row).map((cell, at) => {
                      const column = columns[at] ?? "node";
                      return (
                        <td
                          key={column}
                          className={cx("truncate px-2", isNumber(column) && "text-right")}
                          title={cell}
                        >
                          {at === 0 ? (
                            <button
                              type="button"
                              className="max-w-full truncate font-medium"
                              aria-pressed={sameGroup(chosen, of)}
                            >
                              {cell}
                            </button>
                          ) : (
                            cell
                          )}
                        </td>
                      );
                    })}
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
