/**
 * The run buttons of the title bar and what the run is doing, in words. What each button does at this moment, and why it
 * can not be used, comes from `controls.ts`; the keys and the command palette use the same functions.
 */
import {
  ArrowRightToLine,
  CornerDownLeft,
  FastForward,
  History,
  Pause,
  Play,
  RedoDot,
  RotateCcw,
  Square,
  SquareArrowRightEnter,
  TextCursorInput,
} from "lucide-react";
import { type ComponentProps, memo, type ReactNode, useEffect, useMemo } from "react";
import { Button } from "../../components/Button";
import { useSame } from "../../components/stable";
import { Tooltip } from "../../components/Tooltip";
import { cx } from "../../components/cx";
import { go, primary, replayHere, step, stepOut, stop } from "../../debugger/run/actions";
import { isPast } from "../../debugger/run/situation";
import { showRunForm } from "../../debugger/run/run-form";
import { focusNode } from "../../canvas/actions";
import { useRunCost } from "../../debugger/exchanges/useRunCost";
import { cannotRun, useOnlyRead } from "../../debugger/model/only-read";
import { showInnermost, standsInside, useNested } from "../../debugger/model/nested";
import { nodeList } from "../../debugger/parts/format";
import { ensureStarted } from "../../debugger/model/connect";
import { lastRun, programOf, statusOf, useStatus } from "../../debugger/model/status";
import { useLive, useRuns, useThread } from "../../debugger/model/runStore";
import { type ShownStatus, StatusMark, statusText } from "../../debugger/parts/StatusMark";
import { pause, usePauseAsked } from "../../debugger/run/pause";
import { useControls } from "../../debugger/run/useControls";
import { useNow } from "../../debugger/parts/useNow";
import { neighbour } from "../../debugger/timeline/walk";
import { duration, elapsed, money } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, type TextKey } from "../../lib/texts";
import { registerCommands } from "../../state/commands";
import { shortcutOf } from "../../state/keymap";
import { useSession } from "../../state/session";
import type { Controls, Primary } from "../../debugger/run/controls";
import type { LiveTasks } from "../../debugger/model/live";
import type { SnapshotView } from "../../ipc/bindings/SnapshotView";

const keyOf = (command: string): string => shortcutOf(command);

const PRIMARY: Record<Primary, { text: TextKey; hint: TextKey; icon: typeof Play }> = {
  run: { text: "debug.run", hint: "debug.run.hint", icon: Play },
  continue: { text: "debug.continue", hint: "debug.continue.hint", icon: FastForward },
  takeOver: { text: "debug.takeOver.confirm", hint: "debug.takeOver.hint", icon: FastForward },
  now: { text: "debug.backToNow", hint: "debug.backToNow.hint", icon: ArrowRightToLine },
  answer: { text: "debug.answer", hint: "debug.answer.hint", icon: CornerDownLeft },
};

/** What the first button becomes while a run goes on by itself. */
const BY_ITSELF: ReadonlySet<Primary> = new Set(["run", "continue", "answer"]);

function wordOf(primary: Primary): ReactNode {
  const { text, icon: Icon } = PRIMARY[primary];
  return (
    <>
      <Icon size={14} />
      {t(text)}
    </>
  );
}

/** A button in the room of the widest that stands in its place, so that nothing beside it moves when another one does. */
function Steady({
  others,
  room,
  children,
  ...rest
}: ComponentProps<"span"> & { readonly others: readonly ReactNode[]; readonly room: string }) {
  return (
    <span {...rest} className="grid *:[grid-area:1/1]">
      {others.map((other, at) => (
        <span
          key={at}
          className={cx(
            // Narrow windows have no room to spare.
            "invisible inline-flex items-center gap-1.5 border text-xs font-medium whitespace-nowrap max-[901px]:hidden",
            room,
          )}
          aria-hidden
        >
          {other}
        </span>
      ))}
      {children}
    </span>
  );
}

export function RunControls() {
  useEffect(ensureStarted, []);
  useRunCommands();
  // While a key is held, each step gives the same.
  const controls = useSame(useControls());
  const graphOpen = useSession((session) => session.graphId !== null);
  if (!graphOpen) return null;
  return (
    <div
      className="flex min-w-0 items-center gap-1 *:shrink-0 max-[761px]:flex-wrap max-[761px]:justify-end"
      role="group"
      aria-label={t("debug.controls")}
    >
      <RunStatusText />
      <RunButtons controls={controls} />
    </div>
  );
}

