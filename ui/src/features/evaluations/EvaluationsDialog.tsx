/** The evaluations of the open graph: one is run, its variants are counted beside each other, and each row says why. */
import { Check, ClipboardCheck, Minus, Play, RotateCcw, Square, X } from "lucide-react";
import { useEffect, useMemo, useState, type KeyboardEvent } from "react";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { EmptyState } from "../../components/EmptyState";
import { Fold } from "../../components/Fold";
import { Select } from "../../components/Select";
import { Spinner } from "../../components/Spinner";
import { Tabs } from "../../components/Tabs";
import { cx } from "../../components/cx";
import { helpClass } from "../../components/recipes";
import { plain } from "../../debugger/parts/format";
import { useNow } from "../../debugger/parts/useNow";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { askEvaluations, useAsked } from "../../debugger/state/asked";
import type { EvaluatedRow } from "../../ipc/bindings/EvaluatedRow";
import type { EvaluatedVariant } from "../../ipc/bindings/EvaluatedVariant";
import type { EvaluationEntry } from "../../ipc/bindings/EvaluationEntry";
import type { EvaluationResult } from "../../ipc/bindings/EvaluationResult";
import { count, duration, money, when } from "../../lib/intl";
import { evaluationsIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useJobs } from "../../state/jobs";
import { useSession } from "../../state/session";
import {
  comparedRows,
  filtered,
  intervalOf,
  isTelling,
  percent,
  type ComparedRow,
  type RowFilter,
} from "./report";
import {
  loadEvaluations,
  runEvaluation,
  runRow,
  showEvaluation,
  stopEvaluation,
  useEvaluations,
} from "./store";

/** Rows that are drawn at first. */
const MAX_DRAWN = 200;
/** Letters of a value beside a row. */
const MAX_VALUE = 120;

export function EvaluationsDialog() {
  const asked = useAsked((store) => store.evaluations);
  return asked ? <Evaluations /> : null;
}

function Evaluations() {
  const graphId = useSession((session) => session.graphId);
  const list = useEvaluations((store) => store.list);
  const problem = useEvaluations((store) => store.problem);
  const shown = useEvaluations((store) => store.shown);
  useEffect(() => void loadEvaluations(graphId), [graphId]);
  const evaluations = list?.evaluations ?? [];
  const entry = evaluations.find(({ name }) => name === shown);
  return (
    <Dialog
      open
      onClose={() => askEvaluations(false)}
      title={t("evaluations.title")}
      size="full"
      data-testid={evaluationsIds.dialog}
    >
      <div className="flex h-[calc(100vh-130px)] min-h-0 flex-col gap-3">
        {problem ? (
          <ProblemNote problem={problem} onRetry={() => void loadEvaluations(graphId)} />
        ) : list === null ? (
          <div className="grid min-h-0 flex-1 place-items-center">
            <Spinner />
          </div>
        ) : entry === undefined ? (
          <EmptyState icon={<ClipboardCheck size={20} aria-hidden />} title={t("evaluations.none")}>
            {t(list.folder === undefined ? "evaluations.noFile" : "evaluations.noneText")}
          </EmptyState>
        ) : (
          <>
            <Bar entry={entry} all={evaluations} />
            <Outcome entry={entry} />
          </>
        )}
      </div>
    </Dialog>
  );
}

