import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Inbox } from "../../ipc/bindings/Inbox";
import type { ListInbox } from "../../ipc/bindings/ListInbox";
import type { Question } from "../../ipc/bindings/Question";
import type { RunStatus } from "../../ipc/bindings/RunStatus";
import { replaceHost, RpcProblem } from "../../ipc/client";
import { useSession } from "../../state/session";
import { fakeHost } from "../../test/fakeHost";
import type { GiveAnswers } from "../../ipc/bindings/GiveAnswers";
import type { HeldAnswer } from "../../ipc/bindings/HeldAnswer";
import { answer, heldLast, takeBack, withdraw } from "../run/answering";
import {
  loadInbox,
  loadThreadQuestions,
  questionKey,
  receiveInbox,
  resetInbox,
  useInbox,
  watchInbox,
} from "./inbox";
import { receive } from "./events";
import { useRuns } from "./runStore";

const question = (interruptId: string, more: Partial<Question> = {}): Question => ({
  interruptId,
  threadId: `t-${interruptId}`,
  threadTitle: "",
  graphName: "g",
  node: "n",
  text: interruptId,
  choices: [],
  context: {},
  value: null,
  checkpointId: `c-${interruptId}`,
  since: interruptId,
  ...more,
});

let waiting: Question[];
/** Takes an answer, or throws why it is not taken. */
let start: (request: unknown) => unknown;
let keptAnswers: HeldAnswer[];
/** Answers the next reading of the list in place of what waits. */
let held: Promise<Inbox> | null;
const host = fakeHost(new Map(), {
  "inbox.list": ({ after, limit, threadId }: ListInbox): Inbox | Promise<Inbox> => {
    if (held) return held;
    const kept = new Set(keptAnswers.map(questionKey));
    const all = waiting.filter(
      (each) => (threadId === undefined || each.threadId === threadId) && !kept.has(questionKey(each)),
    );
    const from = after === undefined ? 0 : Number(after);
    const to = from + (limit ?? 100);
    return {
      questions: all.slice(from, to),
      waiting: all.length,
      held: keptAnswers.filter((each) => threadId === undefined || each.threadId === threadId),
      ...(to < all.length && { next: String(to) }),
    };
  },
  "answer.give": async ({ starts: [first] }: GiveAnswers) => {
    try {
      await start(first);
    } catch (problem) {
      const { code, message } = problem as RpcProblem;
      return { held: [], refused: [{ start: 0, problem: { code, message } }] };
    }
    if (first?.action.type !== "resume") throw new Error("no answer");
    const [[interruptId, given] = ["", null]] = Object.entries(first.action.answers);
    const { threadId = "", action } = first;
    const one = { id: (ids += 1), threadId, checkpointId: action.checkpointId ?? "", interruptId };
    const keeps = { ...one, text: interruptId, answer: given as unknown, leftMs: 5000 };
    keptAnswers.push(keeps);
    return { held: [keeps], refused: [] };
  },
  "answer.takeBack": ({ ids: back }: { ids: number[] }) => {
    const before = keptAnswers.length;
    keptAnswers = keptAnswers.filter(({ id }) => !back.includes(id));
    return { changed: before - keptAnswers.length };
  },
  "question.withdraw": () => ({}),
});
let ids = 0;
replaceHost(host);

const shown = () => useInbox.getState().questions.map((each) => each.interruptId);
const count = () => useInbox.getState().waiting;
const runOf = (threadId: string, status: RunStatus = "running") => ({
  runId: `r-${threadId}`,
  threadId,
  status,
  startedAt: "",
});
const ended = (threadId: string, status: RunStatus = "done") => {
  keptAnswers = keptAnswers.filter((each) => each.threadId !== threadId);
  const events = [{ type: "run" as const, run: runOf(threadId, status) }];
  receive(events);
  receiveInbox(events);
};
const starts = () =>
  host.calls
    .filter(({ command }) => command === "answer.give")
    .map(({ request }) => (request as GiveAnswers).starts[0]);

beforeEach(() => {
  resetInbox();
  host.calls.length = 0;
  waiting = [question("a"), question("b"), question("c")];
  start = () => {};
  keptAnswers = [];
  held = null;
  useRuns.setState(useRuns.getInitialState(), true);
  useSession.setState({ cursor: { threadId: null, checkpointId: null }, graphId: null });
});

