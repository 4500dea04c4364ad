/**
 * The right panel of Debug: what is asked at the cursor, the state there with what changed, the tasks before and after it,
 * pending edits; and the input form when the thread is to be given its next turn.
 */
import { ArrowLeft } from "lucide-react";
import { useEffect, useRef, useState, useSyncExternalStore, type ReactNode } from "react";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { Tabs } from "../../components/Tabs";
import { isPast } from "../../debugger/run/situation";
import { runForm } from "../../debugger/run/run-form";
import { useEdits } from "../../debugger/state/edits";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { PassedNodes } from "./PassedNodes";
import { RunLabelsLine } from "../../debugger/run/RunLabels";
import { RunModelsLine } from "../../debugger/run/RunModels";
import { RunForm } from "../../debugger/run/RunForm";
import { RunProblem } from "../../debugger/run/RunProblem";
import { ensureStarted } from "../../debugger/model/connect";
import { shownLevels, useNested } from "../../debugger/model/nested";
import { lastRun, useStatus } from "../../debugger/model/status";
import { snapshots, useLive, useRuns, useThread } from "../../debugger/model/runStore";
import type { Loaded } from "../../debugger/model/snapshots";
import { useSubjectNode } from "../../debugger/state/subject-node";
import { useTasksAsked } from "../../debugger/state/tasks-asked";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { ResultTab } from "../result";
import { EditBar } from "./EditBar";
import { GraphMovedLine } from "./GraphMovedLine";
import { NestedState } from "./NestedState";
import { MomentLine } from "./MomentLine";
import { StopReason } from "./StopReason";
import { StateTree } from "./StateTree";
import { TasksTab } from "./TasksTab";

/** `asked` is the question of the moment: it comes below the tabs, which stay where they are. */
export function StateInspector({ asked }: { asked: ReactNode }) {
  useEffect(ensureStarted, []);
  const threadId = useSession((session) => session.cursor.threadId);
  const checkpointId = useSession((session) => session.cursor.checkpointId);
  const shown = useRuns((store) => store.shown);
  const loading = useRuns((store) => store.snapshotLoading);
  const problem = useRuns((store) => store.snapshotProblem);
  const formOpen = useSyncExternalStore(runForm.subscribe, runForm.isOpen);
  const pending = useEdits((edits) => edits.pending);
  const here = shown && shown.place.threadId === threadId ? shown : null;
  const [tab, setTab] = useMomentTab(threadId, checkpointId);

  if (threadId === null) return null;
  if (formOpen) {
    return (
      <section
        className="flex h-full min-h-0 flex-col short:h-auto short:flex-[1_0_auto]"
        aria-label={t("debug.input.title")}
      >
        <div className="flex h-9 shrink-0 items-center border-b border-line px-2">
          <Button
            size="small"
            variant="ghost"
            icon={<ArrowLeft size={14} aria-hidden />}
            onClick={runForm.close}
          >
            {t("debug.backToState")}
          </Button>
        </div>
        {asked}
        <RunProblem />
        <RunForm />
      </section>
    );
  }
  const tasks = here ? here.view.tasks.length : 0;
  return (
    <section
      className="flex h-full min-h-0 flex-col short:h-auto short:flex-[1_0_auto]"
      aria-label={t("debug.state")}
      data-testid={debugIds.stateInspector}
      aria-busy={loading}
    >
      <div className="shrink-0 px-3 py-2">
        <Tabs
          look="segmented"
          label={t("debug.inspector")}
          value={tab}
          onChange={setTab}
          tabs={[
            { id: "result", label: t("result.title") },
            { id: "state", label: t("debug.state") },
            {
              id: "tasks",
              label: t("debug.tasks"),
              ...(tasks > 0 && { badge: <span className="tabular-nums text-text-3">{tasks}</span> }),
            },
          ]}
        />
      </div>
      {asked}
      <RunProblem />
      {here && !isPast({ threadId, checkpointId }) && <StopReason threadId={threadId} />}
      {here && <MomentLine loaded={here} past={isPast({ threadId, checkpointId })} />}
      <RunModelsLine threadId={threadId} />
      <RunLabelsLine threadId={threadId} />
      <PassedNodes threadId={threadId} />
      <GraphMovedLine threadId={threadId} checkpointId={checkpointId} />
      <div className="flex min-h-0 flex-1 flex-col short:flex-[1_0_15rem]">
        {problem && <ProblemNote problem={problem} onRetry={() => snapshots.reset(threadId)} />}
        {!problem && !here && <p className="px-3 text-xs text-text-2">{t("debug.loading")}</p>}
        {here && <Body loaded={here} tab={tab} onState={() => setTab("state")} />}
      </div>
      {pending && pending.threadId === threadId && here && <EditBar shown={here} />}
    </section>
  );
}

/** A run that has ended shows its result; which tab is chosen after that stays until the next one has ended. */
function useMomentTab(threadId: string | null, checkpointId: string | null) {
  const run = lastRun(useThread(threadId), useLive(threadId));
  const past = useRuns((store) => isPast({ threadId, checkpointId }, store));
  const done = useStatus(threadId) === "done" && !past;
  const at = `${threadId}/${run?.runId}`;
  const [chosen, choose] = useState<{ at: string; tab: string } | null>(null);
  const tab = chosen && (chosen.at === at || !done) ? chosen.tab : done ? "result" : "state";
  // Selecting a task, or a node, shows what it did.
  const task = useSession((session) => session.cursor.taskId ?? null);
  const node = useSubjectNode();
  const wanted = useTasksAsked((store) => store.asked);
  const before = useRef({ task: null as string | null, node });
  useEffect(() => {
    const was = before.current;
    before.current = { task, node };
    const asked = (task !== null && task !== was.task) || (node !== undefined && node !== was.node);
    if (asked || wanted) choose({ at, tab: "tasks" });
    if (wanted) useTasksAsked.setState({ asked: false });
  }, [task, node, at, wanted]);
  return [tab, (next: string) => choose({ at, tab: next })] as const;
}

function Body({ loaded, tab, onState }: { loaded: Loaded; tab: string; onState(): void }) {
  const nested = useNested();
  const cursor = useSession((session) => session.cursor);
  const use = useSession((session) => session.use);
  // Beside a nested graph stands its own state; the level above it in the canvas's path has the other one.
  const levels = shownLevels(nested, { cursor, use });
  if (!loaded.view.checkpoint && loaded.view.keys.every((key) => key.value === undefined)) {
    return (
      <EmptyState compact title={t("debug.state.none")}>
        {t("debug.state.noneText")}
      </EmptyState>
    );
  }
  if (tab === "state" && levels.length > 0)
    return <NestedState threadId={loaded.place.threadId} levels={levels} />;
  if (tab === "result") return <ResultTab loaded={loaded} onState={onState} />;
  return tab === "tasks" ? <TasksTab loaded={loaded} /> : <StateTree loaded={loaded} />;
}