/** Which evaluation it is, and what runs it. */
function Bar({ entry, all }: { entry: EvaluationEntry; all: readonly EvaluationEntry[] }) {
  const going = useEvaluations((store) => store.going);
  const work = going?.work ?? null;
  const progress = useJobs((jobs) => (work === null ? undefined : jobs.going.get(work)));
  const isOff = going !== null || entry.error !== undefined;
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Select
        size="small"
        className="max-w-80 min-w-40"
        aria-label={t("evaluations.one")}
        value={entry.name}
        options={all.map(({ name, about }) => ({ value: name, label: name, description: about }))}
        onChange={showEvaluation}
        data-testid={evaluationsIds.choose}
      />
      <Button
        size="small"
        icon={<Play size={13} aria-hidden />}
        disabled={isOff}
        focusableWhenDisabled
        onClick={() => void runEvaluation(entry.name, false)}
        data-testid={evaluationsIds.run}
      >
        {t("evaluations.run")}
      </Button>
      <Button
        size="small"
        variant="ghost"
        icon={<RotateCcw size={13} aria-hidden />}
        disabled={isOff}
        focusableWhenDisabled
        onClick={() => void runEvaluation(entry.name, true)}
        data-testid={evaluationsIds.again}
      >
        {t("evaluations.again")}
      </Button>
      {going !== null && (
        <Button
          size="small"
          icon={<Square size={13} aria-hidden />}
          onClick={stopEvaluation}
          data-testid={evaluationsIds.stop}
        >
          {t("evaluations.stop")}
        </Button>
      )}
      <span
        className="min-w-0 flex-1 truncate text-xs text-text-2"
        role="status"
        data-testid={evaluationsIds.summary}
      >
        {going !== null
          ? t("evaluations.running", {
              name: going.name,
              done: count(progress?.done ?? 0),
              total: count(progress?.total ?? entry.rows * entry.variants.length),
            })
          : entry.error === undefined
            ? [
                tn("evaluations.rowsOne", "evaluations.rows", entry.rows),
                tn("evaluations.variantsOne", "evaluations.variants", entry.variants.length),
                ...(entry.about === "" ? [] : [entry.about]),
              ].join(" · ")
            : ""}
      </span>
    </div>
  );
}

function Outcome({ entry }: { entry: EvaluationEntry }) {
  const outcome = useEvaluations((store) => store.outcomes.get(entry.name));
  if (entry.error !== undefined)
    return (
      <ProblemNote
        problem={{ code: "evaluation-invalid", message: entry.error }}
        onRetry={() => void loadEvaluations(useSession.getState().graphId)}
      />
    );
  return (
    <>
      {outcome?.problem !== undefined && <ProblemNote problem={outcome.problem} />}
      <div className="flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto">
        {outcome?.result !== undefined ? (
          <Result key={entry.name} result={outcome.result} entry={entry} />
        ) : (
          entry.history.length === 0 && (
            <EmptyState icon={<Play size={20} aria-hidden />} title={t("evaluations.notRun")}>
              {t("evaluations.notRunText")}
            </EmptyState>
          )
        )}
        {entry.history.length > 0 && (
          <section className="rounded-md border border-line">
            <Fold
              begin={outcome?.result === undefined}
              head={
                <span className="text-xs font-semibold text-text-2">
                  {t("evaluations.history")}{" "}
                  <span className="font-normal text-text-3">{entry.history.length}</span>
                </span>
              }
              data-testid={evaluationsIds.history}
            >
              {() => <History entry={entry} />}
            </Fold>
          </section>
        )}
      </div>
    </>
  );
}

const HEAD = "h-6 px-2 text-left font-medium text-text-3";
const CELL = "px-2 py-1";

