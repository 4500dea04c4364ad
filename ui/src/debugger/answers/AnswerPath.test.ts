import { describe, expect, it } from "vitest";
import type { AnswerPreview } from "../../ipc/bindings/AnswerPreview";
import { expected, textOf } from "./AnswerPath";

const cost = (amount: number) => ({ amount, currency: "USD" });

const preview: AnswerPreview = {
  answer: "redo",
  steps: [
    [{ node: "item", kind: "model", tasks: 200, earlier: { runs: 200, millis: 2000, cost: cost(0.01) } }],
    [
      { node: "pay", kind: "http", tasks: 1, effect: "once", earlier: { runs: 1, millis: 300 } },
      { node: "log", kind: "assign", tasks: 1, earlier: { runs: 1, millis: 5 } },
    ],
  ],
  end: { type: "done" },
};

describe("the way of an answer", () => {
  it("takes as long as the longest task of each step, and costs what all tasks cost", () => {
    const { millis, costs } = expected(preview);
    expect(millis).toBe(2300);
    expect(costs).toEqual([cost(2)]);
  });

  it("is read out with its tasks and side effects", () => {
    expect(textOf(preview)).toBe("item ×200 → pay (once) + log → End");
  });
});
