import { describe, expect, it } from "vitest";
import type { Question } from "../../ipc/bindings/Question";
import { commonCalls, conditionsOf, differing, EVERYTHING, listed, rowsOf, stepOf, valueOf } from "./desk";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const HOUR = 3_600_000;

const question = (id: string, more: Partial<Question> = {}): Question => ({
  interruptId: id,
  threadId: `t-${id}`,
  threadTitle: `Thread ${id}`,
  graphName: "Refunds",
  node: "review",
  text: `Refund ${id}?`,
  choices: [
    { label: "Approve", value: "approve" },
    { label: "Reject", value: "reject" },
  ],
  context: {},
  value: null,
  checkpointId: `c-${id}`,
  since: new Date(NOW).toISOString(),
  ...more,
});

const ids = (questions: readonly Question[]) => questions.map(({ interruptId }) => interruptId);
const look = (questions: readonly Question[], more: Partial<typeof EVERYTHING>, me?: string) =>
  ids(listed(questions, { ...EVERYTHING, ...more }, { me, now: NOW }));

describe("the questions that are shown", () => {
  it("have all words, wherever they stand", () => {
    const all = [
      question("a", { context: { customer: "Ada" } }),
      question("b"),
      question("c", { node: "pay" }),
    ];
    expect(look(all, { words: " refund ADA " })).toEqual(["a"]);
    expect(look(all, { words: "pay" })).toEqual(["c"]);
    expect(look(all, { words: "thread" })).toEqual(["a", "b", "c"]);
  });

  it("fit every condition", () => {
    const since = (hours: number) => new Date(NOW - hours * HOUR).toISOString();
    const until = (hours: number) => ({ deadline: new Date(NOW + hours * HOUR).toISOString() });
    const all = [
      question("a", { since: since(30), value: until(0.5) }),
      question("b", { since: since(2), value: { who: ["Ada", "Grace"] }, graphName: "Orders" }),
      question("c", { value: until(3) }),
    ];
    expect(look(all, { age: "hour" })).toEqual(["a", "b"]);
    expect(look(all, { age: "day" })).toEqual(["a"]);
    expect(look(all, { deadline: "any" })).toEqual(["a", "c"]);
    expect(look(all, { deadline: "hour" })).toEqual(["a"]);
    expect(look(all, { graph: "Orders" })).toEqual(["b"]);
    expect(look(all, { mine: true })).toEqual(["a", "c"]);
    expect(look(all, { mine: true }, "ada ")).toEqual(["a", "b", "c"]);
    expect(look(all, { age: "hour", graph: "Refunds" })).toEqual(["a"]);
    expect(conditionsOf({ ...EVERYTHING, age: "hour", mine: true })).toBe(2);
  });

  it("stand in the order that was chosen", () => {
    const until = (hours: number) => ({ deadline: new Date(NOW + hours * HOUR).toISOString() });
    const all = [
      question("a", { node: "z" }),
      question("b", { value: until(9) }),
      question("c", { value: until(1), graphName: "Accounts" }),
    ];
    expect(look(all, {})).toEqual(["a", "b", "c"]);
    expect(look(all, { sort: "newest" })).toEqual(["c", "b", "a"]);
    expect(look(all, { sort: "deadline" })).toEqual(["c", "b", "a"]);
    expect(look(all, { sort: "graph" })).toEqual(["c", "b", "a"]);
  });

  it("leave out what was put off, until its time is over", () => {
    const all = [
      question("a", { snoozedUntil: NOW + 1 }),
      question("b", { snoozedUntil: NOW }),
      question("c"),
    ];
    expect(look(all, {})).toEqual(["b", "c"]);
    expect(look(all, { snoozed: true })).toEqual(["a"]);
  });

  it("are those of the people to whom they were handed", () => {
    const handed = (id: string, escalated: boolean, who: string[]) =>
      question(id, {
        value: { who },
        delegation: { to: ["Bob"], escalated, at: "" },
      });
    const all = [
      handed("a", false, ["Ada"]),
      handed("b", true, ["Ada"]),
      handed("c", false, []),
      handed("d", true, []),
    ];
    expect(look(all, { mine: true }, "Bob")).toEqual(["a", "b", "c", "d"]);
    expect(look(all, { mine: true }, "Ada"), "what was handed on is not hers any more").toEqual(["b", "d"]);
    expect(look(all, { words: "bob" })).toHaveLength(4);
  });

  it("are those of threads that cost more", () => {
    const all = [question("a"), question("b"), question("c")];
    const costs = new Map([
      ["t-a", 0.02],
      ["t-c", 3],
    ]);
    const see = (more: Partial<typeof EVERYTHING>) =>
      ids(listed(all, { ...EVERYTHING, ...more }, { me: undefined, now: NOW, costs }));
    expect(see({ cost: 0 })).toEqual(["a", "c"]);
    expect(see({ cost: 1 })).toEqual(["c"]);
    expect(see({ sort: "cost" })).toEqual(["c", "a", "b"]);
    expect(conditionsOf({ ...EVERYTHING, cost: 0 })).toBe(1);
  });
});

