import { describe, expect, test } from "vitest";
import { promptChanges, taskBefore } from "./prompt-changes";

const system = (content: string) => ({ role: "system", content });
const human = (content: string) => ({ role: "user", content });
const ai = (content: string, tool_calls?: unknown[]) => ({
  role: "assistant",
  content,
  ...(tool_calls && { tool_calls }),
});
const sent = (messages: unknown[], more: object = {}, model = "small") => ({
  model,
  request: { messages, ...more },
});

describe("changes of a prompt", () => {
  test("nothing when the same was sent again", () => {
    const one = sent([system("Be brief."), human("Hi")], { temperature: 0.2 });
    expect(promptChanges(one, structuredClone(one))).toEqual([]);
  });

  test("another system prompt is one message that changed, and the rest is equal", () => {
    expect(
      promptChanges(
        sent([system("Be brief. It is Monday."), human("Hi"), ai("Hello")]),
        sent([system("Be brief. It is Tuesday."), human("Hi"), ai("Hello")]),
      ),
    ).toEqual([
      {
        kind: "changed",
        role: "system",
        before: "Be brief. It is Monday.",
        after: "Be brief. It is Tuesday.",
      },
      { kind: "equal", count: 2 },
    ]);
  });

  test("what was said since is put in at the end, what was trimmed is taken out", () => {
    const calls = [{ name: "look", args: { id: 7 } }];
    expect(
      promptChanges(
        sent([system("S"), human("1"), ai("one"), human("2")]),
        sent([system("S"), human("2"), ai("", calls), { role: "tool", content: "found" }]),
      ),
    ).toEqual([
      { kind: "equal", count: 1 },
      { kind: "removed", role: "human", text: "1" },
      { kind: "removed", role: "ai", text: "one" },
      { kind: "equal", count: 1 },
      { kind: "added", role: "ai", text: JSON.stringify(calls[0]) },
      { kind: "added", role: "tool", text: "found" },
    ]);
  });

  test("settings, tools and the model come first", () => {
    const changes = promptChanges(
      sent([human("Hi")], { temperature: 0, tools: [{ name: "a" }] }),
      sent([human("Hi")], { tools: [{ name: "b" }], max_tokens: 5 }, "large"),
    );
    expect(changes.map((change) => (change.kind === "setting" ? change.name : change.kind))).toEqual([
      "max_tokens",
      "model",
      "temperature",
      "tools",
      "equal",
    ]);
    expect(changes[0]).toEqual({ kind: "setting", name: "max_tokens", before: null, after: "5" });
    expect(changes[2]).toEqual({ kind: "setting", name: "temperature", before: "0", after: null });
  });

  test("strange requests and very long ones are compared too", () => {
    expect(promptChanges({ model: "m", request: null }, sent([human("a")], {}, "m"))).toEqual([
      { kind: "added", role: "human", text: "a" },
    ]);
    const long = (n: number) => Array.from({ length: n }, (_, at) => human(`m${at}`));
    const changes = promptChanges(sent(long(600)), sent([...long(600), ai("end")]));
    expect(changes).toEqual([
      { kind: "equal", count: 600 },
      { kind: "added", role: "ai", text: "end" },
    ]);
    const trimmed = promptChanges(sent(long(600)), sent([...long(600).slice(1), ai("end")]));
    expect(trimmed.filter(({ kind }) => kind === "added")).toHaveLength(1);
  });
});

describe("the call before", () => {
  const span = (taskId: string, node: string, started: number, more: object = {}) => ({
    taskId,
    node,
    started,
    checkpointId: `c${started}`,
    step: started,
    calls: [{ model: "m", at: started, millis: 1, ended: "done" as const }],
    ...more,
  });
  const path =
    (...ids: string[]) =>
    (id: string) =>
      ids.includes(id);

  test("is of the same node, on the same branch, and not beside it", () => {
    const spans = [
      span("a1", "think", 1),
      span("b1", "write", 2),
      span("other branch", "think", 3),
      span("a2", "think", 4, { calls: [] }),
      span("beside", "think", 5, { checkpointId: "c6" }),
      span("a3", "think", 6),
      span("later", "think", 7),
    ];
    const before = (id: string) => taskBefore(spans, id, path("c1", "c2", "c4", "c6"))?.taskId;
    expect(before("a3"), "a2 asked no model").toBe("a1");
    expect(before("a1")).toBeUndefined();
    expect(before("b1")).toBeUndefined();
    expect(before("not recorded")).toBeUndefined();
  });

  test("of a nested graph is in the same task, or in the task of that node before", () => {
    const spans = [
      span("agent1", "agent", 1, { calls: [] }),
      span("in1", "model", 2, { parent: "agent1", checkpointId: "" }),
      span("agent2", "agent", 4, { calls: [] }),
      span("elsewhere", "model", 5, { checkpointId: "c4" }),
      span("in2", "model", 6, { parent: "agent2", checkpointId: "" }),
      span("in3", "model", 7, { parent: "agent2", checkpointId: "" }),
    ];
    const before = (id: string) => taskBefore(spans, id, path("c1", "c4"))?.taskId;
    expect(before("in3")).toBe("in2");
    expect(before("in2")).toBe("in1");
  });
});
