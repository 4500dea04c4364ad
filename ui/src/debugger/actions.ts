/**
 * What a person can do to a run: start, continue, step, stop, replay, answer, edit. Each sends pending edits of the
 * document first, says at once what it does, and shows a refusal where everybody looks for it.
 */
import type { RunAction } from "../ipc/bindings/RunAction";
import type { RunModels } from "../ipc/bindings/RunModels";
import type { Updated } from "../ipc/bindings/Updated";
import { rpc } from "../ipc/client";
import { doc, flush, useDocumentState } from "../document/store";
import { t } from "../lib/texts";
import { useSession } from "../state/session";
import { showProblem, showToast } from "../state/toasts";
import { notAllowed, trusted } from "../state/trust";
import { currentBreaks } from "./breakpoints";
import { isObject } from "./diff";
import { controlsFor, type Controls, type Situation } from "./controls";
import { useEdits } from "./edits";
import { inputFor, isEmptyInput, rememberInput, samplesOf, useRunInput } from "./run-input";
import { chosenModels, useRunModels } from "./run-models";
import {
  asProblem,
  loadCheckpoints,
  loadInbox,
  noteRun,
  setAnswering,
  type ShownProblem,
  snapshots,
  statusOf,
  useRuns,
} from "./runStore";

type Session = ReturnType<typeof useSession.getState>;

export function errorCount(): number {
  return useDocumentState.getState().diagnostics.filter((diagnostic) => diagnostic.severity === "error")
    .length;
}

/** The cursor is at a checkpoint that is not the thread's newest. */
export function isPast(cursor: Session["cursor"], store = useRuns.getState()): boolean {
  if (cursor.threadId === null || cursor.checkpointId === null) return false;
  const newest =
    store.checkpoints.get(cursor.threadId)?.list[0]?.id ?? store.threads.get(cursor.threadId)?.head;
  return newest !== cursor.checkpointId;
}

export function situation(session: Session = useSession.getState(), store = useRuns.getState()): Situation {
  const { cursor } = session;
  const pending = useEdits.getState().pending;
  const { shown } = store;
  const here =
    shown !== null &&
    shown.place.threadId === cursor.threadId &&
    shown.place.checkpointId === cursor.checkpointId;
  return {
    graphOpen: session.graphId !== null,
    errors: errorCount(),
    threadId: cursor.threadId,
    status: statusOf(store, cursor.threadId),
    past: isPast(cursor, store),
    next: here ? shown.view.next : undefined,
    pendingEdits: pending !== null && pending.threadId === cursor.threadId,
  };
}

export const currentControls = (): Controls => controlsFor(situation());

/** Brings the problems of the document into view. */
export function showProblems(): void {
  const session = useSession.getState();
  session.showTab("bottom", "problems", session.use === "approve" ? "design" : session.use);
}

/** Opens the input form. */
export function showRunForm(): void {
  const session = useSession.getState();
  session.setUse("debug");
  session.showTab("right", session.cursor.threadId === null ? "run" : "state", "debug");
  runForm.open();
}

/** Whether the right panel shows the run form although a thread is selected. */
const formListeners = new Set<() => void>();
let formOpen = false;
export const runForm = {
  isOpen: () => formOpen,
  subscribe: (listener: () => void) => {
    formListeners.add(listener);
    return () => formListeners.delete(listener);
  },
  open: () => setForm(true),
  close: () => setForm(false),
};
function setForm(open: boolean): void {
  if (formOpen === open) return;
  formOpen = open;
  for (const listener of formListeners) listener();
}

interface Start {
  readonly action: RunAction;
  readonly threadId?: string;
  readonly step?: Step | undefined;
}

/** One super-step and no more: of the graph on the canvas, or of the one that its next task runs. */
export type Step = "over" | "into";

let starting = false;

