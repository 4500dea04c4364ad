import { describe, expect, test } from "vitest";
import type { AppEvent } from "../ipc/bindings/AppEvent";
import type { TokenPiece } from "../ipc/bindings/TokenPiece";
import { StreamLog } from "./stream-log";

const token = (piece: TokenPiece, messageId = "m"): AppEvent => ({
  type: "token",
  threadId: "t",
  taskId: "a",
  node: "say",
  messageId,
  piece,
});

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
});
