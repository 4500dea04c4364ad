/**
 * Where the time, the tokens and the money of a thread went: a waterfall of its runs, and sums by node and model. Selecting
 * a row moves the cursor to the moment of its task.
 */
import { ChartGantt } from "lucide-react";
import { useCallback, useEffect, useMemo, useState } from "react";
import { Button } from "../../components/Button";
import { cx } from "../../components/cx";
import { EmptyState } from "../../components/EmptyState";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { isRunning } from "../../debugger/model/live";
import { ensureStarted } from "../../debugger/model/connect";
import { useOnlyRead } from "../../debugger/model/only-read";
import { useCheckpoints, useLive } from "../../debugger/model/runStore";
import { useNow } from "../../debugger/parts/useNow";
import { CopyAnswer } from "../../debugger/parts/CopyAnswer";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { axisOf } from "../../debugger/trace/axis";
import { filtered, type TraceFilter } from "../../debugger/trace/filter";
import {
  type Column,
  marksOf,
  pathTo,
  rowsOf,
  type Span,
  type TraceNode,
  traceTree,
  workedOf,
} from "../../debugger/trace/tree";
import { criticalPath } from "../../debugger/trace/critical";
import { byTaskOf, outermost, sumByModel, sumByNode } from "../../debugger/trace/sums";
import { useSpans, useTrace } from "../../debugger/trace/useTrace";
import { listed } from "../../lib/intl";
import { safetyIds, traceIds } from "../../lib/testIds";
import { t, type TextKey } from "../../lib/texts";
import { askPrice } from "../../state/prices";
import { useSession } from "../../state/session";
import { Head, summaryText } from "./Head";
import { moneyOf } from "../../debugger/exchanges/exchange-text";
import { timeOf } from "./format";
import { sumsText, traceText } from "./report";
import { COLUMNS, WIDE } from "./Row";
import { Rows } from "./Rows";
import { Sums } from "./Sums";
import { Tools } from "./Tools";

type View = "nodes" | "steps" | "node" | "model";
const VIEWS: readonly { value: View; text: TextKey }[] = [
  { value: "nodes", text: "trace.shape.nodes" },
  { value: "steps", text: "trace.shape.steps" },
  { value: "node", text: "trace.shape.node" },
  { value: "model", text: "trace.shape.model" },
];
const FILTERS: readonly { value: TraceFilter["what"]; text: TextKey }[] = [
  { value: "all", text: "trace.filter.all" },
  { value: "failed", text: "trace.filter.failed" },
  { value: "unsettled", text: "trace.filter.unsettled" },
  { value: "models", text: "trace.filter.models" },
  { value: "slow", text: "trace.filter.slow" },
];
const HEADS: readonly { column: Column; text: TextKey; look: string }[] = [
  { column: "name", text: "trace.column.name", look: "text-left" },
  { column: "start", text: "trace.column.start", look: "text-left" },
  { column: "millis", text: "trace.column.millis", look: "text-right" },
  { column: "input", text: "trace.column.input", look: cx(WIDE, "text-right") },
  { column: "output", text: "trace.column.output", look: cx(WIDE, "text-right") },
  { column: "cost", text: "trace.column.cost", look: cx(WIDE, "text-right") },
];

export function TracePanel() {
  useEffect(ensureStarted, []);
  const threadId = useSession((session) => session.cursor.threadId);
  if (threadId === null) {
    return (
      <EmptyState compact icon={<ChartGantt size={20} aria-hidden />} title={t("trace.none")}>
        {t("trace.noneText")}
      </EmptyState>
    );
  }
  return <ThreadTrace key={threadId} threadId={threadId} />;
}