/** Answers whether the run was started. */
async function start({ action, threadId, step }: Start): Promise<boolean> {
  // A second press before the first has been answered would start a second thread.
  if (starting) return false;
  starting = true;
  try {
    await flush();
    const session = useSession.getState();
    if (errorCount() > 0) {
      showProblems();
      const problems = errorCount();
      showToast({
        tone: "problem",
        text: t(problems === 1 ? "debug.run.errorsOne" : "debug.run.errors", { n: problems }),
      });
      return false;
    }
    const run = await trusted(() =>
      rpc("run.start", {
        ...(session.graphId !== null && { graphId: session.graphId }),
        ...(threadId !== undefined && { threadId }),
        action,
        ...currentBreaks(),
        singleStep: step !== undefined,
        stepInto: step === "into",
        ...recursionLimit(),
        ...models(threadId ?? null),
      }),
    );
    noteRun(run);
    useSession.getState().setUse("debug");
    useSession.getState().setCursor({ threadId: run.threadId, checkpointId: null });
    runForm.close();
    return true;
  } catch (problem) {
    if (!notAllowed(problem)) showProblem(problem);
    return false;
  } finally {
    starting = false;
  }
}

function models(threadId: string | null): { models?: RunModels } {
  const models = chosenModels(useRunModels.getState(), graphKey(), threadId);
  return models === undefined ? {} : { models };
}

function recursionLimit(): { recursionLimit?: number } {
  const limit = doc.head["recursion_limit"];
  return typeof limit === "number" ? { recursionLimit: limit } : {};
}

const graphKey = (): string => useSession.getState().graphKey ?? "";

/** Starts with what is in the form; opens the form when there is nothing to start with. */
export async function runInput(options: { step?: Step; target?: "new" | "thread" } = {}): Promise<boolean> {
  const { drafts } = useRunInput.getState();
  const input = inputFor(drafts, graphKey(), samplesOf(doc.head));
  if (errorCount() > 0) {
    await flush();
    if (errorCount() > 0) {
      showProblems();
      return false;
    }
  }
  // A finished conversation is gone on with, which takes a new message.
  const { cursor } = useSession.getState();
  const conversation =
    cursor.threadId !== null && doc.names("key").some((name) => isMessages(doc.get(`key:${name}`)));
  if (conversation || (isEmptyInput(input) && doc.names("key").length > 0)) {
    showRunForm();
    return false;
  }
  return startWithInput(input, options);
}

const isMessages = (key: unknown): boolean => isObject(key) && key["reducer"] === "add_messages";

export async function startWithInput(
  input: Record<string, unknown>,
  { step, target = "new" }: { step?: Step | undefined; target?: "new" | "thread" } = {},
): Promise<boolean> {
  const { cursor } = useSession.getState();
  const past = isPast(cursor);
  const onThread = target === "thread" && cursor.threadId !== null;
  const begun = await start({
    action: {
      type: "input",
      input,
      ...(onThread && past && cursor.checkpointId !== null && { checkpointId: cursor.checkpointId }),
    },
    ...(onThread && cursor.threadId !== null && { threadId: cursor.threadId }),
    step,
  });
  if (begun) rememberInput(graphKey(), input);
  return begun;
}

/** What the primary button, F5 and the palette do. */
export async function primary(options: { step?: Step } = {}): Promise<void> {
  const controls = currentControls();
  if (controls.primaryOff !== null) return;
  if (controls.blocked) {
    await flush();
    if (errorCount() > 0) {
      showProblems();
      return;
    }
  }
  const { cursor } = useSession.getState();
  switch (controls.primary) {
    case "run":
      await runInput(options);
      break;
    case "continue":
      if (cursor.threadId !== null)
        await start({ action: { type: "continue" }, threadId: cursor.threadId, ...options });
      break;
    case "replay":
      if (cursor.threadId !== null && cursor.checkpointId !== null) {
        await replay(cursor.threadId, cursor.checkpointId, options);
      }
      break;
    case "answer":
      focusAnswer();
      break;
  }
}

export async function step(how: Step = "over"): Promise<void> {
  if (currentControls().stepOff === null) await primary({ step: how });
}

export async function continueThread(threadId: string, options: { step?: Step } = {}): Promise<void> {
  await start({ action: { type: "continue" }, threadId, ...options });
}

