/**
 * Questions that wait, and the one count of them: the inbox, the questions of the thread under the cursor, and
 * the answers that no thread has yet. An answered question leaves at once; it comes back when its answer is refused or
 * taken back. Must not know how questions are shown.
 */
import { create } from "zustand";
import type { AppEvent } from "../../ipc/bindings/AppEvent";
import type { HeldAnswer } from "../../ipc/bindings/HeldAnswer";
import type { Question } from "../../ipc/bindings/Question";
import { rpc, subscribe } from "../../ipc/client";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { showToast } from "../../state/toasts";
import { asProblem, type ShownProblem } from "../parts/problem";
import type { Loading } from "./pages";

/** One question at one checkpoint: another branch of the thread may ask the same again. */
export const questionKey = (question: Pick<Question, "interruptId" | "checkpointId">): string =>
  `${question.interruptId} ${question.checkpointId}`;

/** An answer that no thread has yet. */
export interface Held extends HeldAnswer {
  /** When it is given, by the clock of this window: milliseconds since the epoch. */
  readonly until: number;
}

export interface InboxStore {
  /** Those that were read, waiting longest first, without what was answered here. */
  readonly questions: readonly Question[];
  /** How many wait anywhere. */
  readonly waiting: number;
  /** More of the list is being read. */
  readonly reading: boolean;
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
  /** Answers that no thread has yet, the oldest first. */
  readonly held: readonly Held[];
  /** Answered or withdrawn elsewhere a moment ago: the inbox says so instead of letting rows vanish. */
  readonly gone: readonly Question[];
}

const initial: InboxStore = {
  questions: [],
  waiting: 0,
  reading: false,
  state: "idle",
  problem: null,
  ofThread: [],
  goneOfThread: null,
  refusals: new Map(),
  back: null,
  held: [],
  gone: [],
};

export const useInbox = create<InboxStore>()(() => initial);

const get = useInbox.getState;
const set = useInbox.setState;

/** As the workbench gave them. */
let loaded: readonly Question[] = [];
let loadedOfThread: readonly Question[] = [];
let total = 0;
/** Answers that are on their way, and withdrawals. */
const sent = new Set<string>();
/** Sent questions that `total` still counts. */
const counted = new Set<string>();
/** Answered from this window: what comes back was refused, and what goes was not answered elsewhere. */
const answeredHere = new Set<string>();

/** Counts that events brought. One that came while a list was read is not replaced by that of the list, which may be older. */
let eventCounts = 0;
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

/** What is shown at once. */
const FIRST = 100;
const PAGE = 1000;
/** More than this are not shown. */
const MOST = 20_000;

let current: Promise<void> | null = null;
let queued: Promise<void> | null = null;
/** How long the last reading took, in milliseconds. */
let readingTook = 0;
/** Answered or withdrawn while the list is read: what it says of them is over. */
const leftMeanwhile = new Set<string>();

/** Reads the list from its beginning: all of it while it is on the screen, and else its first page with the count. */
export function loadInbox(): Promise<void> {
  if (current === null) {
    current = readList().finally(() => (current = null));
    return current;
  }
  queued ??= current.then(() => {
    queued = null;
    return loadInbox();
  });
  return queued;
}

const isWatched = (): boolean => watchers > 0;

async function readList(): Promise<void> {
  const [began, eventsBefore, before] = [performance.now(), eventCounts, loaded];
  const known = new Map(before.map((question) => [questionKey(question), question]));
  const found = new Map<string, Question>();
  leftMeanwhile.clear();
  const isFirst = get().state === "idle";
  if (isFirst) set({ state: "loading" });
  const take = (questions: readonly Question[]) => {
    for (const question of questions) {
      const key = questionKey(question);
      const old = known.get(key);
      // What was worked out of it stays known.
      if (!leftMeanwhile.has(key)) found.set(key, old && isSame(old, question) ? old : question);
    }
    for (const key of leftMeanwhile) found.delete(key);
  };
  try {
    const answer = await rpc("inbox.list", { limit: before.length > FIRST ? PAGE : FIRST });
    take(answer.questions);
    if (eventsBefore === eventCounts) {
      total = answer.waiting ?? answer.questions.length;
      counted.clear();
      for (const key of sent) if (found.has(key)) counted.add(key);
    }
    const held = timed(answer.held ?? []);
    let { next } = answer;
    if (isFirst) loaded = [...found.values()];
    if (isFirst) show({ state: "ready", reading: next !== undefined, held });
    while (next !== undefined && isWatched() && found.size < MOST) {
      const page = await rpc("inbox.list", { after: next, limit: PAGE });
      take(page.questions);
      ({ next } = page);
      if (loaded.length >= found.size) continue;
      loaded = [...found.values()];
      show({ reading: next !== undefined });
    }
    const isWhole = next === undefined;
    // What is further down was read before, if anybody looks.
    const rest = isWhole || isWatched() ? [] : before.filter((question) => !found.has(questionKey(question)));
    loaded = [...found.values(), ...(before.length > found.size ? rest : [])];
    const gone = isWhole
      ? before.filter((question) => {
          const key = questionKey(question);
          return !found.has(key) && !answeredHere.has(key);
        })
      : [];
    readingTook = performance.now() - began;
    show({
      state: "ready",
      problem: null,
      reading: false,
      held,
      ...(gone.length > 0 && { gone: [...gone, ...get().gone].slice(0, 20) }),
    });
    noticeReturned(loaded);
  } catch (thrown) {
    set({ state: get().state === "ready" ? "ready" : "failed", problem: asProblem(thrown), reading: false });
  }
}

