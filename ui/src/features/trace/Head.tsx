/** What all that is shown came to: time, tasks, models, tokens, money. */
import { memo } from "react";
import { sumByModel } from "../../debugger/trace/sums";
import { type Span, waitedOf } from "../../debugger/trace/tree";
import { count } from "../../lib/intl";
import { traceIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { moneyOf } from "../../debugger/exchanges/exchange-text";
import { timeOf, unpricedText } from "./format";

interface Props {
  readonly spans: readonly Span[];
  /** How long the runs took together. */
  readonly millis: number;
  readonly leftOut: boolean;
}

/** All of it in a line. */
export function summaryText({ spans, millis, leftOut }: Props): string {
  const models = sumByModel(spans);
  const calls = models.reduce((sum, model) => sum + model.count, 0);
  const input = models.reduce((sum, model) => sum + model.input, 0);
  const output = models.reduce((sum, model) => sum + model.output, 0);
  const unpriced = models.reduce((sum, model) => sum + model.unpriced, 0);
  const cost = new Map<string, number>();
  for (const model of models)
    for (const [currency, amount] of model.cost) cost.set(currency, (cost.get(currency) ?? 0) + amount);
  const waited = spans.reduce((sum, span) => sum + waitedOf(span), 0);
  const parts = [
    timeOf(millis),
    tn("trace.tasksOne", "trace.tasks", spans.length),
    calls > 0 ? tn("trace.modelCallsOne", "trace.modelCalls", calls) : "",
    input + output > 0 ? t("trace.tokens", { input: count(input), output: count(output) }) : "",
    moneyOf(cost),
    unpricedText(unpriced) ?? "",
    waited > 0 ? t("trace.waited", { time: timeOf(waited) }) : "",
    leftOut ? t("trace.leftOut") : "",
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

export const Head = memo(function Head(props: Props) {
  return (
    <span className="text-2xs text-text-2 tabular-nums" data-testid={traceIds.summary}>
      {summaryText(props)}
    </span>
  );
});