const RunButtons = memo(function RunButtons({ controls }: { controls: Controls }) {
  const { text, hint, icon: Icon } = PRIMARY[controls.primary];
  const offInput = useOnlyRead(cannotRun) ? t("debug.off.onlyRead") : null;
  const beside = BY_ITSELF.has(controls.primary) ? [...BY_ITSELF].map(wordOf) : [];
  const reason = controls.blocked ? t("debug.off.errors") : (controls.primaryOff ?? t(hint));
  return (
    <>
      <Tooltip
        label={reason}
        {...(controls.primary === "now"
          ? { shortcut: keyOf("debug.backToNow") }
          : controls.primaryOff === null && !controls.past && { shortcut: keyOf("run.start") })}
      >
        <Steady room="px-2" others={beside}>
          <Button
            variant="primary"
            size="small"
            icon={<Icon size={14} aria-hidden />}
            disabled={controls.primaryOff !== null}
            onClick={() => void primary()}
            data-testid={debugIds.run}
            data-action={controls.primary}
            aria-label={`${t(text)}. ${reason}`}
          >
            {t(text)}
          </Button>
        </Steady>
      </Tooltip>
      {controls.past && (
        <Tooltip
          label={controls.replayOff ?? t("debug.replay.hint")}
          {...(controls.replayOff === null && { shortcut: keyOf("run.replay") })}
        >
          <span>
            <Button
              size="small"
              icon={<RotateCcw size={14} aria-hidden />}
              disabled={controls.replayOff !== null}
              onClick={() => void replayHere()}
              data-testid={debugIds.replay}
              aria-label={`${t("debug.replay")}. ${controls.replayOff ?? t("debug.replay.hint")}`}
            >
              {t("debug.replay")}
            </Button>
          </span>
        </Tooltip>
      )}
      <ToolButton
        word={t("debug.input")}
        hint={t("debug.run.withInput")}
        off={offInput}
        icon={<TextCursorInput size={15} aria-hidden />}
        run={showRunForm}
        data-testid={debugIds.runWithInput}
      />
      <Steady
        room={cx(toolClass, "[&>b]:font-medium [&>b]:max-[1201px]:hidden")}
        others={STEP_OR_PAUSE.map(toolWord)}
      >
        {controls.stopOff === null ? (
          <PauseButton />
        ) : (
          <ToolButton
            word={t("debug.step")}
            hint={t("debug.step.hint")}
            off={controls.stepOff}
            shortcut={keyOf("run.step")}
            icon={<RedoDot size={15} aria-hidden />}
            run={() => void step()}
            data-testid={debugIds.step}
          />
        )}
      </Steady>
      <ToolButton
        word={t("debug.stepInto")}
        hint={t("debug.stepInto.hint")}
        off={controls.stepOff}
        shortcut={keyOf("run.stepInto")}
        icon={<SquareArrowRightEnter size={15} aria-hidden />}
        run={() => void step("into")}
        data-testid={debugIds.stepInto}
      />
      <ToolButton
        word={t("debug.stop")}
        hint={t("debug.stop.hint")}
        off={controls.stopOff}
        shortcut={keyOf("run.stop")}
        icon={<Square size={14} aria-hidden {...(controls.stopOff === null && { fill: "currentColor" })} />}
        run={() => void stop()}
        data-testid={debugIds.stop}
      />
    </>
  );
});

const STEP_OR_PAUSE = ["debug.step", "debug.pause"] as const;

const toolWord = (text: TextKey): ReactNode => (
  <>
    <Pause size={15} />
    <b>{t(text)}</b>
  </>
);

/** In the place of Step while the thread runs. */
function PauseButton() {
  const asked = usePauseAsked(useShownRun()?.runId);
  return (
    <ToolButton
      word={t("debug.pause")}
      hint={t("debug.pause.hint")}
      off={asked ? t("debug.pause.asked") : null}
      shortcut={keyOf("run.pause")}
      icon={<Pause size={15} aria-hidden />}
      run={() => void pause()}
      data-testid={debugIds.pause}
    />
  );
}

/** The newest run of the thread that is shown. */
function useShownRun() {
  const threadId = useSession((session) => session.cursor.threadId);
  return lastRun(useThread(threadId), useLive(threadId));
}

const toolClass = "px-1.25 min-[1201px]:px-1.5";