function Result({ result, entry }: { result: EvaluationResult; entry: EvaluationEntry }) {
  const [filter, setFilter] = useState<RowFilter>("missed");
  const rows = useMemo(() => comparedRows(result), [result]);
  const by = (one: RowFilter) => filtered(rows, one);
  // Where every row passes there is nothing to look at but all of them.
  const chosen = filter === "missed" && by("missed").length === 0 ? "all" : filter;
  const badge = (one: RowFilter) => <span className="tabular-nums text-text-3">{by(one).length}</span>;
  return (
    <>
      <Counts variants={result.variants} atLeast={entry.atLeast} />
      <div className="flex flex-col gap-0.5" role="status">
        {result.stopped && <p className={helpClass}>{t("evaluations.stopped")}</p>}
        {result.variants.length > 1 && !result.stopped && result.variants.some(({ tooFew }) => tooFew) && (
          <p className={helpClass}>{t("evaluations.tooFew")}</p>
        )}
        {result.variants.some(({ unscored }) => unscored > 0) && (
          <p className={helpClass}>{t("evaluations.unscored")}</p>
        )}
        {result.variants.some(({ unpriced }) => unpriced) && (
          <p className={helpClass}>{t("whatIf.unpriced")}</p>
        )}
        {result.judging > 0 && (
          <p className={helpClass}>{t("evaluations.judging", { tokens: count(result.judging) })}</p>
        )}
      </div>
      <Tabs
        className="shrink-0"
        look="segmented"
        label={t("evaluations.whichRows")}
        value={chosen}
        onChange={(next) => setFilter(next as RowFilter)}
        tabs={[
          {
            id: "missed",
            label: t("evaluations.missed"),
            badge: badge("missed"),
            disabled: by("missed").length === 0,
          },
          ...(result.variants.length > 1
            ? [
                {
                  id: "turned",
                  label: t("evaluations.turned"),
                  badge: badge("turned"),
                  disabled: by("turned").length === 0,
                },
              ]
            : []),
          { id: "all", label: t("evaluations.all"), badge: badge("all") },
        ]}
      />
      <Rows rows={by(chosen)} result={result} />
    </>
  );
}

