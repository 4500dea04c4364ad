/**
 * What a person can do to a run: start, continue, step, stop, replay, answer, edit. Each sends pending edits of the
 * document first, says at once what it does, and shows a refusal where everybody looks for it.
 */
import type { Question } from "../../ipc/bindings/Question";
import type { RunAction } from "../../ipc/bindings/RunAction";
import type { RunModels } from "../../ipc/bindings/RunModels";
import type { StartRun } from "../../ipc/bindings/StartRun";
import type { Updated } from "../../ipc/bindings/Updated";
import { rpc } from "../../ipc/client";
import { doc, flush, useDocumentState } from "../../document/store";
import { focusFirstField } from "../../lib/parts";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { KEYMAP } from "../../state/keymap";
import { endCalm } from "../../state/calm";
import { useSession } from "../../state/session";
import { showProblem, showToast } from "../../state/toasts";
import { isBusyElsewhere, takingOver } from "../../state/take-over";
import { notAllowed, trusted } from "../../state/trust";
import { currentBreaks } from "./breakpoints";
import { shortcutKeys } from "../../components/Kbd";
import { isObject } from "../parts/diff";
import { controlsFor, type Controls, type Situation } from "./controls";
import { useEdits } from "../state/edits";
import { type Going, settleEffects } from "./effects";
import { settleGraph } from "./hot-edit";
import { type InboxStore, isSent, leave, refuse, settled, taken, useInbox } from "../model/inbox";
import { isInside, noteStep } from "../model/nested";
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
import { contextFor } from "./run-context";
import { chosenModels, useRunModels } from "./run-models";
import { asProblem, type ShownProblem } from "../parts/problem";
import { loadCheckpoints, noteRun, runsElsewhere, snapshots, statusOf, useRuns } from "../model/runStore";

type Session = ReturnType<typeof useSession.getState>;

function errorCount(): number {
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

/** A question waits at the checkpoint under the cursor. */
export const asksAt = (cursor: Session["cursor"], inbox: InboxStore = useInbox.getState()): boolean =>
  cursor.checkpointId !== null &&
  inbox.ofThread.some((question) => question.checkpointId === cursor.checkpointId);

function situation(session: Session = useSession.getState(), store = useRuns.getState()): Situation {
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
    elsewhere: runsElsewhere(store, cursor.threadId),
    past: isPast(cursor, store),
    asksHere: asksAt(cursor),
    next: here ? shown.view.next : undefined,
    pendingEdits: pending !== null && pending.threadId === cursor.threadId,
  };
}

const currentControls = (): Controls => controlsFor(situation());

/** Brings the problems of the document into view. */
function showProblems(): void {
  const session = useSession.getState();
  session.showTab("bottom", "problems", session.use === "approve" ? "design" : session.use);
}

/** Opens the input form, at its first field. */
export function showRunForm(): void {
  const session = useSession.getState();
  session.setUse("debug");
  session.showTab("right", session.cursor.threadId === null ? "run" : "state", "debug");
  runForm.open();
  focusFirstField([debugIds.runForm]);
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
  /** How often this graph was to run with nothing in the form since something was typed; the form says what is missing. */
  missing: () => (missing.graph === graphKey() ? missing.times : 0),
  /** Something was typed, or run. */
  filled: () => setMissing(0),
};
let missing = { graph: "", times: 0 };
function setMissing(times: number): void {
  if (times === 0 && missing.times === 0) return;
  missing = { graph: graphKey(), times };
  tellForm();
}
function setForm(open: boolean): void {
  if (formOpen === open) return;
  formOpen = open;
  tellForm();
}
function tellForm(): void {
  for (const listener of formListeners) listener();
}

interface Start {
  readonly action: RunAction;
  readonly threadId?: string;
  readonly step?: Step | undefined;
  /** The task that alone runs. */
  readonly task?: string | undefined;
  /** The node before which it stops, once. */
  readonly to?: string | undefined;
  /** It goes on from a place that the thread may have gone on from before: what would work again is asked about. */
  readonly from?: { readonly checkpointId?: string | undefined; readonly going: Going } | undefined;
}

/** One super-step and no more: of the graph on the canvas, or of the one that its next task runs. */
export type Step = "over" | "into";

/** How far a run goes: a step, or to before a node. */
interface Options {
  readonly step?: Step;
  readonly to?: string;
}