function ThreadTrace({ threadId }: { threadId: string }) {
  const onlyRead = useOnlyRead((store) => store.onlyRead);
  const trace = useTrace(threadId);
  const live = useLive(threadId);
  const running = isRunning(live);
  const now = useNow(running ? 500 : null);
  const head = useCheckpoints(threadId)?.list[0]?.id;
  const spans = useSpans(trace, live, head, now);
  const [filter, setFilter] = useState<TraceFilter>({ what: "all", words: "" });
  const [view, setView] = useState<View>("nodes");
  const [sort, setSort] = useState<Column>("start");
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [chosen, setChosen] = useState<string | null>(null);

  const shown = useMemo(() => filtered(spans, filter), [spans, filter]);
  const group = view !== "steps";
  // The time counts only while something runs: otherwise the tree stays as it is.
  const tick = running ? now : 0;
  const [isMarked, setMarked] = useState(false);
  const path = useMemo(() => criticalPath(spans), [spans]);
  const tree = useMemo(
    () => traceTree(trace.runs, shown, { group, sort, ...(isMarked && { critical: path.spans }) }, tick),
    [trace.runs, shown, group, sort, isMarked, path, tick],
  );
  const marks = useMemo(() => marksOf(spans), [spans]);
  const runs = useMemo(
    () => new Map(tree.filter((node) => node.kind === "run").map((node, at) => [node.id, at + 1])),
    [tree],
  );
  const lastRun = tree.findLast((node) => node.kind === "run")?.id;
  const axis = useMemo(() => axisOf(tree.filter((node) => node.kind === "run")), [tree]);
  const open = useCallback(
    (node: TraceNode) => toggled.get(node.id) ?? (node.kind === "run" && node.id === lastRun),
    [toggled, lastRun],
  );
  const rows = useMemo(() => rowsOf(tree, open), [tree, open]);

  const toggle = useCallback(
    (node: TraceNode) => setToggled((known) => new Map(known).set(node.id, !open(node))),
    [open],
  );
  const go = useCallback(
    (span: Span) => {
      const root = outermost(byTaskOf(spans), span);
      const session = useSession.getState();
      session.select({ nodes: [root.node] });
      if (root.checkpointId !== "")
        session.setCursor({
          checkpointId: root.checkpointId === head ? null : root.checkpointId,
          taskId: root.taskId,
        });
    },
    [spans, head],
  );
  const select = useCallback(
    (node: TraceNode) => {
      setChosen(node.id);
      if (node.span && node.kind !== "run") go(node.span);
    },
    [go],
  );
  const reveal = (span: Span) => {
    setView(view === "steps" ? "steps" : "nodes");
    setFilter({ what: "all", words: "" });
    const id = `${span.runId}/${span.taskId}`;
    const whole = traceTree(trace.runs, spans, { group, sort }, tick);
    const path = pathTo(whole, id);
    setToggled((known) => new Map([...known, ...path.slice(0, -1).map((one) => [one, true] as const)]));
    setChosen(id);
    go(span);
  };
  if (trace.problem) return <ProblemNote problem={trace.problem} onRetry={trace.again} />;
  if (!trace.loading && spans.length === 0) {
    return (
      <EmptyState compact icon={<ChartGantt size={20} aria-hidden />} title={t("trace.empty")}>
        {t(onlyRead ? "trace.onlyReadText" : "trace.emptyText")}
      </EmptyState>
    );
  }
  const unpriced = sumByModel(shown)
    .filter((sum) => sum.unpriced > 0)
    .map(({ name }) => name);
  const sums = view === "node" ? sumByNode(shown) : view === "model" ? sumByModel(shown) : null;
  const asText = () => {
    const all = {
      threadId,
      summary: summaryText({ spans: shown, millis: axis.millis, leftOut: trace.leftOut }),
    };
    return sums ? sumsText(all, sums) : traceText(all, rows, runs);
  };
  return (
    <section
      className="@container flex h-full min-h-0 flex-col"
      aria-label={t("shell.tab.trace")}
      data-testid={traceIds.panel}
    >
      <div className="flex shrink-0 flex-wrap items-center gap-1.5 px-2 py-1">
        <Head spans={shown} millis={axis.millis} leftOut={trace.leftOut} />
        {unpriced.length > 0 && (
          <Button
            size="small"
            variant="ghost"
            title={t("prices.missing", { models: listed(unpriced) })}
            onClick={() => askPrice(unpriced)}
            data-testid={safetyIds.priceAsk}
          >
            {t("prices.ask")}
          </Button>
        )}
        {marks.longest && (
          <Button
            size="small"
            variant="ghost"
            onClick={() => marks.longest && reveal(marks.longest)}
            data-testid={traceIds.longest}
          >
            {t("trace.goLongest", {
              node: marks.longest.node,
              time: timeOf(workedOf(marks.longest)),
            })}
          </Button>
        )}
        {marks.dearest && (
          <Button
            size="small"
            variant="ghost"
            onClick={() => marks.dearest && reveal(marks.dearest)}
            data-testid={traceIds.dearest}
          >
            {t("trace.goDearest", {
              node: marks.dearest.node,
              cost: moneyOf(sumByModel([marks.dearest])[0]?.cost ?? new Map()),
            })}
          </Button>
        )}
        <span className="flex-1" />
        <Tools path={path} marked={isMarked} onMark={setMarked} />
        <div className="w-32">
          <Select
            size="small"
            aria-label={t("trace.shape")}
            data-testid={traceIds.shape}
            value={view}
            options={VIEWS.map(({ value, text }) => ({ value, label: t(text) }))}
            onChange={setView}
          />
        </div>
        <div className={filter.what === "unsettled" ? "w-36" : "w-24"}>
          <Select
            size="small"
            aria-label={t("trace.filter")}
            data-testid={traceIds.filter}
            value={filter.what}
            options={FILTERS.map(({ value, text }) => ({ value, label: t(text) }))}
            onChange={(what) => setFilter({ ...filter, what })}
          />
        </div>
        <div className="w-40">
          <TextField
            aria-label={t("trace.words")}
            placeholder={t("trace.words")}
            data-testid={traceIds.words}
            value={filter.words}
            onChange={(words) => setFilter({ ...filter, words })}
          />
        </div>
        <CopyAnswer text={asText} />
      </div>
      {shown.length === 0 && !trace.loading ? (
        <EmptyState
          compact
          title={t("trace.noMatch")}
          action={<Button onClick={() => setFilter({ what: "all", words: "" })}>{t("trace.clear")}</Button>}
        />
      ) : sums ? (
        <Sums
          sums={sums}
          onSelect={(words) => {
            setFilter({ ...filter, words });
            setView("nodes");
          }}
        />
      ) : (
        <>
          <div className={cx(COLUMNS, "h-6 shrink-0 border-b border-line text-2xs text-text-3")}>
            {HEADS.map(({ column, text, look }) => (
              <button
                key={column}
                type="button"
                aria-pressed={sort === column}
                className={cx(
                  look,
                  "truncate aria-pressed:font-semibold aria-pressed:text-text hover:text-text",
                )}
                onClick={() => setSort(column)}
              >
                {t(text)}
              </button>
            ))}
          </div>
          <Rows
            rows={rows}
            chosen={chosen}
            axis={axis}
            runs={runs}
            marks={marks}
            path={isMarked ? path.spans : null}
            onToggle={toggle}
            onSelect={select}
          />
        </>
      )}
    </section>
  );
}
