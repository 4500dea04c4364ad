/**
 * Two checkpoints side by side. The left one was chosen with Ctrl or Shift in the timeline (or here), the right one is
 * the cursor; so moving along the timeline compares as one goes. Differences come from the workbench, as deep as they
 * go; text differs by word.
 */
import { ArrowRightLeft, ChevronDown, ChevronRight, GitMerge, X } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { IconButton } from "../../components/IconButton";
import { Select } from "../../components/Select";
import { likeness, readablePath, wordDiff } from "../../debugger/diff";
import { nodeList, preview } from "../../debugger/format";
import { json, Pre } from "../../debugger/Pre";
import { ProblemNote } from "../../debugger/ProblemNote";
import { asProblem, type ShownProblem, useCheckpoints } from "../../debugger/runStore";
import { WordDiff } from "../../debugger/WordDiff";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import type { Comparison } from "../../ipc/bindings/Comparison";
import type { Difference } from "../../ipc/bindings/Difference";
import type { ValueView } from "../../ipc/bindings/ValueView";
import { rpc } from "../../ipc/client";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { groupDifferences, insideKey } from "./groups";

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

  const groups = useMemo(() => groupDifferences(answer?.differences ?? []), [answer]);
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
        {answer &&
          groups.map((group) => (
            <Group
              key={group.key}
              name={group.key}
              differences={group.differences}
              threadId={threadId}
              left={left}
              right={right}
            />
          ))}
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
      className="w-52 max-w-[36%]"
      aria-label={label}
      data-testid={testId}
      value={value}
      options={options}
      onChange={onChange}
    />
  );
}

interface SideProps {
  threadId: string;
  left: string;
  right: string | null;
}

function Group({
  name,
  differences,
  ...sides
}: SideProps & { name: string; differences: readonly Difference[] }) {
  const [open, setOpen] = useState(true);
  const Chevron = open ? ChevronDown : ChevronRight;
  return (
    <div className="border-b border-line [content-visibility:auto]">
      <button
        type="button"
        className="flex h-7 w-full items-center gap-1.5 px-2 text-left hover:bg-surface-3"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Chevron size={14} className="text-text-3" aria-hidden />
        <span className="font-mono text-xs font-semibold">{name}</span>
        <span className="tabular text-2xs text-text-3">
          {tn("debug.compare.differenceOne", "debug.compare.differences", differences.length)}
        </span>
      </button>
      {open &&
        differences.map((difference) => <Row key={difference.pointer} difference={difference} {...sides} />)}
    </div>
  );
}

function Row({ difference, threadId, left, right }: SideProps & { difference: Difference }) {
  const [whole, setWhole] = useState<{ left?: unknown; right?: unknown } | null>(null);
  const path = insideKey(difference.pointer);
  const before = whole && "left" in whole ? whole.left : difference.left?.value;
  const after = whole && "right" in whole ? whole.right : difference.right?.value;
  const cut =
    (difference.left !== undefined && before === undefined) ||
    (difference.right !== undefined && after === undefined);
  // Two texts that have little in common are easier to read side by side.
  const alike = useMemo(
    () =>
      typeof before === "string" &&
      typeof after === "string" &&
      (before.length > 40 || after.length > 40) &&
      likeness(wordDiff(before, after)) > 0.33,
    [before, after],
  );
  const load = async () => {
    const read = async (side: ValueView | undefined, checkpointId: string | null) =>
      side === undefined
        ? undefined
        : ((
            await rpc("thread.value", {
              threadId,
              ...(checkpointId !== null && { checkpointId }),
              pointer: difference.pointer,
              offset: 0,
              limit: 0,
            })
          ).value as unknown);
    const [a, b] = await Promise.all([read(difference.left, left), read(difference.right, right)]);
    setWhole({ ...(difference.left && { left: a }), ...(difference.right && { right: b }) });
  };
  return (
    <div
      className="px-3 pb-2 pl-7"
      data-testid={debugIds.difference}
      data-pointer={difference.pointer}
      data-change={difference.change}
    >
      <div className="flex items-center gap-2 py-0.5">
        {path !== "" && (
          <span className="font-mono text-xs text-text-2 [overflow-wrap:anywhere]">{readablePath(path)}</span>
        )}
        {difference.change !== "changed" && (
          <Badge tone={difference.change === "removed" ? "failed" : "done"}>
            {t(difference.change === "same" ? "debug.change.changed" : `debug.change.${difference.change}`)}
          </Badge>
        )}
        {cut && (
          <Button size="small" variant="ghost" onClick={() => void load()}>
            {t("debug.compare.load")}
          </Button>
        )}
      </div>
      {alike ? (
        <WordDiff before={String(before)} after={String(after)} />
      ) : (
        <div className="grid grid-cols-2 gap-2">
          <Side view={difference.left} value={before} tone="removed" />
          <Side view={difference.right} value={after} tone="added" />
        </div>
      )}
    </div>
  );
}

function Side({
  view,
  value,
  tone,
}: {
  view: ValueView | undefined;
  value: unknown;
  tone: "added" | "removed";
}) {
  if (view === undefined)
    return (
      <div className="rounded-sm border border-dashed border-line px-2 py-1 text-xs text-text-3">
        {t("debug.compare.absent")}
      </div>
    );
  const text =
    value === undefined
      ? `${view.head ?? ""}…`
      : typeof value === "string"
        ? value
        : typeof value === "object" && value !== null
          ? json(value)
          : preview(value);
  return <Pre tone={tone}>{text}</Pre>;
}

function EqualKeys({ keys }: { keys: readonly string[] }) {
  const [open, setOpen] = useState(false);
  const Chevron = open ? ChevronDown : ChevronRight;
  return (
    <div>
      <button
        type="button"
        className="flex h-7 w-full items-center gap-1.5 px-2 text-left text-xs text-text-2 hover:bg-surface-3"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Chevron size={14} className="text-text-3" aria-hidden />
        {tn("debug.compare.equalKeysOne", "debug.compare.equalKeys", keys.length)}
      </button>
      {open && (
        <p className="selectable px-7 pb-2 font-mono text-xs text-text-2 [overflow-wrap:anywhere]">
          {keys.join(", ")}
        </p>
      )}
    </div>
  );
}
