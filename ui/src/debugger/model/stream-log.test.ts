import { describe, expect, test } from "vitest";
import type { AppEvent } from "../../ipc/bindings/AppEvent";
import type { ThreadEvents } from "../../ipc/bindings/ThreadEvents";
import type { TokenPiece } from "../../ipc/bindings/TokenPiece";
import { StreamLog } from "./stream-log";

const token = (piece: TokenPiece, messageId = "m"): AppEvent => ({
  type: "token",
  threadId: "t",
  taskId: "a",
  node: "say",
  messageId,
  piece,
  at: 1,
});

const begun = (at: number): AppEvent => ({
  type: "taskStarted",
  threadId: "t",
  taskId: `task-${at}`,
  node: "say",
  step: 1,
  at,
});
const times = (log: StreamLog) => log.entries("t").map((entry) => entry.at);

describe("the stream log", () => {
  test("joins the pieces of a message: its reasoning, its text, each of its calls", () => {
    const log = new StreamLog(() => 0);
    log.append([
      token({ type: "reasoning", text: "Where " }),
      token({ type: "call", index: 1, name: "second", text: "{" }),
      token({ type: "reasoning", text: "is it?" }),
      token({ type: "text", text: "I look." }),
      token({ type: "call", index: 0, name: "first", text: '{"a"' }),
    ]);
    log.append([
      token({ type: "call", index: 1, text: "}" }),
      token({ type: "call", index: 0, text: ":1}" }),
      token({ type: "text", text: "Other" }, "n"),
    ]);
    expect(log.entries("t")).toMatchObject([
      {
        type: "text",
        text: "I look.",
        reasoning: "Where is it?",
        calls: [
          { name: "first", args: '{"a":1}' },
          { name: "second", args: "{}" },
        ],
      },
      { type: "text", text: "Other", reasoning: "", calls: [] },
    ]);
  });

  test("a call far away does not make room for all before it", () => {
    const log = new StreamLog(() => 0);
    log.append([token({ type: "call", index: 4_000_000_000, name: "f", text: "" })]);
    const [entry] = log.entries("t");
    expect(entry?.type === "text" && entry.calls.length).toBeLessThan(300);
  });

  test("an attempt that failed stands for itself", () => {
    const log = new StreamLog(() => 0);
    const attempt = { attempt: 1, error: "no answer", waitMillis: 500 };
    log.append([{ type: "taskAttempt", threadId: "t", taskId: "a", node: "get", step: 2, at: 5, attempt }]);
    expect(log.entries("t")).toMatchObject([{ type: "attempt", at: 5, node: "get", attempt }]);
  });

  test("the next attempt begins its messages anew", () => {
    const log = new StreamLog(() => 0);
    const cut = token({ type: "text", text: "One two " }, "m");
    const taskId = cut.type === "token" ? cut.taskId : "";
    const attempt = { attempt: 1, error: "the connection ended", waitMillis: 500 };
    const other = { ...token({ type: "text", text: "Other" }, "o"), taskId: `${taskId}-other` } as AppEvent;
    log.append([cut, other]);
    log.append([{ type: "taskAttempt", threadId: "t", taskId, node: "say", step: 1, at: 5, attempt }]);
    log.append([
      { ...other, piece: { type: "text", text: " one" } } as AppEvent,
      token({ type: "text", text: "One two three." }, "m"),
    ]);
    expect(log.entries("t")).toMatchObject([
      { type: "text", text: "Other one" },
      { type: "attempt", attempt },
      { type: "text", text: "One two three." },
    ]);
  });
});

describe("what was kept of a thread", () => {
  /** A workbench that answers when it is asked to. */
  const workbench = () => {
    const asked: {
      mark: string;
      after?: number;
      answer(events: AppEvent[], leftOut?: boolean): Promise<void>;
    }[] = [];
    const read = (request: { mark: string; after?: number }) =>
      new Promise<ThreadEvents>((resolve) => {
        asked.push({
          ...request,
          answer: async (events, leftOut = false) => {
            resolve({ events, leftOut, last: 7 });
            await Promise.resolve();
            await Promise.resolve();
          },
        });
      });
    return { asked, read };
  };

  test("comes before what follows the moment it is of, whichever arrives first", async () => {
    for (const answerFirst of [true, false]) {
      const log = new StreamLog(() => 0);
      const { asked, read } = workbench();
      log.append([begun(1)]);
      void log.open("t", read);
      log.append([begun(2)]);
      const [request] = asked;
      if (!request) throw new Error("nothing was asked");
      const moment = () => log.append([{ type: "mark", mark: request.mark }, begun(3)]);
      const answer = () => request.answer([begun(0), begun(1), begun(2)], true);
      if (answerFirst) {
        await answer();
        expect(times(log)).toEqual([1, 2]);
        moment();
      } else {
        moment();
        await answer();
      }
      expect(times(log)).toEqual([0, 0, 1, 2, 3]);
      expect(log.entries("t")[0]?.type).toBe("leftOut");
      void log.open("t", read);
      expect(asked).toHaveLength(1);
    }
  });

  test("is added to while only another program runs the thread, and read whole otherwise", async () => {
    const log = new StreamLog(() => 0);
    const { asked, read } = workbench();
    const settle = async (events: AppEvent[]) => {
      const request = asked.at(-1);
      if (!request) throw new Error("nothing was asked");
      log.append([{ type: "mark", mark: request.mark }]);
      await request.answer(events);
      return request.after;
    };
    void log.open("t", read);
    expect(await settle([begun(1)])).toBeUndefined();
    void log.refresh("t", read);
    expect(await settle([begun(2)])).toBe(7);
    expect(times(log)).toEqual([1, 2]);
    log.append([begun(3)]);
    void log.refresh("t", read);
    expect(await settle([begun(1), begun(2), begun(3)])).toBeUndefined();
    expect(times(log)).toEqual([1, 2, 3]);
    // An event of this program while what is new is read: all is read.
    void log.refresh("t", read);
    log.append([begun(4)]);
    expect(await settle([begun(4)])).toBe(7);
    expect(await settle([begun(1), begun(2), begun(3), begun(4)])).toBeUndefined();
    expect(times(log)).toEqual([1, 2, 3, 4]);
  });

  test("is read again after events were lost", async () => {
    const log = new StreamLog(() => 0);
    const { asked, read } = workbench();
    void log.open("t", read);
    log.gap();
    await asked[0]?.answer([begun(1)]);
    expect(times(log)).toEqual([]);
    void log.open("t", read);
    log.append([{ type: "mark", mark: asked[1]?.mark ?? "" }]);
    await asked[1]?.answer([begun(1), begun(2)]);
    expect(times(log)).toEqual([1, 2]);
  });
});
