/**
 * Questions that wait, and the one count of them: pages of the inbox, the questions of the thread under the cursor, and
 * the answers that are on their way. An answered question leaves at once; it comes back when its answer is refused.
 * Must not know how questions are shown.
 */
import { create } from "zustand";
import type { AppEvent } from "../../ipc/bindings/AppEvent";
import type { Question } from "../../ipc/bindings/Question";
import type { RunView } from "../../ipc/bindings/RunView";
import { rpc, subscribe } from "../../ipc/client";
import { useSession } from "../../state/session";
import { asProblem, type ShownProblem } from "../parts/problem";
import type { Loading } from "./pages";
import { useRuns } from "./runStore";

/** One question at one checkpoint: another branch of the thread may ask the same again. */
export const questionKey = (question: Pick<Question, "interruptId" | "checkpointId">): string =>
  `${question.interruptId} ${question.checkpointId}`;

interface Sent {
  readonly question: Question;
  /** The run that took the answer; undefined while it is on its way. */
  readonly runId?: string;
}

export interface InboxStore {
  /** The pages that were loaded, waiting longest first, without what was answered here. */
  readonly questions: readonly Question[];
  /** How many wait anywhere. */
  readonly waiting: number;
  /** Where the next page begins; `null` when all of it is here. */
  readonly next: string | null;
  readonly state: Loading;
  readonly problem: ShownProblem | null;
  /** The questions of the thread under the cursor, of every branch. */
  readonly ofThread: readonly Question[];
  /** The question of the thread under the cursor that was answered or withdrawn elsewhere last. */
  readonly goneOfThread: Question | null;
  /** Why an answer was not taken, by question. */
  readonly refusals: ReadonlyMap<string, ShownProblem>;
  /** The question that came back last; the number distinguishes two times of one question. */
  readonly back: { readonly key: string; readonly n: number } | null;
  /** Answered or withdrawn elsewhere a moment ago: the inbox says so instead of letting rows vanish. */
  readonly gone: readonly Question[];
}

const initial: InboxStore = {
  questions: [],
  waiting: 0,
  next: null,
  state: "idle",
  problem: null,
  ofThread: [],
  goneOfThread: null,
  refusals: new Map(),
  back: null,
  gone: [],
};

export const useInbox = create<InboxStore>()(() => initial);

const get = useInbox.getState;
const set = useInbox.setState;

/** As the workbench gave them. */
let loaded: readonly Question[] = [];
let loadedOfThread: readonly Question[] = [];
let total = 0;
/** Answers that are on their way, or whose run has not ended. */
const sent = new Map<string, Sent>();
/** Sent questions that `total` still counts. */
const counted = new Set<string>();
/** Answered from this window: what comes back was refused, and what goes was not answered elsewhere. */
const answeredHere = new Set<string>();

/** Counts that events brought. One that came while a list was read is not replaced by that of the list, which may be older. */
let eventCounts = 0;
let request = 0;
let threadRequest = 0;
let watchers = 0;

function show(more: Partial<InboxStore> = {}): void {
  const here = (question: Question) => !sent.has(questionKey(question));
  set({
    questions: loaded.filter(here),
    ofThread: loadedOfThread.filter(here),
    waiting: Math.max(0, total - counted.size),
    ...more,
  });
}

// ---------------------------------------------------------------- reading

const PAGE = 100;
/** More than this are not read again at once, however far the list was scrolled. */
const MOST = 2000;

/** Reads the list from its beginning, as far as it was shown. */
export async function loadInbox(): Promise<void> {
  const mine = (request += 1);
  const eventsBefore = eventCounts;
  if (get().state === "idle") set({ state: "loading" });
  try {
    const limit = Math.min(MOST, Math.max(PAGE, loaded.length));
    const answer = await rpc("inbox.list", { limit });
    if (mine !== request) return;
    const before = loaded;
    const complete = answer.next === undefined;
    loaded = answer.questions;
    const still = new Set(loaded.map(questionKey));
    if (eventsBefore === eventCounts) {
      total = answer.waiting ?? answer.questions.length;
      counted.clear();
      for (const key of sent.keys()) if (still.has(key)) counted.add(key);
    }
    // What stood after all that is still here may wait on a later page now.
    const until = complete
      ? before.length
      : before.findLastIndex((question) => still.has(questionKey(question)));
    const gone = before.filter(
      (question, at) =>
        at < until && !still.has(questionKey(question)) && !answeredHere.has(questionKey(question)),
    );
    show({
      next: answer.next ?? null,
      state: "ready",
      problem: null,
      ...(gone.length > 0 && { gone: [...gone, ...get().gone].slice(0, 20) }),
    });
    noticeReturned(loaded);
  } catch (thrown) {
    if (mine === request)
      set({ state: get().state === "ready" ? "ready" : "failed", problem: asProblem(thrown) });
  }
}

let loadingMore = false;

export async function loadMoreQuestions(): Promise<void> {
  const { next, state } = get();
  if (next === null || loadingMore || state !== "ready") return;
  loadingMore = true;
  const mine = request;
  try {
    const answer = await rpc("inbox.list", { after: next, limit: PAGE });
    if (mine !== request) return;
    const known = new Set(loaded.map(questionKey));
    loaded = [...loaded, ...answer.questions.filter((question) => !known.has(questionKey(question)))];
    show({ next: answer.next ?? null });
  } catch (thrown) {
    if (mine === request) set({ problem: asProblem(thrown), next: null });
  } finally {
    loadingMore = false;
  }
}

