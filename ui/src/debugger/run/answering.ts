/** Answering and withdrawing questions. */
import type { Question } from "../../ipc/bindings/Question";
import { rpc } from "../../ipc/client";
import { flush } from "../../document/open-graph";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { isBusyElsewhere, takingOver } from "../../state/take-over";
import { showProblem, showToast } from "../../state/toasts";
import { isSent, leave, refuse, settled, taken } from "../model/inbox";
import { noteRun } from "../model/events";
import { useRuns } from "../model/runStore";
import { asProblem } from "../parts/problem";
import { currentBreaks } from "./breakpoints";
import { graphKey } from "./run-form";
import { labelsFor } from "./run-labels";
import { asksAt } from "./situation";
import { graphFor, models, runnable, settle } from "./start";

/** Asks the menu of the question that is shown to withdraw it. */
export const WITHDRAW = "superstep:withdraw";
/** Asks the answer form in the debug view to take the focus. */
export const FOCUS_ANSWER = "superstep:focus-answer";
export function focusAnswer(): void {
  const session = useSession.getState();
  session.setUse("debug");
  if (!asksAt(session.cursor)) session.setCursor({ checkpointId: null });
  session.showTab("right", "state", "debug");
  // The form is in that tab: it is there one turn later.
  setTimeout(() => window.dispatchEvent(new Event(FOCUS_ANSWER)), 0);
}

/**
 * Answers a question at its checkpoint and lets the thread go on from there. The question leaves the inbox at once, and
 * comes back with the reason when the answer is not taken. A thread of the open graph runs with the document as it is;
 * any other with the graph it ran with.
 */
export async function answer(question: Question, value: unknown): Promise<void> {
  if (isSent(question)) return;
  const { threadId, checkpointId, interruptId } = question;
  try {
    const session = useSession.getState();
    const ofOpenGraph = session.graphId !== null && useRuns.getState().threads.has(threadId);
    const graphId = ofOpenGraph ? session.graphId : null;
    // Another branch has gone on from here: what it did would be done again.
    const effects =
      question.branch === undefined ? {} : await settle(threadId, { checkpointId, going: "answer" }, graphId);
    if (effects === null || isSent(question)) return;
    if (ofOpenGraph) await flush();
    const graph = await graphFor(
      { type: "resume", answers: { [interruptId]: value }, checkpointId },
      threadId,
      graphId,
    );
    if (graph === null || isSent(question)) return;
    leave(question);
    const run = await runnable((flag) =>
      rpc("run.start", {
        ...flag,
        ...(graphId !== null && { graphId }),
        threadId,
        ...graph,
        ...(ofOpenGraph ? currentBreaks() : {}),
        singleStep: false,
        stepInto: false,
        ...effects,
        ...models(threadId),
        ...labelsFor(graphKey(), threadId),
      }),
    );
    noteRun(run);
    taken(question, run);
    const { cursor, setCursor } = useSession.getState();
    if (cursor.threadId === threadId && cursor.checkpointId === checkpointId)
      setCursor({ checkpointId: null });
  } catch (thrown) {
    const problem = asProblem(thrown);
    if (problem.code === "already-answered" || (problem.code === "busy" && !(await stillWaits(question)))) {
      settled(question);
      const [text = ""] = question.text.split("\n", 1);
      showToast({
        tone: "warning",
        text: t("debug.inbox.lost"),
        detail: t("debug.inbox.lostText", { text }),
      });
    } else refuse(question, problem);
  }
}

async function stillWaits({ threadId, checkpointId, interruptId }: Question): Promise<boolean> {
  try {
    const { questions } = await rpc("inbox.list", { threadId });
    return questions.some((each) => each.interruptId === interruptId && each.checkpointId === checkpointId);
  } catch {
    return true;
  }
}

/** Takes a question back: nobody is asked any more, and the thread stays where it is. */
export async function withdraw(question: Question, why: string): Promise<void> {
  const { threadId, checkpointId, interruptId } = question;
  leave(question);
  try {
    await takingOver((flag) =>
      rpc("question.withdraw", {
        ...flag,
        threadId,
        checkpointId,
        interruptId,
        ...(why.trim() !== "" && { why: why.trim() }),
      }),
    );
    settled(question);
  } catch (thrown) {
    const problem = asProblem(thrown);
    if (problem.code === "already-answered") settled(question);
    else refuse(question, null);
    if (!isBusyElsewhere(thrown)) showProblem(thrown);
  }
}
