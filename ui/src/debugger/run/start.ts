/**
 * Starting a run: pending edits of the document are sent first, what would work again and whether the graph has changed is
 * asked, and a refusal is shown where everybody looks for it.
 */
import type { Breakpoint } from "../../ipc/bindings/Breakpoint";
import type { NestedCheckpointRef } from "../../ipc/bindings/NestedCheckpointRef";
import type { RunAction } from "../../ipc/bindings/RunAction";
import type { RunModels } from "../../ipc/bindings/RunModels";
import type { StartRun } from "../../ipc/bindings/StartRun";
import { rpc } from "../../ipc/client";
import { filledByNodes } from "../../document/inputs";
import { doc } from "../../document/store";
import { flush } from "../../document/open-graph";
import { tn } from "../../lib/texts";
import { endCalm } from "../../state/reduced-motion";
import { useSession } from "../../state/session";
import { isBusyElsewhere, takingOver } from "../../state/take-over";
import { showProblem, showToast } from "../../state/toasts";
import { notAllowed, trusted } from "../../state/trust";
import { noteStep } from "../model/nested";
import { noteRun } from "../model/events";
import { useRuns } from "../model/runStore";
import { isObject } from "../parts/diff";
import { currentBreaks } from "./breakpoints";
import { type Going, settleEffects } from "./effects";
import { settleGraph } from "./hot-edit";
import { contextFor } from "./run-context";
import { labelsFor } from "./run-labels";
import { graphKey, runForm, showRunForm } from "./run-form";
import {
  inputFor,
  inputKeysOf,
  isEmptyInput,
  mainKeys,
  missingKeys,
  rememberInput,
  samplesOf,
  spoken,
  useRunInput,
} from "./run-input";
import { chosenModels, useRunModels } from "./run-models";
import { errorCount, isPast } from "./situation";

/** Brings the problems of the document into view. */
export function showProblems(): void {
  const session = useSession.getState();
  session.showTab("bottom", "problems", session.use === "approve" ? "design" : session.use);
}

/** The request for a run. */
interface Start {
  readonly action: RunAction;
  readonly threadId?: string;
  readonly step?: Step | undefined;
  /** The task that alone runs. */
  readonly task?: string | undefined;
  /** Places at which it stops, beside the breakpoints. */
  readonly to?: readonly Stop[] | undefined;
  /** It goes on from a place that the thread may have gone on from before: what would work again is asked about. */
  readonly from?: GoneFrom | undefined;
}

/** Where a run goes on: at a checkpoint of the graph, or of a nested graph that ran after it. */
interface GoneFrom {
  readonly checkpointId?: string | undefined;
  readonly within?: NestedCheckpointRef;
  readonly going: Going;
}

/** One super-step and no more: of the graph on the canvas, or of the one that its next task runs. */
export type Step = "over" | "into";

/** A place at which one run stops: before a node, or on an edge. */
export type Stop = Pick<Breakpoint, "when" | "node" | "to" | "condition">;

/** How far a run goes: a step, or to a place. */
export interface Options {
  readonly step?: Step;
  readonly to?: readonly Stop[];
}

let starting = false;

/** Answers whether the run was started. */
export async function start({ action, threadId, step, task, to, from }: Start): Promise<boolean> {
  // A second press before the first has been answered would start a second thread.
  if (starting) return false;
  starting = true;
  try {
    await flush();
    const session = useSession.getState();
    if (errorCount() > 0) {
      endCalm();
      showProblems();
      const problems = errorCount();
      showToast({
        tone: "problem",
        text: tn("debug.run.errorsOne", "debug.run.errors", problems),
      });
      return false;
    }
    const settled = from && threadId !== undefined ? await settle(threadId, from, session.graphId) : {};
    if (settled === null) return false;
    const graph = await graphFor(action, threadId, session.graphId);
    if (graph === null) return false;
    const run = await runnable((flag) =>
      rpc("run.start", {
        ...flag,
        ...(session.graphId !== null && { graphId: session.graphId }),
        ...(threadId !== undefined && { threadId }),
        ...graph,
        ...settled,
        breakpoints: [
          ...currentBreaks().breakpoints,
          ...(to ?? []).map((stop, at) => ({ ...stop, id: `run-to-${at}`, enabled: true })),
        ],
        singleStep: step !== undefined,
        stepInto: step === "into",
        ...(task !== undefined && { stepTask: task }),
        ...recursionLimit(),
        ...models(threadId ?? null),
        ...labelsFor(graphKey(), threadId ?? null),
        ...(action.type === "input" && contextFor(doc.head, graphKey())),
      }),
    );
    noteStep(run, step === "into");
    noteRun(run);
    useSession.getState().setUse("debug");
    useSession.getState().setCursor({ threadId: run.threadId, checkpointId: null });
    runForm.close();
    return true;
  } catch (problem) {
    if (!notAllowed(problem) && !isBusyElsewhere(problem)) showProblem(problem);
    return false;
  } finally {
    starting = false;
  }
}