describe("the count", () => {
  it("stays that of an event that came while an older list was on its way", async () => {
    await loadInbox();
    let give: (inbox: Inbox) => void = () => {};
    held = new Promise((resolve) => (give = resolve));
    const loading = loadInbox();
    receiveInbox([{ type: "inbox", waiting: 7 }]);
    give({ questions: waiting, waiting: 3 });
    held = null;
    await loading;
    expect(count()).toBe(7);
    await loadInbox();
    expect(count(), "a list that was read afterwards has the newer count").toBe(3);
  });
});

describe("an answered question", () => {
  it("leaves before anybody has confirmed it, and is not answered twice", async () => {
    await loadInbox();
    let confirm: () => void = () => {};
    start = () => new Promise<void>((resolve) => (confirm = resolve));
    const [first] = waiting as [Question];
    const sent = answer(first, "yes");
    await vi.waitFor(() => expect(shown()).toEqual(["b", "c"]));
    expect(count(), "the count follows at once").toBe(2);
    await answer(first, "no");
    await vi.waitFor(() => expect(starts()).toHaveLength(1));
    expect(starts()[0]).toMatchObject({
      action: { type: "resume", answers: { a: "yes" }, checkpointId: "c-a" },
    });
    await loadInbox();
    expect(shown(), "also while the list still has it").toEqual(["b", "c"]);
    expect(count()).toBe(2);
    confirm();
    await sent;
    waiting = waiting.slice(1);
    ended("t-a");
    await loadInbox();
    expect(shown()).toEqual(["b", "c"]);
    expect(useInbox.getState().gone, "nothing was answered elsewhere").toEqual([]);
  });

  it("comes back with the reason when the answer is refused", async () => {
    await loadInbox();
    start = () => {
      throw new RpcProblem({ code: "trust-missing", message: "May not run." });
    };
    const second = waiting[1] as Question;
    await answer(second, 1);
    expect(shown()).toEqual(["a", "b", "c"]);
    expect(count()).toBe(3);
    const { back, refusals } = useInbox.getState();
    expect(back?.key).toBe(questionKey(second));
    expect(refusals.get(questionKey(second))?.message).toBe("May not run.");
    start = () => {};
    await answer(second, 2);
    expect(useInbox.getState().refusals.size, "a new answer begins without the old reason").toBe(0);
  });

  it("comes back when the graph asks the same again after its run", async () => {
    await loadInbox();
    const [first] = waiting as [Question];
    await answer(first, "bad");
    expect(shown()).toEqual(["b", "c"]);
    waiting[0] = { ...first, refused: "Too short." };
    ended("t-a", "asking");
    await loadInbox();
    expect(shown()).toEqual(["a", "b", "c"]);
    expect(useInbox.getState().back?.key).toBe(questionKey(first));
  });

  it("is held, and waits again when the answer is taken back", async () => {
    await loadInbox();
    const [first, second] = waiting as [Question, Question];
    await answer(first, "yes");
    await answer(second, "no");
    const kept = useInbox.getState().held;
    expect(kept.map(({ interruptId }) => interruptId)).toEqual(["a", "b"]);
    expect(heldLast(), "the last one first").toEqual([kept[1]?.id]);
    await takeBack(heldLast());
    await loadInbox();
    expect(useInbox.getState().held.map(({ interruptId }) => interruptId)).toEqual(["a"]);
    expect(useInbox.getState().back?.key).toBe(questionKey(second));
    expect(heldLast()).toEqual([kept[0]?.id]);
  });

  it("waits again with the reason when it could not be given", async () => {
    await loadInbox();
    const [first] = waiting as [Question];
    await answer(first, "yes");
    expect(shown()).toEqual(["b", "c"]);
    keptAnswers = [];
    const problem = { code: "not-found", message: "The graph is gone." };
    const { threadId, checkpointId, interruptId } = first;
    receiveInbox([{ type: "answerRefused", threadId, checkpointId, interruptId, problem }]);
    await loadInbox();
    expect(shown()).toEqual(["a", "b", "c"]);
    expect(useInbox.getState().refusals.get(questionKey(first))?.message).toBe("The graph is gone.");
    expect(useInbox.getState().held).toEqual([]);
  });

  it("says so when somebody else was faster", async () => {
    await loadInbox();
    start = () => {
      throw new RpcProblem({ code: "already-answered", message: "It was answered." });
    };
    const [first] = waiting as [Question];
    await answer(first, "yes");
    expect(shown()).toEqual(["b", "c"]);
    expect(useInbox.getState().refusals.size).toBe(0);
    expect(useInbox.getState().back).toBeNull();
  });

  it("is distinguished from one that was answered elsewhere", async () => {
    await loadInbox();
    await answer(waiting[0] as Question, "yes");
    waiting = [question("c")];
    await loadInbox();
    expect(useInbox.getState().gone.map((each) => each.interruptId)).toEqual(["b"]);
    expect(count()).toBe(1);
  });
});

