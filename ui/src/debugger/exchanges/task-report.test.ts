import { describe, expect, it } from "vitest";
import type { TaskDetail } from "../../ipc/bindings/TaskDetail";
import type { TaskView } from "../../ipc/bindings/TaskView";
import { emittedText, reportOf } from "./task-report";

const view = (value: unknown) => ({ kind: "any", bytes: 1, length: 1, value });
const task: TaskView = {
  id: "t-1",
  node: "service",
  status: "done",
  interrupts: [],
  targets: ["approve"],
  millis: 340,
  attempts: [{ attempt: 1, error: "CodeError('unavailable')", waitMillis: 50 }],
  result: view({ retries: 1 }),
  record: {
    reads: { kind: "keys", keys: ["sum"] },
    decisions: [
      { edge: "e", to: ["approve"], packets: 0, expression: "state.sum > 0", values: [], conditions: [] },
      { edge: "f", to: [], packets: 0, values: [], conditions: [] },
    ],
  },
};
const detail: TaskDetail = {
  input: { kind: "state", value: { sum: view(7), other: view("not read") } },
  emitted: [
    { at: 1, value: { log: "attempt 1", node: "service" } },
    { at: 2, value: { half: true } },
  ],
  moreEmitted: false,
  spans: [],
};

describe("a task as text", () => {
  it("has what it read, how it went, what came of it and where it led", () => {
    const text = reportOf({ threadId: "th", from: "cp", step: 45, task, detail, exchanges: [] });
    expect(text.split("\n")).toEqual([
      "service · Step 45 · Done · 340\u202fms",
      "thread th, checkpoint cp, task t-1",
      "Input:",
      "  sum = 7",
      "attempt 1 failed: unavailable",
      "Log:",
      "  attempt 1",
      '  {"half":true}',
      'Writes: {"retries":1}',
      "To approve, state.sum > 0",
    ]);
  });

  it("has calls of models with their cost and answer, and a packet for the input", () => {
    const exchanges = [
      {
        taskId: "t-1",
        model: "openai::m",
        address: "",
        at: 1,
        millis: 20,
        request: {},
        response: "",
        answer: "two\nlines",
        ended: "done" as const,
        tokens: { input: 3, output: 4 },
        cost: { amount: 0.5, currency: "USD" },
      },
    ];
    const given: TaskDetail = {
      ...detail,
      input: { kind: "packet", value: view({ item: 137 }) },
      emitted: [],
    };
    const text = reportOf({ threadId: "th", from: "cp", step: 1, task, detail: given, exchanges });
    expect(text).toContain('Packet: {"item":137}');
    expect(text).toContain(
      "  openai::m: answered, 20\u202fms, 3 tokens in, 4 out, 0.50\u202fUSD\n    two\n    lines",
    );
  });

  it("copes with what is not known", () => {
    const bare: TaskView = {
      id: "t",
      node: "n",
      status: "failed",
      interrupts: [],
      targets: [],
      error: "E('no')",
    };
    const text = reportOf({ threadId: "th", from: "cp", step: 1, task: bare, detail: null, exchanges: [] });
    expect(text).toBe("n · Step 1 · Failed\nthread th, checkpoint cp, task t\nError: no");
    expect(emittedText("x")).toBe('"x"');
  });
});
