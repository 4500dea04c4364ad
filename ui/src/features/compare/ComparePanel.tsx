/**
 * Two checkpoints side by side. The left one was chosen with Ctrl or Shift in the timeline (or here), the right one is
 * the cursor; so moving along the timeline compares as one goes. Differences come from the workbench, as deep as they
 * go; text differs by word.
 */
import { ArrowRightLeft, GitMerge, X } from "lucide-react";
import { useEffect, useState } from "react";
import { EmptyState } from "../../components/EmptyState";
import { Fold } from "../../components/Fold";
import { IconButton } from "../../components/IconButton";
import { Select } from "../../components/Select";
import { Differences } from "../../debugger/parts/Differences";
import { nodeList } from "../../debugger/parts/format";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { useCheckpoints } from "../../debugger/model/runStore";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import type { Comparison } from "../../ipc/bindings/Comparison";
import { rpc } from "../../ipc/client";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";

/** A list to choose from; what is further back is chosen in the timeline. */
const MAX_OPTIONS = 300;

export function ComparePanel() {
  const cursor = useSession((session) => session.cursor);
  const compareWith = useSession((session) => session.compareWith);
  if (cursor.threadId === null || compareWith === null) {
    return (
      <EmptyState compact icon={<ArrowRightLeft size={20} aria-hidden />} title={t("debug.compare.none")}>
        {t("debug.compare.noneText")}
      </EmptyState>
    );
  }
  return <Compare threadId={cursor.threadId} left={compareWith} right={cursor.checkpointId} />;
}

function Compare({ threadId, left, right }: { threadId: string; left: string; right: string | null }) {
  const setCursor = useSession((session) => session.setCursor);
  const setCompareWith = useSession((session) => session.setCompareWith);
  const pages = useCheckpoints(threadId);
  const head = pages?.list[0]?.id;
  const [answer, setAnswer] = useState<Comparison | null>(null);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const [attempt, setAttempt] = useState(0);

  // "Now" moves with the thread: its newest checkpoint is part of what is compared.
  const moment = right ?? head;
  useEffect(() => {
    const abort = new AbortController();
    rpc(
      "thread.compare",
      {
        left: { threadId, checkpointId: left },
        right: { threadId, ...(right !== null && { checkpointId: right }) },
      },
      abort.signal,
    ).then(
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
  }, [threadId, left, right, moment, attempt]);

  const ancestor = answer?.commonAncestor;
  const ancestorView = pages?.list.find((checkpoint) => checkpoint.id === ancestor);
  const options = (pages?.list ?? []).slice(0, MAX_OPTIONS);
  return (
    <section
      className="flex h-full min-h-0 flex-col"
      aria-label={t("debug.compare")}
      data-testid={debugIds.compare}
    >
      <div className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line px-3 py-1.5">
        <Picker
          label={t("debug.compare.left")}
          value={left}
          list={options}
          chosen={pages?.list}
          onChange={(id) => setCompareWith(id)}
          testId={debugIds.compareLeft}
        />
        <IconButton
          size="small"
          label={t("debug.compare.swap")}
          onClick={() => {
            const other = right ?? head;
            if (other === undefined) return;
            setCompareWith(other);
            setCursor({ checkpointId: left === head ? null : left });
          }}
          data-testid={debugIds.compareSwap}
        >
          <ArrowRightLeft size={14} aria-hidden />
        </IconButton>
        <Picker
          label={t("debug.compare.right")}
          value={right ?? ""}
          list={options}
          chosen={pages?.list}
          now
          onChange={(id) => setCursor({ checkpointId: id === "" ? null : id })}
          testId={debugIds.compareRight}
        />
        {ancestor !== undefined && (
          <span className="flex min-w-0 items-center gap-1 text-xs text-text-2" title={ancestor}>
            <GitMerge size={13} aria-hidden className="shrink-0" />
            <span className="truncate">
              {ancestor === left
                ? t("debug.compare.leftIsAncestor")
                : ancestor === moment
                  ? t("debug.compare.rightIsAncestor")
                  : t("debug.compare.ancestor", { step: ancestorView?.step ?? "?" })}
            </span>
          </span>
        )}
        <span className="ml-auto">
          <IconButton size="small" label={t("debug.compare.close")} onClick={() => setCompareWith(null)}>
            <X size={14} aria-hidden />
          </IconButton>
        </span>
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto">
        {problem && <ProblemNote problem={problem} onRetry={() => setAttempt(attempt + 1)} />}
        {!problem && answer && answer.differences.length === 0 && (
          <EmptyState compact title={t("debug.compare.equal")}>
            {tn("debug.compare.equalKeysOne", "debug.compare.equalKeys", answer.equalKeys.length)}
          </EmptyState>
        )}
        {answer && (
          <Differences differences={answer.differences} threadId={threadId} left={left} right={right} />
        )}
        {answer?.truncated && <p className="px-3 py-2 text-xs text-text-2">{t("debug.compare.truncated")}</p>}
        {answer && answer.differences.length > 0 && answer.equalKeys.length > 0 && (
          <EqualKeys keys={answer.equalKeys} />
        )}
      </div>
    </section>
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

interface PickerProps {
  label: string;
  value: string;
  list: readonly CheckpointView[];
  chosen: readonly CheckpointView[] | undefined;
  now?: boolean;
  testId: string;
  onChange(id: string): void;
}

function Picker({ label, value, list, chosen, now = false, testId, onChange }: PickerProps) {
  const options = list.map((checkpoint) => ({ value: checkpoint.id, label: describe(checkpoint) }));
  const far =
    value !== "" && !list.some((checkpoint) => checkpoint.id === value)
      ? chosen?.find((checkpoint) => checkpoint.id === value)
      : undefined;
  if (far) options.push({ value: far.id, label: describe(far) });
  if (now) options.unshift({ value: "", label: t("debug.now") });
  return (
    <Select<string>
      size="small"
      className="w-52! max-w-[36%]"
      aria-label={label}
      data-testid={testId}
      value={value}
      options={options}
      onChange={onChange}
    />
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
          {keys.join(", ")}
        </p>
      )}
    </Fold>
  );
}
