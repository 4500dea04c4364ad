/**
 * Two moments side by side, of one thread or of two. The left one was chosen in the timeline, in a menu or here, the right
 * one is the cursor; so moving along the timeline, or from thread to thread, compares as one goes. Differences come from the
 * workbench, as deep as they go; text differs by word.
 */
import { ArrowRightLeft, GitMerge, X } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { EmptyState } from "../../components/EmptyState";
import { Fold } from "../../components/Fold";
import { IconButton } from "../../components/IconButton";
import { Select } from "../../components/Select";
import { Tabs } from "../../components/Tabs";
import { CopyAnswer } from "../../debugger/parts/CopyAnswer";
import { Differences } from "../../debugger/parts/Differences";
import { nodeList } from "../../debugger/parts/format";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { loadCheckpoints } from "../../debugger/model/checkpoints";
import { useCheckpoints, useRuns } from "../../debugger/model/runStore";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import type { Comparison } from "../../ipc/bindings/Comparison";
import type { Difference } from "../../ipc/bindings/Difference";
import { rpc } from "../../ipc/client";
import { listed } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { type ComparedMoment, swapCompared, useSession } from "../../state/session";
import { differenceEntries } from "./difference-entries";
import { IgnoredLine } from "./IgnoredLine";
import { isIgnored, setIgnored, useIgnoredOf } from "./ignored";
import { PathDiff } from "./PathDiff";
import { comparisonText } from "./report";
import { RunsByNode } from "./RunsByNode";

/** A list to choose from; what is further back is chosen in the timeline. */
const MAX_OPTIONS = 300;
const NONE: readonly CheckpointView[] = [];

export function ComparePanel() {
  const { threadId, checkpointId } = useSession((session) => session.cursor);
  const left = useSession((session) => session.compareWith);
  if (threadId === null || left === null) {
    return (
      <EmptyState compact icon={<ArrowRightLeft size={20} aria-hidden />} title={t("debug.compare.none")}>
        {t("debug.compare.noneText")}
      </EmptyState>
    );
  }
  return <Compare left={left} right={{ threadId, checkpointId }} />;
}

interface Sides {
  left: ComparedMoment;
  right: ComparedMoment;
}

const refOf = ({ threadId, checkpointId }: ComparedMoment) => ({
  threadId,
  ...(checkpointId !== null && { checkpointId }),
});