/** The variants beside each other. */
function Counts({
  variants,
  atLeast,
}: {
  variants: readonly EvaluatedVariant[];
  atLeast: number | undefined;
}) {
  return (
    <div className="shrink-0 overflow-x-auto">
      <table className="w-full text-xs tabular-nums" data-testid={evaluationsIds.variants}>
        <thead>
          <tr>
            {(["variant", "passed", "rate", "failed", "tokens", "cost", "time", "compared"] as const).map(
              (column) => (
                <th key={column} className={HEAD}>
                  {t(`evaluations.column.${column}`)}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {variants.map((one) => (
            <tr
              key={one.variant}
              className="border-t border-line"
              data-testid={evaluationsIds.variant(one.variant)}
            >
              <th className={cx(CELL, "text-left font-medium")} scope="row">
                {one.variant}
                <span className="ml-1.5 font-mono text-2xs font-normal text-text-3">
                  {one.graph.slice(0, 8)}
                </span>
              </th>
              <td className={CELL}>
                {t("evaluations.of", { passed: count(one.passed), scored: count(one.scored) })}
              </td>
              <td className={CELL}>
                <Rate one={one} atLeast={atLeast} />
              </td>
              <td className={cx(CELL, one.failed > 0 && "text-failed")}>
                {count(one.failed)}
                {one.cut > 0 && (
                  <span className="text-text-3"> · {t("evaluations.cut", { n: count(one.cut) })}</span>
                )}
              </td>
              <td className={CELL}>{count(one.tokens)}</td>
              <td className={CELL}>{costOf(one)}</td>
              <td className={CELL}>{duration(one.medianMillis)}</td>
              <td className={CELL}>
                <Turned one={one} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const costOf = ({ cost, unpriced, tokens }: EvaluatedVariant): string =>
  `${Object.entries(cost)
    .map(([currency, amount]) => money(amount, currency))
    .join(" + ")}${unpriced && tokens > 0 ? "+" : ""}`;

/** The rate with its interval, on a line from 0 to 100 %. */
function Rate({ one, atLeast }: { one: EvaluatedVariant; atLeast: number | undefined }) {
  if (one.rate === undefined) return <span className="text-text-3">–</span>;
  const [rate, low, high] = one.rate;
  const isShort = atLeast !== undefined && rate < atLeast;
  const at = (part: number) => `${part * 100}%`;
  return (
    <span className="flex items-center gap-2" title={t("evaluations.interval")}>
      <span className={cx("w-10 text-right", isShort && isTelling(one) && "text-failed")}>
        {percent(rate)}
      </span>
      <span className="relative h-2 w-32 shrink-0 rounded-sm bg-surface-4 max-[1100px]:w-16" aria-hidden>
        <span
          className="absolute inset-y-0 rounded-sm bg-accent opacity-40"
          style={{ left: at(low), width: at(high - low) }}
        />
        <span className="absolute -inset-y-0.5 w-0.5 bg-accent" style={{ left: `calc(${at(rate)} - 1px)` }} />
        {atLeast !== undefined && (
          <span className="absolute -inset-y-1 w-px bg-text-3" style={{ left: at(atLeast) }} />
        )}
      </span>
      <span className="text-text-3">{intervalOf(one.rate)}</span>
      {isShort && <span className="text-text-3">{t("evaluations.short", { part: percent(atLeast) })}</span>}
    </span>
  );
}

function Turned({ one }: { one: EvaluatedVariant }) {
  if (one.compared === undefined) return <span className="text-text-3">–</span>;
  const telling = isTelling(one);
  return (
    <span className="flex flex-wrap gap-x-2">
      <span className={cx(one.better.length > 0 && telling ? "text-done" : "text-text-2")}>
        {tn("evaluations.betterOne", "evaluations.better", one.better.length)}
      </span>
      <span className={cx(one.worse.length > 0 && telling ? "text-failed" : "text-text-2")}>
        {tn("evaluations.worseOne", "evaluations.worse", one.worse.length)}
      </span>
      <span className="text-text-3">{t("evaluations.than", { name: one.compared })}</span>
    </span>
  );
}

/** The rows, each with what every variant made of it; one opens for the reasons. */
function Rows({ rows, result }: { rows: readonly ComparedRow[]; result: EvaluationResult }) {
  const [most, setMost] = useState(MAX_DRAWN);
  const [open, setOpen] = useState<string | null>(null);
  const variants = result.variants.map(({ variant }) => variant);
  const repeats = rows.some(({ repeat }) => repeat > 1);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    const heads = [...event.currentTarget.querySelectorAll<HTMLButtonElement>("[data-head]")];
    const at = heads.indexOf(document.activeElement as HTMLButtonElement);
    heads[Math.max(0, Math.min(heads.length - 1, at + by))]?.focus();
    event.preventDefault();
  };
  return (
    <div>
      <ul aria-label={t("evaluations.rowList")} onKeyDown={onKeyDown} data-testid={evaluationsIds.rows}>
        {rows.slice(0, most).map((row) => {
          const key = `${row.row}.${row.repeat}`;
          const isOpen = open === key;
          return (
            <li key={key} className="border-t border-line" data-testid={evaluationsIds.row(row.row)}>
              <button
                type="button"
                data-head
                className="flex min-h-8 w-full items-center gap-2 px-2 text-left text-xs hover:bg-surface-3"
                aria-expanded={isOpen}
                onClick={() => setOpen(isOpen ? null : key)}
              >
                <span className="w-12 shrink-0 tabular-nums text-text-3">{repeats ? key : row.row}</span>
                <span className="min-w-0 flex-1 truncate">{row.name}</span>
                {variants.map((variant) => (
                  <Mark key={variant} variant={variant} run={row.runs.get(variant)} />
                ))}
              </button>
              {isOpen && <Reasons row={row} variants={variants} name={result.name} />}
            </li>
          );
        })}
      </ul>
      {rows.length > most && (
        <Button size="small" variant="ghost" onClick={() => setMost(most + MAX_DRAWN)}>
          {t("evaluations.more", { n: count(rows.length - most) })}
        </Button>
      )}
      {result.leftOut > 0 && (
        <p className={helpClass}>{t("evaluations.leftOut", { n: count(result.leftOut) })}</p>
      )}
    </div>
  );
}

const wordOf = (run: EvaluatedRow): string => {
  if (run.status === "limit") return t("evaluations.status.limit");
  if (run.status === "stopped") return t("evaluations.status.stopped");
  if (run.passed === undefined) return t("evaluations.status.unscored");
  return t(run.passed ? "evaluations.status.passed" : "evaluations.status.missed");
};

function Mark({ variant, run }: { variant: string; run: EvaluatedRow | undefined }) {
  const passed = run?.passed;
  const Icon = passed === true ? Check : passed === false ? X : Minus;
  return (
    <span
      className={cx(
        "flex w-36 shrink-0 items-center gap-1 truncate max-[1100px]:w-24",
        passed === true ? "text-done" : passed === false ? "text-failed" : "text-text-3",
      )}
      data-passed={passed ?? "unknown"}
    >
      <Icon size={14} className="shrink-0" aria-hidden />
      <span className="truncate text-text-2">{variant}</span>
      {run && <span className="sr-only">{wordOf(run)}</span>}
    </span>
  );
}

function Reasons({ row, variants, name }: { row: ComparedRow; variants: readonly string[]; name: string }) {
  const open = async () => {
    if (await runRow(name, row.row)) askEvaluations(false);
  };
  return (
    <div className="flex flex-col gap-3 px-2 pt-1 pb-3 pl-16">
      {variants.map((variant) => {
        const run = row.runs.get(variant);
        return (
          run && (
            <div key={variant} className="flex flex-col gap-1" data-testid={evaluationsIds.reasons(variant)}>
              <div className="text-xs font-medium">
                {variant} <span className="font-normal text-text-3">· {wordOf(run)}</span>{" "}
                <span className="font-normal tabular-nums text-text-3">
                  · {duration(run.millis)}
                  {run.reused && ` · ${t("evaluations.reused")}`}
                </span>
              </div>
              {run.error !== undefined && (
                <p className="select-text text-xs text-failed wrap-anywhere">{run.error}</p>
              )}
              <ul className="flex flex-col gap-0.5 text-xs">
                {Object.entries(run.scores).map(([score, { value, passed, note }]) => (
                  <li key={score} className="flex gap-2">
                    <span className="w-36 shrink-0 truncate text-text-2">{score}</span>
                    <span
                      className={cx(
                        "select-text min-w-0 wrap-anywhere",
                        passed === false ? "text-failed" : "text-text",
                      )}
                    >
                      {[
                        ...(typeof value === "boolean" || value === undefined
                          ? []
                          : [plain(value, MAX_VALUE)]),
                        ...(typeof value === "boolean" && note === undefined
                          ? [t(value ? "evaluations.status.passed" : "evaluations.status.missed")]
                          : []),
                        ...(note === undefined ? [] : [note]),
                      ].join(" · ")}
                    </span>
                  </li>
                ))}
              </ul>
              {Object.keys(run.values).length > 0 && (
                <p className={cx(helpClass, "select-text")}>
                  {Object.entries(run.values)
                    .map(([key, value]) => `${key}: ${plain(value, MAX_VALUE)}`)
                    .join(" · ")}
                </p>
              )}
            </div>
          )
        );
      })}
      <div>
        <Button size="small" onClick={() => void open()} data-testid={evaluationsIds.openRow}>
          {t("evaluations.openRow")}
        </Button>
      </div>
    </div>
  );
}

/** How it came out before: the newest first. */
function History({ entry }: { entry: EvaluationEntry }) {
  const now = useNow(60_000);
  return (
    <table className="w-full text-xs tabular-nums" data-testid={evaluationsIds.past}>
      <tbody>
        {entry.history.flatMap(({ at, variants }) =>
          variants.map((one) => (
            <tr key={`${at} ${one.variant}`} className="border-t border-line">
              <td className={cx(CELL, "text-text-2")}>{when(at, now)}</td>
              <td className={CELL}>{one.variant}</td>
              <td className={cx(CELL, "font-mono text-2xs text-text-3")}>{one.graph.slice(0, 8)}</td>
              <td className={CELL}>
                {t("evaluations.of", { passed: count(one.passed), scored: count(one.scored) })}
              </td>
              <td className={CELL}>
                <Rate one={one} atLeast={entry.atLeast} />
              </td>
              <td className={CELL}>{costOf(one)}</td>
            </tr>
          )),
        )}
      </tbody>
    </table>
  );
}