/** A button of the toolbar: its word where there is room, its icon where there is not. */
function ToolButton({
  word,
  hint,
  off = null,
  shortcut,
  icon,
  run,
  ...rest
}: {
  word: string;
  hint: string;
  /** Why it cannot be used. */
  off?: string | null;
  shortcut?: string;
  icon: ReactNode;
  run(): void;
  "data-testid": string;
}) {
  return (
    <Tooltip label={off ?? hint} {...(off === null && shortcut !== undefined && { shortcut })}>
      <Button
        {...rest}
        variant="ghost"
        size="small"
        className={cx(toolClass, "[&>span]:max-[1201px]:hidden")}
        icon={icon}
        disabled={off !== null}
        focusableWhenDisabled
        onClick={run}
        aria-label={`${word}. ${off ?? hint}`}
      >
        {word}
      </Button>
    </Tooltip>
  );
}

/** "Running · step 4 · 12 s", or where the thread stands, or that the moment is in the past. */
function RunStatusText() {
  const cursor = useSession((session) => session.cursor);
  const thread = useThread(cursor.threadId);
  const status = useStatus(cursor.threadId);
  const live = useLive(cursor.threadId);
  const past = useRuns((store) => isPast(cursor, store));
  const running = status === "running";
  const now = useNow(running ? 500 : null);
  const pastStep = useRuns((store) =>
    past
      ? store.checkpoints
          .get(cursor.threadId ?? "")
          ?.list.find((checkpoint) => checkpoint.id === cursor.checkpointId)?.step
      : undefined,
  );
  const step = useMemo(() => {
    let newest = thread?.step ?? 0;
    for (const task of live?.tasks.values() ?? []) newest = Math.max(newest, task.step);
    return newest;
  }, [thread?.step, live]);
  const snapshot = useRuns((store) =>
    store.shown?.place.threadId === cursor.threadId && store.shown.place.checkpointId === null
      ? store.shown.view
      : undefined,
  );
  const use = useSession((session) => session.use);
  const inside = useNested((nested) =>
    standsInside(nested, { cursor, use })
      ? [...nested.path.map(({ node }) => node), nodeList(nested.next)].join(" › ")
      : "",
  );
  // Of all nodes of the step, those that ask or failed.
  const standing = useMemo(() => nodesThat(status, snapshot, live), [status, snapshot, live]);
  const run = lastRun(thread, live);
  const pausing = usePauseAsked(run?.runId);
  const cost = useRunCost(status === "running" ? undefined : run);
  if (cursor.threadId === null || status === undefined) return null;
  if (past) {
    return (
      <span
        className="flex min-w-0 items-center gap-1.5 shrink! rounded-md bg-past-soft px-2 py-0.5 text-xs whitespace-nowrap text-past"
        data-testid={debugIds.status}
      >
        <History size={14} className="shrink-0" aria-hidden />
        <span className="min-w-0 truncate tabular-nums">{t("debug.past", { step: pastStep ?? "?" })}</span>
      </span>
    );
  }
  // Of an open step, those that have not run.
  const next = snapshot?.next ?? thread?.next ?? [];
  const program = running ? programOf(thread, live) : undefined;
  const doing = pausing && running ? t("debug.pause.asked") : statusText(status);
  const parts = [program === undefined ? doing : t("debug.runningIn", { program })];
  if (status === "paused" && inside !== "") parts.push(t("debug.beforeNodes", { nodes: inside }));
  else if (status === "paused" && next.length > 0)
    parts.push(t("debug.beforeNodes", { nodes: nodeList(next) }));
  else if (status === "failed" || status === "asking") {
    const where = nodeList(standing.length > 0 ? standing : onlyOne(thread?.next));
    if (where) parts.push(t("debug.inNodes", { nodes: where }));
  } else if (running) parts.push(t("debug.stepN", { n: step }));
  // The run of a program with another data folder is not known here, only the last one that ended.
  if (running && run && run.endedAt === undefined) parts.push(elapsed(now - Date.parse(run.startedAt)));
  else if (!running && run?.endedAt)
    parts.push(duration(Date.parse(run.endedAt) - Date.parse(run.startedAt)));
  if (!running && cost) for (const [currency, amount] of cost) parts.push(money(amount, currency));
  // A run that ended leads to its result, any other to the node that it stands at.
  const [node] = standing.length > 0 ? standing : status === "done" ? [] : (thread?.next ?? []);
  const lead = () => {
    const session = useSession.getState();
    session.setUse("debug");
    if (node === undefined) session.showTab("right", "state", "debug");
    else focusNode(node);
  };
  return (
    <button
      type="button"
      className="flex h-6 min-w-0 shrink! items-center gap-1.5 rounded-md px-2 text-xs text-text-2 hover:bg-surface-3"
      title={
        program ?? (node === undefined ? t("debug.status.showResult") : t("debug.status.showNode", { node }))
      }
      onClick={lead}
      data-testid={debugIds.status}
      data-status={status}
    >
      <StatusMark status={status} />
      <span className="min-w-0 tabular-nums max-w-[clamp(80px,18vw,320px)] truncate" aria-live="polite">
        {parts.join(" · ")}
      </span>
    </button>
  );
}