/** What differs; asked again when a side that is "now" moves with its thread. */
function useComparison({ left, right }: Sides) {
  const [answer, setAnswer] = useState<Comparison | null>(null);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const [attempt, setAttempt] = useState(0);
  const leftHead = useCheckpoints(left.threadId)?.list[0]?.id;
  const rightHead = useCheckpoints(right.threadId)?.list[0]?.id;
  const moments = JSON.stringify([
    left.threadId,
    left.checkpointId,
    left.checkpointId ?? leftHead,
    right.threadId,
    right.checkpointId,
    right.checkpointId ?? rightHead,
  ]);
  useEffect(() => {
    const abort = new AbortController();
    rpc("thread.compare", { left: refOf(left), right: refOf(right) }, abort.signal).then(
      (comparison) => {
        if (abort.signal.aborted) return;
        setAnswer(comparison);
        setProblem(null);
      },
      (thrown: unknown) => {
        if (!abort.signal.aborted) setProblem(asProblem(thrown));
      },
    );
    return () => abort.abort();
    // The moments say all that the two sides hold.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [moments, attempt]);
  return { answer, problem, retry: () => setAttempt(attempt + 1) };
}

function Compare({ left, right }: Sides) {
  const setCursor = useSession((session) => session.setCursor);
  const setCompareWith = useSession((session) => session.setCompareWith);
  useEffect(() => void loadCheckpoints(left.threadId), [left.threadId]);
  const { answer, problem, retry } = useComparison({ left, right });
  const graph = useSession((session) => session.graphKey) ?? "";
  const rules = useIgnoredOf(graph);
  const differences = useMemo(
    () => (answer?.differences ?? []).filter(({ pointer }) => !isIgnored(pointer, rules)),
    [answer, rules],
  );
  const [view, setView] = useState<"state" | "runs">("state");
  // One thread beside itself has its times in the trace.
  const isTwo = left.threadId !== right.threadId;
  const isRuns = isTwo && view === "runs";
  const isSame = answer !== null && left.threadId === right.threadId && answer.left.id === answer.right.id;
  return (
    <section
      className="flex h-full min-h-0 flex-col"
      aria-label={t("debug.compare")}
      data-testid={debugIds.compare}
    >
      <div className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line px-3 py-1.5">
        <Side
          moment={left}
          labels={[t("debug.compare.leftThread"), t("debug.compare.left")]}
          testIds={[debugIds.compareLeftThread, debugIds.compareLeft]}
          onChange={setCompareWith}
        />
        <IconButton
          size="small"
          label={t("debug.compare.swap")}
          onClick={swapCompared}
          data-testid={debugIds.compareSwap}
        >
          <ArrowRightLeft size={14} aria-hidden />
        </IconButton>
        <Side
          moment={right}
          labels={[t("debug.compare.rightThread"), t("debug.compare.right")]}
          testIds={[debugIds.compareRightThread, debugIds.compareRight]}
          onChange={setCursor}
        />
        {isTwo && (
          <Tabs
            className="shrink-0"
            look="segmented"
            label={t("debug.compare.what")}
            value={view}
            onChange={(next) => setView(next === "runs" ? "runs" : "state")}
            tabs={[
              { id: "state", label: t("debug.compare.state") },
              { id: "runs", label: t("debug.compare.runs") },
            ]}
          />
        )}
        {answer && !isSame && <Ancestor answer={answer} threadId={right.threadId} />}
        <span className="ml-auto flex items-center">
          {answer && !isSame && !isRuns && (
            <CopyAnswer
              text={() => comparisonText(answer, { left: left.threadId, right: right.threadId }, differences)}
            />
          )}
          <IconButton size="small" label={t("debug.compare.close")} onClick={() => setCompareWith(null)}>
            <X size={14} aria-hidden />
          </IconButton>
        </span>
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto">
        {isRuns && <RunsByNode left={left.threadId} right={right.threadId} />}
        {!isRuns && problem && <ProblemNote problem={problem} onRetry={retry} />}
        {!isRuns && !problem && answer && (
          <>
            <IgnoredLine
              rules={rules}
              count={answer.differences.length - differences.length}
              onChange={(next) => setIgnored(graph, next)}
            />
            <Answer
              answer={answer}
              differences={differences}
              isSame={isSame}
              left={left}
              right={right}
              onIgnore={(rule) => setIgnored(graph, [...rules, rule])}
            />
          </>
        )}
      </div>
    </section>
  );
}

interface AnswerProps extends Sides {
  answer: Comparison;
  /** Those that are not ignored. */
  differences: readonly Difference[];
  isSame: boolean;
  onIgnore(rule: string): void;
}

function Answer({ answer, differences, isSame, left, right, onIgnore }: AnswerProps) {
  if (isSame && answer.differences.length === 0) {
    return (
      <EmptyState compact title={t("debug.compare.equal")}>
        {t("debug.compare.choose")}
      </EmptyState>
    );
  }
  return (
    <>
      <PathDiff paths={answer.paths} left={left.threadId} right={right.threadId} />
      {answer.differences.length > 0 && differences.length === 0 && (
        <EmptyState compact title={t("debug.compare.allIgnored")} />
      )}
      {answer.differences.length === 0 && (
        <EmptyState compact title={t("debug.compare.equal")}>
          {tn("debug.compare.equalKeysOne", "debug.compare.equalKeys", answer.equalKeys.length)}
        </EmptyState>
      )}
      <Differences
        differences={differences}
        left={left}
        right={right}
        entries={(difference) => differenceEntries(difference, { left, right }, onIgnore)}
      />
      {answer.truncated && <p className="px-3 py-2 text-xs text-text-2">{t("debug.compare.truncated")}</p>}
      {answer.differences.length > 0 && answer.equalKeys.length > 0 && <EqualKeys keys={answer.equalKeys} />}
    </>
  );
}

function Ancestor({ answer, threadId }: { answer: Comparison; threadId: string }) {
  const pages = useCheckpoints(threadId);
  const ancestor = answer.commonAncestor;
  if (ancestor === undefined) return null;
  const step = pages?.list.find((checkpoint) => checkpoint.id === ancestor)?.step ?? "?";
  return (
    <span className="flex min-w-0 items-center gap-1 text-xs text-text-2" title={ancestor}>
      <GitMerge size={13} aria-hidden className="shrink-0" />
      <span className="truncate">
        {ancestor === answer.left.id
          ? t("debug.compare.leftIsAncestor")
          : ancestor === answer.right.id
            ? t("debug.compare.rightIsAncestor")
            : t("debug.compare.ancestor", { step })}
      </span>
    </span>
  );
}

function describe(checkpoint: CheckpointView): string {
  const what =
    checkpoint.source === "update"
      ? t("debug.editedAs", { node: checkpoint.asNode ?? "?" })
      : checkpoint.next.length > 0
        ? t("debug.next", { nodes: nodeList(checkpoint.next) })
        : t("debug.end");
  return `${t("debug.stepN", { n: checkpoint.step })} · ${what}`;
}

interface SideProps {
  moment: ComparedMoment;
  /** Of its thread, and of its checkpoint. */
  labels: readonly [string, string];
  testIds: readonly [string, string];
  onChange(moment: ComparedMoment): void;
}

/** The thread and the checkpoint of one side. */
function Side({ moment, labels, testIds, onChange }: SideProps) {
  const { threadId, checkpointId } = moment;
  const threads = useRuns((store) => store.threads);
  const order = useRuns((store) => store.order);
  const list = useCheckpoints(threadId)?.list ?? NONE;
  const ids = order.slice(0, MAX_OPTIONS);
  if (!ids.includes(threadId)) ids.unshift(threadId);
  const titleOf = (id: string) => {
    const title = threads.get(id)?.title ?? id;
    return title === "" ? t("debug.threads.untitled") : title;
  };
  const options = [
    { value: "", label: t("debug.now") },
    ...list
      .slice(0, MAX_OPTIONS)
      .map((checkpoint) => ({ value: checkpoint.id, label: describe(checkpoint) })),
  ];
  if (checkpointId !== null && !options.some(({ value }) => value === checkpointId)) {
    const far = list.find((checkpoint) => checkpoint.id === checkpointId);
    options.push({ value: checkpointId, label: far ? describe(far) : checkpointId });
  }
  return (
    <>
      <Select<string>
        size="small"
        className="w-36! max-w-[17%]"
        aria-label={labels[0]}
        data-testid={testIds[0]}
        value={threadId}
        options={ids.map((id) => ({ value: id, label: titleOf(id) }))}
        onChange={(id) => onChange({ threadId: id, checkpointId: null })}
      />
      <Select<string>
        size="small"
        className="w-44! max-w-[22%]"
        aria-label={labels[1]}
        data-testid={testIds[1]}
        value={checkpointId ?? ""}
        options={options}
        onChange={(id) => onChange({ threadId, checkpointId: id === "" ? null : id })}
      />
    </>
  );
}

function EqualKeys({ keys }: { keys: readonly string[] }) {
  return (
    <Fold
      className="text-xs text-text-2"
      head={tn("debug.compare.equalKeysOne", "debug.compare.equalKeys", keys.length)}
    >
      {() => (
        <p className="select-text px-7 pb-2 font-mono text-xs text-text-2 [overflow-wrap:anywhere]">
          {listed(keys)}
        </p>
      )}
    </Fold>
  );
}
