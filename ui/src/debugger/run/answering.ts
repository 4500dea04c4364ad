/** Answering and withdrawing questions. */
import type { AnswersTaken } from "../../ipc/bindings/AnswersTaken";
import type { Question } from "../../ipc/bindings/Question";
import type { RunAction } from "../../ipc/bindings/RunAction";
import type { StartRun } from "../../ipc/bindings/StartRun";
import { rpc, RpcProblem } from "../../ipc/client";
import { flush } from "../../document/open-graph";
import { grouped } from "../../lib/grouped";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { isBusyElsewhere, takingOver } from "../../state/take-over";
import { showProblem, showToast } from "../../state/toasts";
import { isSent, leave, refuse, settled, showLost, takenBack, useInbox } from "../model/inbox";
import { useRuns } from "../model/runStore";
import { asProblem } from "../parts/problem";
import { currentBreaks } from "./breakpoints";
import { graphKey } from "./run-form";
import { labelsFor } from "./run-labels";
import { asksAt } from "./situation";
import { graphFor, models, runnable, settle } from "./start";

/** Asks the menu of the question that is shown to withdraw it. */
export const WITHDRAW = "superstep:withdraw";
/** Asks the list of questions to put off those that are selected; its detail says until when. */
export const SNOOZE = "superstep:snooze";
export const SNOOZES = ["hour", "tomorrow", "end"] as const;
export type Snooze = (typeof SNOOZES)[number];
/** Asks the menu of the question that is shown to hand it to somebody; its detail says how. */
export const DELEGATE = "superstep:delegate";
export const DELEGATIONS = ["delegate", "escalate", "back"] as const;
export type DelegateHow = Exclude<(typeof DELEGATIONS)[number], "back">;
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

/** An answer to a question. */
export interface Given {
  readonly question: Question;
  readonly value: unknown;
}

/** Answers a question. */
export const answer = (question: Question, value: unknown, note = ""): Promise<void> =>
  answerStep([{ question, value }], note);

/**
 * Answers questions of one checkpoint together: the answers are held, and given when their time is over and the thread is
 * free. The questions leave the inbox at once, and come back with the reason when the answers are not taken. A thread of the
 * open graph runs with the document as it is; any other with the graph it ran with.
 */
export async function answerStep(given: readonly Given[], note = ""): Promise<void> {
  const questions = given.map(({ question }) => question);
  const [first] = questions;
  if (!first || questions.some(isSent)) return;
  const { threadId, checkpointId } = first;
  try {
    const session = useSession.getState();
    const graphId = openGraphOf(threadId);
    // Another branch has gone on from here: what it did would be done again.
    const effects =
      first.branch === undefined ? {} : await settle(threadId, { checkpointId, going: "answer" }, graphId);
    if (effects === null || questions.some(isSent)) return;
    if (graphId !== null) await flush();
    const graph = await graphFor(resume(given), threadId, graphId);
    if (graph === null || questions.some(isSent)) return;
    leave(questions);
    const { held } = await runnable((flag) =>
      give([{ ...startOf(threadId), ...flag, ...graph, ...effects }], note),
    );
    settled(questions, held);
    lastGiven.push(held.map(({ id }) => id));
    const { cursor, setCursor } = session;
    if (cursor.threadId === threadId && cursor.checkpointId === checkpointId)
      setCursor({ checkpointId: null });
  } catch (thrown) {
    const problem = asProblem(thrown);
    if (
      problem.code === "already-answered" ||
      (problem.code === "busy" && questions.length === 1 && !(await stillWaits(first)))
    ) {
      settled(questions);
      showLost(first.text);
    } else refuse(questions, problem);
  }
}

/**
 * Answers alike questions of any threads together. Nobody is asked about single threads: one where that is needed comes
 * back with the reason, and is answered by itself.
 */
export async function answerAll(given: readonly Given[], note = ""): Promise<void> {
  const steps = [
    ...grouped(given, ({ question: { threadId, checkpointId } }) => `${threadId} ${checkpointId}`).values(),
  ];
  const ids: number[] = [];
  lastGiven.push(ids);
  leave(given.map(({ question }) => question));
  for (let from = 0; from < steps.length; from += AT_ONCE) {
    const now = steps.slice(from, from + AT_ONCE);
    const questions = now.flat().map(({ question }) => question);
    try {
      const { held, refused } = await runnable((flag) =>
        give(
          now.map((step) => ({ ...startOf(step[0].question.threadId), ...flag, action: resume(step) })),
          note,
        ),
      );
      ids.push(...held.map(({ id }) => id));
      const failed = new Set(
        refused.flatMap(({ start }) => now[start]?.map(({ question }) => question) ?? []),
      );
      settled(
        questions.filter((question) => !failed.has(question)),
        held,
      );
      for (const { start, problem } of refused)
        refuse(now[start]?.map(({ question }) => question) ?? [], asProblem(problem));
    } catch (problem) {
      refuse(questions, asProblem(problem));
    }
  }
}

/** Threads whose answers are sent in one request. */
const AT_ONCE = 500;

/** The document that a thread runs with, when it is of the graph that is open. */
function openGraphOf(threadId: string): string | null {
  return useRuns.getState().threads.has(threadId) ? useSession.getState().graphId : null;
}

function startOf(threadId: string): Omit<StartRun, "action"> {
  const graphId = openGraphOf(threadId);
  return {
    ...(graphId !== null && { graphId, ...currentBreaks() }),
    threadId,
    singleStep: false,
    stepInto: false,
    ...models(threadId),
    ...labelsFor(graphKey(), threadId),
  };
}

const resume = (given: readonly Given[]): Extract<RunAction, { type: "resume" }> => ({
  type: "resume",
  answers: Object.fromEntries(given.map(({ question, value }) => [question.interruptId, value])),
  ...(given[0] && { checkpointId: given[0].question.checkpointId }),
});

/** Keeps the answers of these runs; throws when none of them is taken. */
async function give(starts: StartRun[], note: string): Promise<AnswersTaken> {
  const words = note.trim();
  const taken = await rpc("answer.give", { starts, ...(words !== "" && { note: words }) });
  const [first] = taken.refused;
  if (first && taken.refused.length === starts.length) throw new RpcProblem(first.problem);
  return taken;
}

/** What was given together, the last at the end. */
const lastGiven: (readonly number[])[] = [];

/** The answers that can still be taken back and were given last, all that were given together. */
export function heldLast(): readonly number[] {
  const open = new Set(useInbox.getState().held.map(({ id }) => id));
  while (lastGiven.length > 0 && !lastGiven.at(-1)?.some((id) => open.has(id))) lastGiven.pop();
  const last = lastGiven.at(-1)?.filter((id) => open.has(id));
  return last ?? [...open].slice(-1);
}

/** Takes held answers back: their questions wait again. */
export async function takeBack(ids: readonly number[]): Promise<void> {
  try {
    const { changed } = await rpc("answer.takeBack", { ids: [...ids] });
    takenBack(ids);
    if (changed < ids.length) showToast({ tone: "warning", text: t("debug.held.late") });
  } catch (problem) {
    showProblem(problem);
  }
}

/** Gives held answers without waiting any longer. */
export async function giveNow(ids: readonly number[]): Promise<void> {
  try {
    await rpc("answer.giveNow", { ids: [...ids] });
  } catch (problem) {
    showProblem(problem);
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
  leave([question]);
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
    settled([question]);
  } catch (thrown) {
    const problem = asProblem(thrown);
    if (problem.code === "already-answered") settled([question]);
    else refuse([question], null);
    if (!isBusyElsewhere(thrown)) showProblem(thrown);
  }
}