describe("alike questions", () => {
  it("are those of one node that offer the same, whatever they say", () => {
    const all = [
      question("a"),
      question("b", { choices: [{ label: "Yes", value: true }] }),
      question("c", { text: "Another text" }),
      question("d", { node: "pay" }),
    ];
    expect(rowsOf(all, false).map(({ questions }) => questions.length)).toEqual([1, 1, 1, 1]);
    expect(rowsOf(all, true).map(({ questions }) => ids(questions))).toEqual([["a", "c"], ["b"], ["d"]]);
  });

  it("about tool calls are of the same tool, and show what is the same in all calls", () => {
    const call = (id: string, name: string, args: object) =>
      question(id, { calls: { form: "decisions", calls: [{ name, args, allowed: ["approve"] }] } });
    const all = [
      call("a", "pay", { to: "Ada", eur: 1 }),
      call("b", "pay", { to: "Ada", eur: 2 }),
      call("c", "delete", { to: "Ada" }),
    ] as const;
    expect(rowsOf(all, true).map(({ questions }) => ids(questions))).toEqual([["a", "b"], ["c"]]);
    expect(commonCalls([all[0], all[1]])?.calls).toEqual([
      { name: "pay", args: { to: "Ada" }, allowed: ["approve"] },
    ]);
    expect(commonCalls([question("d")])).toBeUndefined();
  });

  it("keep their row while some of them come and go", () => {
    const all = [question("a"), question("b"), question("c")];
    const [before] = rowsOf(all, true);
    const [after] = rowsOf(all.slice(1), true);
    expect(after?.key).toBe(before?.key);
  });

  it("differ in what not all of them have the same", () => {
    const all = [
      question("a", { context: { amount: 40, currency: "EUR" } }),
      question("b", { context: { amount: 41, currency: "EUR", note: "late" } }),
    ];
    expect(differing(all)).toEqual(["amount", "note"]);
    expect(all.map((one) => valueOf(one, "amount"))).toEqual(["40", "41"]);
    expect(valueOf(all[0] as Question, "note")).toBe("");
  });

  it("are read fast, however many there are", () => {
    const all = Array.from({ length: 10_000 }, (_, n) =>
      question(String(n), { context: { amount: n }, node: `n${n % 6}` }),
    );
    expect(look(all, { words: "refund 77" })).toContain("77");
    expect(rowsOf(all, true)).toHaveLength(6);
  });
});

it("finds the other questions of a step", () => {
  const step = { threadId: "t", checkpointId: "c" };
  const all = [question("a", step), question("b"), question("c", step)];
  expect(ids(stepOf(all, all[0] as Question))).toEqual(["a", "c"]);
});