export async function replay(
  threadId: string,
  checkpointId: string,
  options: { step?: Step } = {},
): Promise<void> {
  await start({ action: { type: "replay", checkpointId }, threadId, ...options });
}

const stopping = new Set<string>();

export async function stop(threadId: string | null = useSession.getState().cursor.threadId): Promise<void> {
  if (threadId === null || stopping.has(threadId)) return;
  stopping.add(threadId);
  try {
    await rpc("run.stop", { threadId });
  } catch (problem) {
    showProblem(problem);
  } finally {
    stopping.delete(threadId);
  }
}

/** Asks the answer form in the debug view to take the focus. */
export const FOCUS_ANSWER = "superstep:focus-answer";
export function focusAnswer(): void {
  const session = useSession.getState();
  session.setUse("debug");
  session.setCursor({ checkpointId: null });
  session.showTab("right", "state", "debug");
  // The form stands in that tab: it is there one turn later.
  setTimeout(() => window.dispatchEvent(new Event(FOCUS_ANSWER)), 0);
}

/**
 * Answers questions by id and lets the thread go on. Answers null when it was taken, or why not: the form that asked
 * shows it. A thread of the open graph runs with the document as it is; any other with the graph it ran with.
 */
export async function answer(
  threadId: string,
  answers: Record<string, unknown>,
): Promise<ShownProblem | null> {
  const ids = Object.keys(answers);
  setAnswering(ids, true);
  try {
    const session = useSession.getState();
    const ofOpenGraph = session.graphId !== null && useRuns.getState().threads.has(threadId);
    if (ofOpenGraph) await flush();
    const run = await trusted(() =>
      rpc("run.start", {
        ...(ofOpenGraph && session.graphId !== null && { graphId: session.graphId }),
        threadId,
        action: { type: "resume", answers },
        ...(ofOpenGraph ? currentBreaks() : { breakBefore: [], breakAfter: [] }),
        singleStep: false,
        stepInto: false,
        ...models(threadId),
      }),
    );
    noteRun(run);
    return null;
  } catch (problem) {
    setAnswering(ids, false);
    const shown = asProblem(problem);
    // Somebody else may have been faster; the list then says so.
    void loadInbox();
    return shown;
  }
}

/** Applies the pending edits as one checkpoint. Moves the cursor to now, where the new checkpoint is the newest. */
export async function applyEdits(request: {
  values: unknown;
  overwrite: string[];
}): Promise<ShownProblem | Updated> {
  const { pending } = useEdits.getState();
  if (!pending) return { code: "nothing", message: t("debug.edit.nothing") };
  try {
    const updated = await update(request, false);
    useEdits.getState().clear();
    snapshots.reset(pending.threadId);
    useSession.getState().setCursor({ threadId: pending.threadId, checkpointId: null });
    await loadCheckpoints(pending.threadId, true);
    return updated;
  } catch (problem) {
    return asProblem(problem);
  }
}

export async function previewEdits(
  request: { values: unknown; overwrite: string[] },
  signal?: AbortSignal,
): Promise<ShownProblem | Updated> {
  try {
    return await update(request, true, signal);
  } catch (problem) {
    return asProblem(problem);
  }
}

async function update(
  { values, overwrite }: { values: unknown; overwrite: string[] },
  preview: boolean,
  signal?: AbortSignal,
): Promise<Updated> {
  const { pending } = useEdits.getState();
  if (!pending) throw new Error(t("debug.edit.nothing"));
  await flush();
  const { graphId } = useSession.getState();
  return rpc(
    "thread.update",
    {
      threadId: pending.threadId,
      ...(pending.checkpointId !== null && { checkpointId: pending.checkpointId }),
      ...(graphId !== null && { graphId }),
      values,
      overwrite,
      ...(pending.asNode !== undefined && { asNode: pending.asNode }),
      preview,
    },
    signal,
  );
}

export const isProblem = (answer: ShownProblem | Updated): answer is ShownProblem => "message" in answer;
