/** Runs a task again with other values: a fork at the checkpoint that its step began from, and what would run there. */
import { GitFork, StepForward } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { JsonEditor } from "../../components/JsonEditor";
import { TextArea } from "../../components/TextField";
import { sameJson } from "../../debugger/parts/diff";
import { nodeList, nodeName } from "../../debugger/parts/format";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { continueThread, replay } from "../../debugger/run/actions";
import { type ForkEdit, makeFork, previewFork } from "../../debugger/run/update-state";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { hasReducer } from "../../debugger/state/edits";
import type { KeyView } from "../../ipc/bindings/KeyView";
import type { TaskView } from "../../ipc/bindings/TaskView";
import type { Updated } from "../../ipc/bindings/Updated";
import { rpc } from "../../ipc/client";
import { taskIds } from "../../lib/testIds";
import { t } from "../../lib/texts";

/** Keys that are shown when it is not known which ones the task read. */
const FEW = 8;
const NONE: readonly KeyView[] = [];

interface Props {
  readonly threadId: string;
  readonly from: string;
  readonly step: number;
  readonly task: TaskView;
  readonly packet: boolean;
  onClose(): void;
}

/** Keys that the task read first, then the others that have a value. */
function ordered(keys: readonly KeyView[], task: TaskView): { first: readonly KeyView[]; rest: number } {
  const reads = task.record?.reads;
  const read = reads?.kind === "keys" ? keys.filter((key) => reads.keys.includes(key.key)) : [];
  if (read.length > 0) return { first: read, rest: keys.length - read.length };
  const set = keys.filter((key) => key.value !== undefined).slice(0, FEW);
  return { first: set, rest: keys.length - set.length };
}

/** The keys at the checkpoint, what was changed of them, and what would run next. */
function useRerun(threadId: string, from: string) {
  const [keys, setKeys] = useState(NONE);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const [values, setValues] = useState<Readonly<Record<string, unknown>>>({});
  const [next, setNext] = useState<Updated | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    rpc("thread.snapshot", { threadId, checkpointId: from }, abort.signal).then(
      (view) => setKeys(view.keys),
      (thrown: unknown) => {
        if (!abort.signal.aborted) setProblem(asProblem(thrown));
      },
    );
    return () => abort.abort();
  }, [threadId, from]);
  const edit = useMemo(() => forkOf(keys, values, threadId, from), [values, keys, threadId, from]);
  useEffect(() => {
    setNext(null);
    if (!edit) return;
    setProblem(null);
    const abort = new AbortController();
    const rest = setTimeout(() => {
      previewFork(edit, abort.signal).then(setNext, (thrown: unknown) => {
        if (!abort.signal.aborted) setProblem(asProblem(thrown));
      });
    }, 200);
    return () => {
      clearTimeout(rest);
      abort.abort();
    };
  }, [edit]);
  return { keys, values, setValues, edit, next, problem, setProblem };
}

/** The edit that makes the values what they were changed to; null when nothing is. */
function forkOf(
  keys: readonly KeyView[],
  values: Readonly<Record<string, unknown>>,
  threadId: string,
  checkpointId: string,
): ForkEdit | null {
  const changed = Object.entries(values).filter(([name, value]) => {
    const before = keys.find(({ key }) => key === name)?.value?.value;
    return value !== undefined && !sameJson(value, before);
  });
  if (changed.length === 0) return null;
  const reducers = new Map(keys.map(({ key, reducer }) => [key, reducer]));
  return {
    threadId,
    checkpointId,
    values: Object.fromEntries(changed),
    overwrite: changed.map(([name]) => name).filter((name) => hasReducer(reducers.get(name) ?? "overwrite")),
  };
}

export function RerunDialog({ threadId, from, step, task, packet, onClose }: Props) {
  const { keys, values, setValues, edit, next, problem, setProblem } = useRerun(threadId, from);
  const [all, setAll] = useState(false);
  const [busy, setBusy] = useState(false);
  const { first, rest } = useMemo(() => ordered(keys, task), [keys, task]);
  const shown = all ? keys : first;
  const go = async (how: { step?: "over" }) => {
    setBusy(true);
    try {
      if (edit) {
        await makeFork(edit);
        onClose();
        await continueThread(threadId, how);
      } else {
        onClose();
        await replay(threadId, from, how);
      }
    } catch (thrown) {
      setProblem(asProblem(thrown));
    } finally {
      setBusy(false);
    }
  };
  const off = busy || problem !== null || (edit !== null && next === null);
  return (
    <Dialog
      open
      onClose={onClose}
      size="medium"
      title={t("task.rerun.title", { node: nodeName(task.node), step })}
      description={t(packet ? "task.rerun.packets" : "task.rerun.text")}
      data-testid={taskIds.rerunDialog}
      actions={
        <>
          <Button onClick={onClose}>{t("forms.cancel")}</Button>
          <Button
            icon={<StepForward size={14} aria-hidden />}
            disabled={off}
            onClick={() => void go({ step: "over" })}
          >
            {t("task.rerun.step")}
          </Button>
          <Button
            variant="primary"
            icon={<GitFork size={14} aria-hidden />}
            busy={busy}
            disabled={off}
            onClick={() => void go({})}
            data-testid={taskIds.rerunGo}
          >
            {t("task.rerun.go")}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        {shown.map((key) => (
          <KeyField
            key={key.key}
            view={key}
            value={key.key in values ? values[key.key] : key.value?.value}
            onChange={(value) => setValues((known) => ({ ...known, [key.key]: value }))}
          />
        ))}
        {!all && rest > 0 && (
          <div>
            <Button size="small" variant="ghost" onClick={() => setAll(true)}>
              {t("task.rerun.others", { n: rest })}
            </Button>
          </div>
        )}
        {problem && <ProblemNote problem={problem} />}
        <p className="min-h-4 text-xs text-text-2" role="status" data-testid={taskIds.rerunNext}>
          {edit === null ? t("task.rerun.unchanged") : next ? nextText(next, task.node) : ""}
        </p>
      </div>
    </Dialog>
  );
}

function nextText(updated: Updated, node: string): string {
  if (updated.next.length === 0) return t("task.rerun.nothing");
  const names = { nodes: nodeList(updated.next), node: nodeName(node) };
  return t(updated.next.includes(node) ? "task.rerun.next" : "task.rerun.elsewhere", names);
}

function KeyField({
  view,
  value,
  onChange,
}: {
  view: KeyView;
  value: unknown;
  onChange(value: unknown): void;
}) {
  const large = view.value !== undefined && view.value.value === undefined;
  return (
    <div className="flex flex-col gap-1">
      <span className="text-xs">
        <span className="font-mono font-semibold">{view.key}</span>{" "}
        <span className="text-text-3">{view.declared}</span>
      </span>
      {large ? (
        <p className="text-xs text-text-2">{t("task.rerun.large")}</p>
      ) : typeof value === "string" ? (
        <TextArea aria-label={view.key} value={value} onChange={onChange} minRows={1} />
      ) : (
        <JsonEditor value={value} onChange={onChange} minLines={1} maxLines={8} aria-label={view.key} />
      )}
    </div>
  );
}