/** Whether nothing of a question is another than before; its checkpoint says what it asks. */
const isSame = (before: Question, now: Question): boolean =>
  before.text === now.text &&
  before.since === now.since &&
  before.threadTitle === now.threadTitle &&
  before.graphPath === now.graphPath &&
  before.refused === now.refused &&
  JSON.stringify(besides(before)) === JSON.stringify(besides(now));

/** What a person or another branch adds to a question. */
const besides = ({ branch, returned, delegation, snoozedUntil }: Question) => [
  branch,
  returned,
  delegation,
  snoozedUntil,
];

const timed = (held: readonly HeldAnswer[]): Held[] => {
  const now = Date.now();
  return held.map((one) => ({ ...one, until: now + one.leftMs }));
};

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
    const { questions, held = [] } = await rpc("inbox.list", { threadId });
    if (mine !== threadRequest) return;
    const before = loadedOfThread;
    const elsewhere = get().held.filter((one) => one.threadId !== threadId);
    set({ held: [...elsewhere, ...timed(held)].sort((a, b) => a.id - b.id) });
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

/** Reading again takes a small part of the time, however long the list is. */
const later = (run: () => void) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    timer ??= setTimeout(
      () => {
        timer = undefined;
        run();
      },
      Math.min(10_000, Math.max(150, 4 * readingTook)),
    );
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

/** The questions were answered or withdrawn here: they leave at once, before anybody confirms it. */
export function leave(questions: readonly Question[]): void {
  const refusals = new Map(get().refusals);
  for (const key of questions.map(questionKey)) {
    sent.add(key);
    counted.add(key);
    answeredHere.add(key);
    refusals.delete(key);
  }
  show({ refusals });
}

/** The answers are kept, or the questions were withdrawn, or somebody else was faster: the list has them no more. */
export function settled(questions: readonly Question[], held: readonly HeldAnswer[] = []): void {
  readAgain();
  const keys = new Set(questions.map(questionKey));
  for (const key of keys) {
    leftMeanwhile.add(key);
    if (counted.delete(key)) total = Math.max(0, total - 1);
    sent.delete(key);
  }
  const others = (question: Question) => !keys.has(questionKey(question));
  loaded = loaded.filter(others);
  loadedOfThread = loadedOfThread.filter(others);
  show(held.length > 0 ? { held: [...get().held, ...timed(held)] } : {});
}

/** Held answers were taken back: their questions are read again. */
export function takenBack(ids: readonly number[]): void {
  set({ held: get().held.filter(({ id }) => !ids.includes(id)) });
  readAgain();
}

/** Drops lists that are being read, which say nothing any more, and reads them again: nothing else may bring what they had. */
function readAgain(): void {
  threadRequest += 1;
  reloadSoon();
}

/** The answers were not sent or not taken: the questions come back, with the reason when there is one. */
export function refuse(questions: readonly Question[], problem: ShownProblem | null): void {
  const refusals = new Map(get().refusals);
  const keys = questions.map(questionKey);
  for (const key of keys) {
    sent.delete(key);
    counted.delete(key);
    if (problem === null) answeredHere.delete(key);
    else refusals.set(key, problem);
  }
  show({ refusals });
  const [first] = keys;
  if (problem === null || first === undefined) return;
  for (const key of keys) answeredHere.delete(key);
  comeBack(first);
  reloadSoon();
}

/** A kept answer could not be given. */
function refused({ checkpointId, interruptId, problem }: Extract<AppEvent, { type: "answerRefused" }>): void {
  const key = questionKey({ checkpointId, interruptId });
  const answered = get().held.find((one) => questionKey(one) === key);
  set({ held: get().held.filter((one) => one !== answered) });
  if (problem.code !== "already-answered") {
    set({ refusals: new Map(get().refusals).set(key, asProblem(problem)) });
    return;
  }
  if (answered) showLost(answered.text);
}

/** Says that an answer was not used. */
export function showLost(question: string): void {
  const [text = ""] = question.split("\n", 1);
  showToast({
    tone: "warning",
    text: t("debug.inbox.lost"),
    detail: t("debug.inbox.lostText", { text }),
  });
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
    } else if (event.type === "answerRefused") {
      refused(event);
      changed = true;
    } else if (event.type === "run" && event.run.status !== "running") {
      // Nothing that was read before says what waits now.
      readAgain();
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
  leftMeanwhile.clear();
  watchers = 0;
  readingTook = 0;
  set(initial, true);
}
