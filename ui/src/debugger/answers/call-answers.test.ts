import { describe, expect, it } from "vitest";
import type { Asked } from "../../ipc/bindings/Asked";
import type { AskedCalls } from "../../ipc/bindings/AskedCalls";
import { answerOf, decisionsIn } from "./call-answers";
import { choicesOf, keyOf } from "./choices";

const call = (name: string) => ({ name, args: {}, allowed: [] });
const of = (form: AskedCalls["form"], ...names: string[]): AskedCalls => ({ form, calls: names.map(call) });
const edit = { type: "edit" };
const reject = { type: "reject" };

describe("an answer about tool calls", () => {
  it("is in the form that its asker reads", () => {
    expect(answerOf(of("decisions", "pay"), edit)).toEqual({ decisions: [edit] });
    expect(answerOf(of("responses", "pay"), edit)).toEqual([edit]);
    expect(answerOf(of("decision", "pay"), edit)).toEqual(edit);
    expect(answerOf(of("decisions", "pay", "send"), { "2": reject, "1": edit })).toEqual({
      decisions: [edit, reject],
    });
    expect(answerOf(undefined, "yes")).toBe("yes");
  });

  it("is shown as the decisions in it", () => {
    for (const calls of [of("decisions", "a"), of("responses", "a"), of("decision", "a")])
      expect(decisionsIn(calls, answerOf(calls, edit))).toEqual(edit);
    const two = of("responses", "a", "b");
    expect(decisionsIn(two, answerOf(two, { "1": edit, "2": reject }))).toEqual({ "1": edit, "2": reject });
    expect(decisionsIn(two, answerOf(two, { "2": reject })), "one is undecided").toEqual({ "2": reject });
  });

  it("with more or fewer decisions than there are calls is none", () => {
    expect(decisionsIn(of("decisions", "a"), { decisions: [edit, edit] })).toBeUndefined();
    expect(decisionsIn(of("responses", "a", "b"), [edit])).toBeUndefined();
    expect(decisionsIn(of("decisions", "a"), "approve")).toBeUndefined();
    expect(decisionsIn(of("decisions", "a"), answerOf(of("decisions", "a"), undefined))).toBeUndefined();
  });
});

describe("what can be chosen", () => {
  const form = (title: string, word: string) => ({
    title,
    type: "object",
    required: ["type"],
    properties: { type: { const: word } },
  });
  const choice = (label: string, ...words: string[]) => ({
    label,
    value: { decisions: words.map((type) => ({ type })) },
  });

  it("is what the call allows, and each decision once", () => {
    const asked = {
      text: "",
      context: {},
      value: null,
      choices: [choice("Approve", "approve"), choice("Reject", "reject")],
      schema: { oneOf: [form("Approve", "approve"), form("Edit", "edit"), form("Respond", "respond")] },
      calls: of("decisions", "pay"),
    } satisfies Asked;
    const choices = choicesOf(asked);
    expect(choices.map(({ label }) => label)).toEqual(["Approve", "Reject", "Edit…", "Respond…"]);
    expect(choices.map((_, at) => keyOf(choices, at))).toEqual(["A", "R", "3", "4"]);
    expect(choices[2]?.form).toEqual({ type: "edit" });
  });

  it("is one decision for each of several calls, too", () => {
    const asked = {
      text: "",
      context: {},
      value: null,
      choices: [choice("Approve all", "approve", "approve")],
      schema: { type: "object", properties: { "1": { oneOf: [form("Approve", "approve")] } } },
      calls: of("decisions", "pay", "send"),
    } satisfies Asked;
    expect(choicesOf(asked).map(({ label, form: filled }) => [label, filled])).toEqual([
      ["Approve all", undefined],
      ["Each by itself…", {}],
    ]);
  });
});
