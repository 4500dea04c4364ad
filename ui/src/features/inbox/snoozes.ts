/** Puts questions off: kept in the data folder, so that every window shows the same. */
import { loadInbox } from "../../debugger/model/inbox";
import type { Snooze } from "../../debugger/run/answering";
import type { Question } from "../../ipc/bindings/Question";
import type { QuestionRef } from "../../ipc/bindings/QuestionRef";
import { rpc } from "../../ipc/client";
import { showProblem } from "../../state/toasts";

const HOUR = 3_600_000;

/** Nine in the morning of the day after this time. */
function nextMorning(now: number): number {
  const at = new Date(now);
  at.setDate(at.getDate() + 1);
  at.setHours(9, 0, 0, 0);
  return at.getTime();
}

export const placeOf = ({ threadId, checkpointId, interruptId }: Question): QuestionRef => ({
  threadId,
  checkpointId,
  interruptId,
});

/** Puts questions off, or brings them back. */
export async function snooze(questions: readonly Question[], how: Snooze): Promise<void> {
  const now = Date.now();
  const until = how === "hour" ? now + HOUR : how === "tomorrow" ? nextMorning(now) : undefined;
  try {
    await rpc("question.snooze", {
      questions: questions.map(placeOf),
      ...(until !== undefined && { until }),
    });
    await loadInbox();
  } catch (problem) {
    showProblem(problem);
  }
}
