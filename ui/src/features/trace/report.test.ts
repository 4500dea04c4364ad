import { expect, it } from "vitest";
import { sumByModel } from "../../debugger/trace/sums";
import { rowsOf, type Span, traceTree } from "../../debugger/trace/tree";
import { clock } from "../../lib/intl";
import { sumsText, traceText } from "./report";

const span = (node: string, from: number, more: Partial<Span> = {}): Span => ({
  runId: "r",
  taskId: node,
  checkpointId: "c",
  node,
  step: 1,
  started: from,
  ended: from + 100,
  end: "done",
  ...more,
});
const spans = [
  span("think", 0, {
    calls: [
      {
        model: "openai::gpt-4o-mini",
        at: 10,
        millis: 50,
        ended: "done",
        tokens: { input: 900, output: 100 },
        cost: { amount: 0.25, currency: "USD" },
      },
    ],
  }),
  span("pay", 100, { end: "failed", error: "CodeError('no | money')" }),
];
const shown = { threadId: "t", summary: "2 tasks" };

it("reports the rows that are open, as deep as they are", () => {
  const tree = traceTree([], spans, { group: true, sort: "start" }, 0);
  const text = traceText(
    shown,
    rowsOf(tree, () => true),
    new Map([["r", 1]]),
  );
  expect(text).toContain("# Trace\n\nthread `t` · 2 tasks");
  const lines = text.split("\n").filter((line) => line.startsWith("|"));
  const names = lines.slice(2).map((line) => line.split(" | ")[0]);
  expect(names).toEqual(["| Run 1 ×2", "| · think", "| · · openai::gpt-4o-mini", "| · pay"]);
  expect(lines.at(-1)).toContain(clock(100));
  expect(lines.at(-1)).toContain("no \\| money");
  expect(lines.at(3)).toContain("USD");
});

it("reports the sums, the longest first", () => {
  const text = sumsText(shown, sumByModel(spans));
  expect(text).toMatch(/\| openai::gpt-4o-mini \| 1 \| 50\sms \|/);
});

it("says that a cost is not all of it", () => {
  const [think] = spans;
  const { cost: _price, ...unpriced } = think?.calls?.[0] ?? {
    model: "own",
    at: 0,
    millis: 1,
    ended: "done",
  };
  const text = sumsText(shown, sumByModel([span("own", 0, { calls: [{ ...unpriced, model: "own" }] })]));
  expect(text).toContain("| no price |");
});