/** Which of several nodes asks or failed is not known before the snapshot is here. */
const onlyOne = (next: readonly string[] = []): readonly string[] => (next.length === 1 ? next : []);

function nodesThat(
  status: ShownStatus | undefined,
  snapshot: SnapshotView | undefined,
  live: LiveTasks | undefined,
): string[] {
  const tasks = new Map<string, { node: string; status: string }>();
  for (const task of snapshot?.tasks ?? []) tasks.set(task.id, task);
  for (const task of live?.tasks.values() ?? []) tasks.set(task.id, task);
  return [...tasks.values()].filter((task) => task.status === status).map((task) => task.node);
}

function useRunCommands() {
  useEffect(() => {
    const group = t("debug.group");
    const moveCheckpoint = (by: 1 | -1) => () => {
      const { cursor, setCursor } = useSession.getState();
      if (cursor.threadId === null) return;
      const next = neighbour(by);
      if (next !== undefined) setCursor({ checkpointId: next });
    };
    return registerCommands([
      {
        id: "run.start",
        group,
        title: t("debug.command.run"),
        run: () => void go(),
        enabled: () => hasGraph(),
      },
      {
        id: "run.replay",
        group,
        title: t("debug.command.replay"),
        run: () => void replayHere(),
        enabled: () => hasGraph(),
      },
      {
        id: "run.continue",
        group,
        title: t("debug.command.continue"),
        run: () => void go(),
        enabled: () => hasGraph() && useSession.getState().cursor.threadId !== null,
      },
      {
        id: "run.step",
        group,
        title: t("debug.command.step"),
        run: () => void step(),
        enabled: () => hasGraph(),
      },
      {
        id: "run.stepInto",
        group,
        title: t("debug.command.stepInto"),
        run: () => void step("into"),
        enabled: () => hasGraph(),
      },
      {
        id: "run.stepOut",
        group,
        title: t("debug.command.stepOut"),
        run: () => void stepOut(),
        enabled: () =>
          useNested.getState().at === null && standsInside(useNested.getState(), useSession.getState()),
      },
      {
        id: "run.showNested",
        group,
        title: t("debug.command.showNested"),
        run: showInnermost,
        enabled: () => standsInside(useNested.getState(), useSession.getState()),
      },
      {
        id: "run.pause",
        group,
        title: t("debug.command.pause"),
        run: () => void pause(),
        enabled: () => runsNow(),
      },
      {
        id: "run.stop",
        group,
        title: t("debug.command.stop"),
        run: () => void stop(),
        enabled: () => runsNow(),
      },
      {
        id: "run.withInput",
        group,
        title: t("debug.run.withInput"),
        run: showRunForm,
        enabled: () => hasGraph() && !cannotRun(useOnlyRead.getState()),
      },
      {
        id: "debug.backToNow",
        group,
        title: t("debug.backToNow"),
        run: () => useSession.getState().setCursor({ checkpointId: null }),
        enabled: () => useSession.getState().cursor.checkpointId !== null,
      },
      {
        id: "debug.previousCheckpoint",
        group,
        title: t("debug.command.previous"),
        run: moveCheckpoint(-1),
        enabled: inThread,
      },
      {
        id: "debug.nextCheckpoint",
        group,
        title: t("debug.command.next"),
        run: moveCheckpoint(1),
        enabled: inThread,
      },
    ]);
  }, []);
}

const hasGraph = () => useSession.getState().graphId !== null;
const inThread = () =>
  useSession.getState().use === "debug" && useSession.getState().cursor.threadId !== null;
const runsNow = () => statusOf(useRuns.getState(), useSession.getState().cursor.threadId) === "running";
