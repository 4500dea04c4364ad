/** A task as text, for a report: what it was given, what it did, what came of it. Pure. */
import type { ExchangeView } from "../../ipc/bindings/ExchangeView";
import type { TaskDetail } from "../../ipc/bindings/TaskDetail";
import type { TaskView } from "../../ipc/bindings/TaskView";
import type { ValueView } from "../../ipc/bindings/ValueView";
import { duration, money } from "../../lib/intl";
import { t } from "../../lib/texts";
import { isObject } from "../parts/diff";
import { nodeList, readableError } from "../parts/format";
import { statusText } from "../parts/StatusMark";

export interface Reported {
  readonly threadId: string;
  readonly from: string;
  readonly step: number;
  readonly task: TaskView;
  readonly detail: TaskDetail | null;
  readonly exchanges: readonly ExchangeView[];
}

const whole = (view: ValueView): string =>
  view.value === undefined ? `${view.head ?? view.kind}… (${view.bytes} B)` : JSON.stringify(view.value);

/** What was logged reads as a line; anything else as it is. */
export const emittedText = (value: unknown): string =>
  isObject(value) && typeof value.log === "string" ? value.log : JSON.stringify(value);

function inputLines(detail: TaskDetail | null, reads: readonly string[] | null): string[] {
  if (detail === null) return [];
  if (detail.input.kind === "packet") return [`${t("task.packet")}: ${whole(detail.input.value)}`];
  const keys = Object.entries(detail.input.value).filter(([key]) => reads === null || reads.includes(key));
  return [`${t("task.input")}:`, ...keys.map(([key, view]) => `  ${key} = ${whole(view as ValueView)}`)];
}

function callLine(exchange: ExchangeView): string {
  const { model, ended, millis, tokens, cost, answer } = exchange;
  const facts = [
    t(`debug.exchanges.${ended}`),
    duration(millis),
    ...(tokens ? [t("debug.exchanges.tokens", { input: tokens.input, output: tokens.output })] : []),
    ...(cost ? [money(cost.amount, cost.currency)] : []),
  ];
  return `  ${model}: ${facts.join(", ")}${answer === undefined ? "" : `\n    ${answer.replaceAll("\n", "\n    ")}`}`;
}

export function reportOf({ threadId, from, step, task, detail, exchanges }: Reported): string {
  const { record } = task;
  const reads = record?.reads.kind === "keys" ? record.reads.keys : null;
  const head = [task.node, t("task.report.step", { step }), statusText(task.status)];
  const lines = [
    [...head, ...(task.millis === undefined ? [] : [duration(task.millis)])].join(" · "),
    `thread ${threadId}, checkpoint ${from}, task ${task.id}`,
    ...inputLines(detail, reads),
    ...(task.attempts ?? []).map(
      ({ attempt, error }) => `${t("task.report.attempt", { n: attempt })}: ${readableError(error)}`,
    ),
  ];
  if (task.error !== undefined) lines.push(`${t("debug.tasks.error")}: ${readableError(task.error)}`);
  if (detail && detail.emitted.length > 0)
    lines.push(`${t("task.log")}:`, ...detail.emitted.map(({ value }) => `  ${emittedText(value)}`));
  if (exchanges.length > 0) lines.push(`${t("debug.exchanges")}:`, ...exchanges.map(callLine));
  if (task.result) lines.push(`${t("debug.tasks.wrote")}: ${whole(task.result)}`);
  for (const decision of record?.decisions ?? []) {
    if (decision.to.length === 0) continue;
    const why = decision.expression === undefined ? "" : `, ${decision.expression}`;
    lines.push(`${t("debug.decisions.to", { nodes: nodeList(decision.to) })}${why}`);
  }
  return lines.join("\n");
}
