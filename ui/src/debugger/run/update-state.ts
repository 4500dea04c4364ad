/**
 * Edits of a thread's state that are made: those that a person has collected, a fork at once from a past checkpoint, or a
 * step that is skipped. Each is one checkpoint.
 */
import type { UpdateState } from "../../ipc/bindings/UpdateState";
import type { Updated } from "../../ipc/bindings/Updated";
import { rpc } from "../../ipc/client";
import { flush } from "../../document/open-graph";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { takingOver } from "../../state/take-over";
import { showProblem, showToast } from "../../state/toasts";
import { loadCheckpoints } from "../model/checkpoints";
import { snapshots } from "../model/runStore";
import { asProblem, type ShownProblem } from "../parts/problem";
import { useEdits } from "../state/edits";
import { continueThread } from "./actions";
import { reportLeftQuestions } from "./start";

export interface ForkEdit {
  readonly threadId: string;
  readonly checkpointId: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** Keys whose value replaces what is there, past their reducer. */
  readonly overwrite: readonly string[];
  /** Absent: the node that ran last. */
  readonly asNode?: string;
}

interface Place {
  readonly threadId: string;
  /** Null: now. */
  readonly checkpointId: string | null;
}
type Write = Pick<UpdateState, "values" | "overwrite" | "asNode" | "skipStep">;

const writeOf = ({ values, overwrite, asNode }: ForkEdit): Write => ({
  values,
  overwrite: [...overwrite],
  ...(asNode !== undefined && { asNode }),
});

async function update(
  { threadId, checkpointId }: Place,
  write: Write,
  preview: boolean,
  signal?: AbortSignal,
): Promise<Updated> {
  await flush();
  const { graphId } = useSession.getState();
  return takingOver((flag) =>
    rpc(
      "thread.update",
      {
        ...flag,
        threadId,
        ...(checkpointId !== null && { checkpointId }),
        ...(graphId !== null && { graphId }),
        ...write,
        preview,
      },
      signal,
    ),
  );
}

/** What would run next. */
export const previewFork = (edit: ForkEdit, signal: AbortSignal): Promise<Updated> =>
  update(edit, writeOf(edit), true, signal);

/** Makes it, and goes there. */
export async function makeFork(edit: ForkEdit): Promise<Updated> {
  const updated = await update(edit, writeOf(edit), false);
  await goThere(edit, updated);
  return updated;
}

/** Passes by the step after a checkpoint, on a new branch, and runs what follows. */
export async function skipStep(place: Place): Promise<void> {
  try {
    const updated = await update(place, { values: null, overwrite: [], skipStep: true }, false);
    await goThere(place, updated);
    if (updated.next.length > 0) await continueThread(place.threadId);
    else showToast({ tone: "info", text: t("debug.skip.ends"), detail: t("debug.skip.endsText") });
  } catch (problem) {
    showProblem(problem);
  }
}

/** Shows the newest checkpoint, which the edit has made. */
async function goThere(edit: Place, updated: Updated): Promise<void> {
  snapshots.reset(edit.threadId);
  useSession.getState().setCursor({ threadId: edit.threadId, checkpointId: null, taskId: null });
  await loadCheckpoints(edit.threadId, true);
  void reportLeftQuestionsAt(edit.threadId, updated.checkpointId);
}

/** Applies the pending edits as one checkpoint. Moves the cursor to now, where the new checkpoint is the newest. */
export async function applyEdits(request: {
  values: unknown;
  overwrite: string[];
}): Promise<ShownProblem | Updated> {
  const { pending } = useEdits.getState();
  if (!pending) return { code: "nothing", message: t("debug.edit.nothing") };
  try {
    const updated = await updatePending(request, false);
    useEdits.getState().clear();
    await goThere(pending, updated);
    return updated;
  } catch (problem) {
    return asProblem(problem);
  }
}

/** After an edit: says when questions of the branch that was left keep waiting. */
async function reportLeftQuestionsAt(threadId: string, checkpointId: string | undefined): Promise<void> {
  const { graphId } = useSession.getState();
  try {
    const { questionsLeft } = await rpc("run.effects", {
      threadId,
      ...(checkpointId !== undefined && { checkpointId }),
      ...(graphId !== null && { graphId }),
    });
    reportLeftQuestions(questionsLeft);
  } catch {
    // The edit is made; that nothing is reported of other branches harms nobody.
  }
}

export async function previewEdits(
  request: { values: unknown; overwrite: string[] },
  signal?: AbortSignal,
): Promise<ShownProblem | Updated> {
  try {
    return await updatePending(request, true, signal);
  } catch (problem) {
    return asProblem(problem);
  }
}

async function updatePending(
  request: { values: unknown; overwrite: string[] },
  preview: boolean,
  signal?: AbortSignal,
): Promise<Updated> {
  const { pending } = useEdits.getState();
  if (!pending) throw new Error(t("debug.edit.nothing"));
  const write = { ...request, ...(pending.asNode !== undefined && { asNode: pending.asNode }) };
  return update(pending, write, preview, signal);
}

export const isProblem = (answer: ShownProblem | Updated): answer is ShownProblem => "message" in answer;