let starting = false;

/** Answers whether the run was started. */
async function start({ action, threadId, step, task, to, from }: Start): Promise<boolean> {
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
    const settled =
      from && threadId !== undefined
        ? await settle(threadId, from.checkpointId, from.going, session.graphId)
        : {};
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
          ...(to === undefined ? [] : [{ node: to, when: "before" as const, enabled: true }]),
        ],
        singleStep: step !== undefined,
        stepInto: step === "into",
        ...(task !== undefined && { stepTask: task }),
        ...recursionLimit(),
        ...models(threadId ?? null),
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
async function graphFor(
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
  if (fork && from !== undefined) return { action: { type: "replay", checkpointId: from }, ...graph };
  return { action, ...graph };
}

/** Runs once everything is allowed and nobody else runs the thread. */
const runnable = <T>(run: (flag: { takeOver?: true }) => Promise<T>): Promise<T> =>
  takingOver((flag) => trusted(() => run(flag)));

/** What is to happen with what would work again, for `run.start`; `null` when the person does not go on. */
async function settle(
  threadId: string,
  checkpointId: string | undefined,
  going: Going,
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
      ...(graphId !== null && { graphId }),
    },
    going,
    step,
  );
  if (found === null) return null;
  tellLeft(found.questionsLeft);
  return found.effects ? { effects: found.effects } : {};
}

/** Says that questions of the branch that was left keep waiting. */
function tellLeft(questions: number): void {
  if (questions > 0)
    showToast({ tone: "info", text: tn("debug.effects.leftOne", "debug.effects.left", questions) });
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
async function runInput(options: Options & { target?: "new" | "thread" } = {}): Promise<boolean> {
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
    setMissing(runForm.missing() + 1);
    return false;
  }
  return startWithInput(spoken(input), options);
}

/** Does the graph need something that an empty input does not say? One whose keys have defaults runs from them. */
function isMissing(input: Readonly<Record<string, unknown>>): boolean {
  const keys = doc.names("key").map((name) => {
    const key = doc.get(`key:${name}`);
    return [name, isObject(key) ? key : {}] as const;
  });
  const names = keys.map(([name]) => name);
  return missingKeys(keys, mainKeys(names, inputKeysOf(doc.head), samplesOf(doc.head), input)).length > 0;
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
    to?: string | undefined;
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

/** Runs until the node is what runs next: from where F5 would, or from the moment of the past that is shown. */
export async function runTo(node: string): Promise<void> {
  const controls = currentControls();
  const { threadId, checkpointId } = useSession.getState().cursor;
  if (!controls.past) await primary({ to: node });
  else if (controls.replayOff !== null) showToast({ tone: "info", text: controls.replayOff });
  else if (threadId !== null && checkpointId !== null) await replay(threadId, checkpointId, { to: node });
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

const keyFor = (command: string): string => shortcutKeys(KEYMAP[command]?.keys[0] ?? "").join("+");

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

/** Asks the answer form in the debug view to take the focus. */
export const FOCUS_ANSWER = "superstep:focus-answer";
function focusAnswer(): void {
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
      question.branch === undefined ? {} : await settle(threadId, checkpointId, "answer", graphId);
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
    void tellLeftAt(pending.threadId, updated.checkpointId);
    return updated;
  } catch (problem) {
    return asProblem(problem);
  }
}

/** After an edit: says when questions of the branch that was left keep waiting. */
export async function tellLeftAt(threadId: string, checkpointId: string | undefined): Promise<void> {
  const { graphId } = useSession.getState();
  try {
    const { questionsLeft } = await rpc("run.effects", {
      threadId,
      ...(checkpointId !== undefined && { checkpointId }),
      ...(graphId !== null && { graphId }),
    });
    tellLeft(questionsLeft);
  } catch {
    // The edit is made; that nothing is reported of other branches harms nobody.
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
  return takingOver((flag) =>
    rpc(
      "thread.update",
      {
        ...flag,
        threadId: pending.threadId,
        ...(pending.checkpointId !== null && { checkpointId: pending.checkpointId }),
        ...(graphId !== null && { graphId }),
        values,
        overwrite,
        ...(pending.asNode !== undefined && { asNode: pending.asNode }),
        preview,
      },
      signal,
    ),
  );
}

export const isProblem = (answer: ShownProblem | Updated): answer is ShownProblem => "message" in answer;