/** What is run, with which version of the graph where it has changed since the thread ran; `null` when the person does not go on. */
export async function graphFor(
  action: RunAction,
  threadId: string | undefined,
  graphId: string | null,
): Promise<Pick<StartRun, "action" | "graphVersion" | "renamed"> | null> {
  if (threadId === undefined || action.type === "input") return { action };
  const at = action.type === "continue" ? undefined : action.checkpointId;
  const settled = await settleGraph({
    threadId,
    ...(at !== undefined && { checkpointId: at }),
    ...(graphId !== null && { graphId }),
  });
  if (settled === null) return null;
  const { fork, ...graph } = settled;
  const from = at ?? useRuns.getState().checkpoints.get(threadId)?.list[0]?.id;
  const within = action.type === "replay" ? action.within : undefined;
  if (fork && from !== undefined)
    return { action: { type: "replay", checkpointId: from, ...(within && { within }) }, ...graph };
  return { action, ...graph };
}

/** Runs once everything is allowed and nobody else runs the thread. */
export const runnable = <T>(run: (flag: { takeOver?: true }) => Promise<T>): Promise<T> =>
  takingOver((flag) => trusted(() => run(flag)));

/** What is to happen with what would work again, for `run.start`; `null` when the person does not go on. */
export async function settle(
  threadId: string,
  { checkpointId, within, going }: GoneFrom,
  graphId: string | null,
): Promise<Pick<StartRun, "effects"> | null> {
  const known = useRuns.getState().checkpoints.get(threadId)?.list ?? [];
  const step = (
    checkpointId === undefined ? known[0] : known.find((checkpoint) => checkpoint.id === checkpointId)
  )?.step;
  const found = await settleEffects(
    {
      threadId,
      ...(checkpointId !== undefined && { checkpointId }),
      ...(within && { within }),
      ...(graphId !== null && { graphId }),
    },
    going,
    step,
  );
  if (found === null) return null;
  reportLeftQuestions(found.questionsLeft);
  return found.effects ? { effects: found.effects } : {};
}

/** Says that questions of the branch that was left keep waiting. */
export function reportLeftQuestions(questions: number): void {
  if (questions > 0)
    showToast({ tone: "info", text: tn("debug.effects.leftOne", "debug.effects.left", questions) });
}

export function models(threadId: string | null): { models?: RunModels } {
  const models = chosenModels(useRunModels.getState(), graphKey(), threadId);
  return models === undefined ? {} : { models };
}

function recursionLimit(): { recursionLimit?: number } {
  const limit = doc.head["recursion_limit"];
  return typeof limit === "number" ? { recursionLimit: limit } : {};
}

/** Starts with what is in the form; opens the form when there is nothing to start with. */
export async function runInput(options: Options & { target?: "new" | "thread" } = {}): Promise<boolean> {
  const { drafts } = useRunInput.getState();
  const input = inputFor(drafts, graphKey(), samplesOf(doc.head));
  if (errorCount() > 0) {
    await flush();
    if (errorCount() > 0) {
      endCalm();
      showProblems();
      return false;
    }
  }
  // A finished conversation is gone on with, which takes a new message.
  const { cursor } = useSession.getState();
  const conversation =
    cursor.threadId !== null && doc.names("key").some((name) => isMessages(doc.get(`key:${name}`)));
  if (conversation || (isEmptyInput(input) && isMissing(input))) {
    showRunForm();
    runForm.miss();
    return false;
  }
  return startWithInput(spoken(input), options);
}

/** Does the graph need something that an empty input does not say? One whose keys have defaults runs from them. */
function isMissing(input: Readonly<Record<string, unknown>>): boolean {
  const kinds = useSession.getState().appInfo?.kinds ?? [];
  const keys = doc.names("key").map((name) => {
    const key = doc.get(`key:${name}`);
    return [name, isObject(key) ? key : {}] as const;
  });
  const names = keys.map(([name]) => name);
  return (
    missingKeys(
      keys,
      mainKeys(names, inputKeysOf(doc.head), samplesOf(doc.head), input, filledByNodes(doc, kinds)),
    ).length > 0
  );
}

const isMessages = (key: unknown): boolean => isObject(key) && key["reducer"] === "add_messages";

export async function startWithInput(
  input: Record<string, unknown>,
  {
    step,
    to,
    target = "new",
    at,
  }: {
    step?: Step | undefined;
    to?: readonly Stop[] | undefined;
    target?: "new" | "thread";
    /** The checkpoint whose state it is given to, when that is not the one under the cursor. */
    at?: string | undefined;
  } = {},
): Promise<boolean> {
  const { cursor } = useSession.getState();
  const onThread = target === "thread" && cursor.threadId !== null;
  const from = onThread ? (at ?? (isPast(cursor) ? cursor.checkpointId : null)) : null;
  const begun = await start({
    action: { type: "input", input, ...(from !== null && { checkpointId: from }) },
    ...(onThread && cursor.threadId !== null && { threadId: cursor.threadId }),
    step,
    to,
    from: from === null ? undefined : { checkpointId: from, going: "run" },
  });
  if (begun) {
    runForm.filled();
    rememberInput(graphKey(), input);
  }
  return begun;
}