describe("the list", () => {
  it("is read whole while somebody looks, and what has not changed stays as it was", async () => {
    waiting = Array.from({ length: 250 }, (_, n) => question(String(n).padStart(4, "0")));
    await loadInbox();
    expect(shown(), "nobody looks at it").toHaveLength(100);
    expect(count()).toBe(250);
    const stop = watchInbox();
    await loadInbox();
    expect(shown()).toHaveLength(250);
    expect(useInbox.getState().reading).toBe(false);
    const before = useInbox.getState().questions;
    waiting = waiting.map((each, at) => (at === 7 ? { ...each, threadTitle: "another" } : { ...each }));
    await loadInbox();
    const now = useInbox.getState().questions;
    expect(now.filter((each, at) => each !== before[at])).toEqual([waiting[7]]);
    stop();
  });

  it("takes the count from the event", async () => {
    await loadInbox();
    receiveInbox([{ type: "inbox", waiting: 7 }]);
    expect(count()).toBe(7);
  });

  it("drops a withdrawn question without saying that it was answered elsewhere", async () => {
    await loadInbox();
    const [first] = waiting as [Question];
    await withdraw(first, " not needed ");
    expect(host.calls.at(-1)?.request ?? null).toBeDefined();
    expect(host.calls.find(({ command }) => command === "question.withdraw")?.request).toEqual({
      threadId: "t-a",
      checkpointId: "c-a",
      interruptId: "a",
      why: "not needed",
    });
    waiting = waiting.slice(1);
    await loadInbox();
    expect(shown()).toEqual(["b", "c"]);
    expect(useInbox.getState().gone).toEqual([]);
  });

  it("has the questions of the thread under the cursor, of every branch", async () => {
    const other = question("a", { checkpointId: "old", branch: { step: 5, leftAt: 3 } });
    waiting = [...waiting, other];
    useSession.setState({ cursor: { threadId: "t-a", checkpointId: null } });
    await loadThreadQuestions();
    expect(useInbox.getState().ofThread.map((each) => each.checkpointId)).toEqual(["c-a", "old"]);
    await answer(other, "yes");
    expect(useInbox.getState().ofThread.map((each) => each.checkpointId)).toEqual(["c-a"]);
    expect(
      host.calls.some(({ command }) => command === "run.effects"),
      "what the other branch did would be done again",
    ).toBe(true);
  });
});

describe("the question of the thread that is open", () => {
  const cursor = (threadId: string) => useSession.setState({ cursor: { threadId, checkpointId: null } });

  it("says that it was answered elsewhere, and not when it was answered here", async () => {
    waiting = [question("a", { threadId: "t" }), question("b", { threadId: "t" })];
    cursor("t");
    await loadThreadQuestions();
    waiting = waiting.slice(1);
    await loadThreadQuestions();
    expect(useInbox.getState().goneOfThread?.interruptId).toBe("a");
    useInbox.setState({ goneOfThread: null });
    const [here] = useInbox.getState().ofThread;
    if (!here) throw new Error("no question is left");
    await answer(here, true);
    waiting = [];
    await loadThreadQuestions();
    expect(useInbox.getState().goneOfThread).toBeNull();
  });

  it("is followed by the next one, also when the run had asked before its start was confirmed", async () => {
    const first = question("a", { threadId: "t" });
    const next = question("b", { threadId: "t" });
    waiting = [first];
    cursor("t");
    await loadThreadQuestions();
    let confirm: () => void = () => {};
    start = () => new Promise<void>((resolve) => (confirm = resolve));
    const sent = answer(first, "again");
    await vi.waitFor(() => expect(starts()).toHaveLength(1));
    waiting = [next];
    let give: (inbox: Inbox) => void = () => {};
    held = new Promise((resolve) => (give = resolve));
    const read = () => host.calls.filter(({ command }) => command === "inbox.list").length;
    const before = read();
    ended("t", "asking");
    await vi.waitFor(() => expect(read(), "the questions are being read").toBeGreaterThan(before));
    confirm();
    await sent;
    give({ questions: waiting, waiting: 1 });
    held = null;
    const asked = () => useInbox.getState().ofThread.map((each) => each.interruptId);
    await vi.waitFor(() => expect(asked()).toEqual(["b"]));
  });
});
