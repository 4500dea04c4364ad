/** What a person can do to a run: start, continue, step, stop, replay. */
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import type { NestedCheckpointRef } from "../../ipc/bindings/NestedCheckpointRef";
import { rpc } from "../../ipc/client";
import { flush } from "../../document/open-graph";
import { t } from "../../lib/texts";
import { shortcutKeys } from "../../components/Kbd";
import { endCalm } from "../../state/reduced-motion";
import { shortcutOf } from "../../state/keymap";
import { useSession } from "../../state/session";
import { isBusyElsewhere, takingOver } from "../../state/take-over";
import { showProblem, showToast } from "../../state/toasts";
import { isInside } from "../model/nested";
import { useRuns } from "../model/runStore";
import { focusAnswer } from "./answering";
import { currentControls, errorCount } from "./situation";
import { type Options, runInput, showProblems, start, type Step, type Stop } from "./start";

/** What the primary button does. In the past it runs nothing. */
export async function primary(options: Options = {}): Promise<void> {
  const controls = currentControls();
  if (controls.primaryOff !== null) return;
  const { cursor, setCursor } = useSession.getState();
  if (controls.primary === "now") {
    setCursor({ checkpointId: null });
    return;
  }
  if (controls.primary === "answer") {
    focusAnswer();
    return;
  }
  if (controls.blocked) {
    await flush();
    if (errorCount() > 0) {
      endCalm();
      showProblems();
      return;
    }
  }
  if (controls.primary === "run") await runInput(options);
  else if (cursor.threadId !== null) await continueThread(cursor.threadId, options);
}

/** What F5, its like and the palette do: the same, but in the past they only say what there is to do. */
export async function go(): Promise<void> {
  if (currentControls().past) tellPast();
  else await primary();
}

/** Runs until one of the places is reached: from where F5 would, or from the moment of the past that is shown. */
export async function runTo(to: readonly Stop[]): Promise<void> {
  const controls = currentControls();
  const { threadId, checkpointId } = useSession.getState().cursor;
  if (!controls.past) await primary({ to });
  else if (controls.replayOff !== null) showToast({ tone: "info", text: controls.replayOff });
  else if (threadId !== null && checkpointId !== null) await replay(threadId, checkpointId, { to });
}

export const beforeNode = (node: string): readonly Stop[] => [{ when: "before", node }];

/**
 * Runs until what runs next at a checkpoint runs next again: at its step where the run begins before it, so that a loop
 * goes as many rounds, else as soon as these nodes are reached. It begins now, or at another moment that is shown.
 */
export async function runToCheckpoint({ id, step, next }: CheckpointView): Promise<void> {
  const session = useSession.getState();
  if (session.cursor.checkpointId === id) session.setCursor({ checkpointId: null });
  const { threadId, checkpointId } = useSession.getState().cursor;
  const known = useRuns.getState().checkpoints.get(threadId ?? "")?.list ?? [];
  const from = checkpointId === null ? known[0] : known.find((checkpoint) => checkpoint.id === checkpointId);
  const isNew = checkpointId === null && currentControls().primary === "run";
  const isBefore = isNew || from === undefined || from.step < step;
  await runTo(
    next.map((node) => ({
      when: "before",
      node,
      ...(isBefore && { condition: `run.step > ${step}` }),
    })),
  );
}

export async function step(how: Step = "over"): Promise<void> {
  const controls = currentControls();
  if (controls.past) tellPast();
  // A step is one of the graph that is looked at.
  else if (controls.stepOff === null) await primary({ step: isInside() ? "into" : how });
}

/** Runs one task of the step that the thread has come to, and holds the others back. */
export async function stepTask(task: string): Promise<void> {
  const controls = currentControls();
  const { threadId } = useSession.getState().cursor;
  if (controls.past) tellPast();
  else if (controls.stepOff === null && threadId !== null) await continueThread(threadId, { task });
}

/** Runs until the nested graphs that the run is inside of are done. */
export async function stepOut(): Promise<void> {
  const controls = currentControls();
  if (controls.past) tellPast();
  else if (controls.stepOff === null) await primary({ step: "over" });
}

const keyFor = (command: string): string => shortcutKeys(shortcutOf(command)).join("+");

/** Nothing runs from the past by a key that means "go on" elsewhere. */
function tellPast(): void {
  showToast({
    tone: "info",
    text: t("debug.past.keys"),
    detail: t("debug.past.keysText", { replay: keyFor("run.replay"), now: keyFor("debug.backToNow") }),
  });
}

export async function continueThread(
  threadId: string,
  options: Options & { task?: string } = {},
): Promise<void> {
  const head = useRuns.getState().checkpoints.get(threadId)?.list[0];
  // After an edit or a fork the thread goes a way that it may have gone before.
  const again = head === undefined || head.source === "update" || head.source === "fork";
  await start({
    action: { type: "continue" },
    threadId,
    ...options,
    from: again ? { checkpointId: head?.id, going: "continue" } : undefined,
  });
}

export async function replay(threadId: string, checkpointId: string, options: Options = {}): Promise<void> {
  await start({
    action: { type: "replay", checkpointId },
    threadId,
    ...options,
    from: { checkpointId, going: "replay" },
  });
}

/** Replays from a checkpoint of a nested graph, on a new branch: what that graph did before it stays. */
export async function replayWithin(
  threadId: string,
  checkpointId: string,
  within: NestedCheckpointRef,
): Promise<void> {
  await start({
    action: { type: "replay", checkpointId, within },
    threadId,
    from: { checkpointId, within, going: "replay" },
  });
}

/** Replays from the checkpoint under the cursor; says why when that can not be. */
export async function replayHere(): Promise<void> {
  const { replayOff } = currentControls();
  const { cursor } = useSession.getState();
  if (replayOff !== null) showToast({ tone: "info", text: replayOff });
  else if (cursor.threadId !== null && cursor.checkpointId !== null)
    await replay(cursor.threadId, cursor.checkpointId);
}

const stopping = new Set<string>();

export async function stop(threadId: string | null = useSession.getState().cursor.threadId): Promise<void> {
  if (threadId === null || stopping.has(threadId)) return;
  stopping.add(threadId);
  try {
    await takingOver((flag) => rpc("run.stop", { ...flag, threadId }));
  } catch (problem) {
    if (!isBusyElsewhere(problem)) showProblem(problem);
  } finally {
    stopping.delete(threadId);
  }
}