/** Reads the questions of the thread under the cursor. */
export async function loadThreadQuestions(): Promise<void> {
  const { threadId } = useSession.getState().cursor;
  const mine = (threadRequest += 1);
  if (threadId === null) {
    loadedOfThread = [];
    show();
    return;
  }
  try {
    const { questions } = await rpc("inbox.list", { threadId });
    if (mine !== threadRequest) return;
    const before = loadedOfThread;
    loadedOfThread = questions.filter((question) => question.threadId === threadId);
    const still = new Set(loadedOfThread.map(questionKey));
    const gone = before.find((question) => {
      const key = questionKey(question);
      return question.threadId === threadId && !still.has(key) && !answeredHere.has(key);
    });
    show(gone ? { goneOfThread: gone } : loadedOfThread.length > 0 ? { goneOfThread: null } : {});
    noticeReturned(loadedOfThread);
  } catch {
    // The connection banner says it; the next event reads again.
  }
}

/** An answered question that waits again was refused: by its schema, or by a run that did not use it. */
function noticeReturned(questions: readonly Question[]): void {
  const returned = questions.find((question) => {
    const key = questionKey(question);
    return answeredHere.has(key) && !sent.has(key);
  });
  if (returned) comeBack(questionKey(returned));
}

let backs = 0;
function comeBack(key: string): void {
  answeredHere.delete(key);
  set({ back: { key, n: (backs += 1) } });
}

const later = (run: () => void, millis = 150) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      run();
    }, millis);
  };
};
const reloadSoon = later(() => {
  if (watchers > 0) void loadInbox();
  if (useSession.getState().cursor.threadId !== null) void loadThreadQuestions();
});

/** Says that the list is on the screen: only then it is read again with every change. Answers how to stop. */
export function watchInbox(): () => void {
  watchers += 1;
  void loadInbox();
  return () => {
    watchers -= 1;
  };
}

export function dismissGoneOfThread(): void {
  if (get().goneOfThread !== null) set({ goneOfThread: null });
}

export function dismissGone(): void {
  if (get().gone.length > 0) set({ gone: [] });
}

// ---------------------------------------------------------------- answering

export const isSent = (question: Question): boolean => sent.has(questionKey(question));

/** The question was answered or withdrawn here: it leaves at once, before anybody confirms it. */
export function leave(question: Question): void {
  const key = questionKey(question);
  sent.set(key, { question });
  counted.add(key);
  answeredHere.add(key);
  const refusals = new Map(get().refusals);
  refusals.delete(key);
  show({ refusals });
}

/** The answer was taken by a run. Whether it fits is known when that run has ended. */
export function taken(question: Question, run: RunView): void {
  const key = questionKey(question);
  settle(key);
  sent.set(key, { question, runId: run.runId });
  const known = useRuns.getState().live.get(run.threadId)?.run;
  // A short run is over before the answer to its request is here.
  if (known?.runId === run.runId && known.status !== "running") release(run.threadId);
  else show();
}

/** The question was withdrawn, or somebody else was faster: it does not come back. */
export function settled(question: Question): void {
  const key = questionKey(question);
  settle(key);
  sent.delete(key);
  show();
}

/** Drops lists that are being read, which say nothing any more, and reads them again: nothing else may bring what they had. */
function readAgain(): void {
  request += 1;
  threadRequest += 1;
  reloadSoon();
}

function settle(key: string): void {
  if (counted.delete(key)) total = Math.max(0, total - 1);
  const others = (question: Question) => questionKey(question) !== key;
  readAgain();
  loaded = loaded.filter(others);
  loadedOfThread = loadedOfThread.filter(others);
}

/** The answer was not sent or not taken: the question comes back, with the reason when there is one. */
export function refuse(question: Question, problem: ShownProblem | null): void {
  const key = questionKey(question);
  sent.delete(key);
  counted.delete(key);
  if (problem === null) {
    answeredHere.delete(key);
    show();
    return;
  }
  show({ refusals: new Map(get().refusals).set(key, problem) });
  comeBack(key);
  reloadSoon();
}

/** Runs of the thread have ended: whatever still waits waits for a new answer. */
function release(threadId: string): void {
  let any = false;
  for (const [key, { question, runId }] of sent) {
    if (question.threadId !== threadId || runId === undefined) continue;
    sent.delete(key);
    any = true;
  }
  if (!any) return;
  readAgain();
  show();
}

// ---------------------------------------------------------------- events

export function receiveInbox(events: readonly AppEvent[]): void {
  let changed = false;
  for (const event of events) {
    if (event.type === "inbox") {
      total = event.waiting;
      eventCounts += 1;
      // It was sent because an answer was taken.
      counted.clear();
      changed = true;
    } else if (event.type === "run" && event.run.status !== "running") {
      release(event.run.threadId);
      changed = true;
    } else if (event.type === "threadDeleted" || event.type === "storage") changed = true;
  }
  if (!changed) return;
  show();
  reloadSoon();
}

/** Reads everything again that is shown. */
function recoverInbox(): void {
  sent.clear();
  counted.clear();
  void loadInbox();
  void loadThreadQuestions();
}

let following = false;

/** Connects to the event stream and to the cursor, once for the window's life. */
export function followInbox(): void {
  if (following) return;
  following = true;
  subscribe(receiveInbox, recoverInbox);
  let last = useSession.getState().cursor.threadId;
  useSession.subscribe(({ cursor }) => {
    if (cursor.threadId === last) return;
    last = cursor.threadId;
    loadedOfThread = [];
    show({ goneOfThread: null });
    void loadThreadQuestions();
  });
  void loadInbox();
  if (last !== null) void loadThreadQuestions();
}

/** Everything as it was before the first question; for tests. */
export function resetInbox(): void {
  loaded = [];
  loadedOfThread = [];
  total = 0;
  sent.clear();
  counted.clear();
  answeredHere.clear();
  set(initial, true);
}
