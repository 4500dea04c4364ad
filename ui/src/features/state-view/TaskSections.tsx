/** The parts of a task: what it was given, how it ran, what it logged, called and wrote. */
import type { ReactNode } from "react";
import { Fold } from "../../components/Fold";
import { CopyButton } from "../../debugger/parts/CopyButton";
import { isObject } from "../../debugger/parts/diff";
import { json, Pre, viewText } from "../../debugger/parts/Pre";
import { MessageBubble, roleOf } from "../../debugger/state/Conversation";
import { emittedText } from "../../debugger/exchanges/task-report";
import type { TaskDetail } from "../../ipc/bindings/TaskDetail";
import type { TaskView } from "../../ipc/bindings/TaskView";
import type { UnworkedResult } from "../../ipc/bindings/UnworkedResult";
import type { ValueView } from "../../ipc/bindings/ValueView";
import { clock, count, duration, listed, money } from "../../lib/intl";
import { taskIds } from "../../lib/testIds";
import { t, tn, type TextKey } from "../../lib/texts";

function Section({
  title,
  action,
  children,
  ...rest
}: {
  title: string;
  action?: ReactNode;
  children: ReactNode;
  "data-testid"?: string;
}) {
  return (
    <section className="mt-2" aria-label={title} {...rest}>
      <div className="flex min-h-6 items-center justify-between">
        <h4 className="font-semibold text-text-2">{title}</h4>
        {action}
      </div>
      {children}
    </section>
  );
}

const whole = (view: ValueView | undefined): string => viewText(view);

function Values({ values }: { values: readonly (readonly [string, ValueView | undefined])[] }) {
  return (
    <dl>
      {values.map(([key, view]) => (
        <div key={key} className="mt-0.5">
          <dt className="font-mono text-text-2">{key}</dt>
          <dd>
            <Pre height="short" tone="plain">
              {whole(view)}
            </Pre>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The packet, or the state: the keys that the task read, and the others folded. */
export function Input({ task, detail }: { task: TaskView; detail: TaskDetail }) {
  const { input } = detail;
  if (input.kind === "packet") {
    return (
      <Section
        title={t("task.packet")}
        action={
          <CopyButton
            text={() => (input.value.value === undefined ? "" : json(input.value.value))}
            label={t("debug.copyValue")}
            size={12}
          />
        }
        data-testid={taskIds.input}
      >
        <Pre tone="plain">{whole(input.value)}</Pre>
      </Section>
    );
  }
  const keys = Object.entries(input.value).sort(([a], [b]) => a.localeCompare(b, "en"));
  const reads = task.record?.reads;
  const read = keys.filter(([key]) => reads?.kind === "keys" && reads.keys.includes(key));
  const others = keys.filter((entry) => !read.includes(entry));
  return (
    <Section title={t("task.input")} data-testid={taskIds.input}>
      {keys.length === 0 && <p className="text-text-2">{t("task.inputNone")}</p>}
      <Values values={read} />
      {others.length > 0 && (
        <Fold
          small
          className="-ml-2"
          begin={reads?.kind !== "keys" && others.length <= 12}
          head={
            read.length > 0
              ? tn("task.inputOtherOne", "task.inputOther", others.length)
              : listed(others.map(([key]) => key))
          }
        >
          {() => <Values values={others} />}
        </Fold>
      )}
    </Section>
  );
}

const EFFECTS: Record<string, TextKey> = {
  pure: "task.effect.pure",
  reads: "task.effect.reads",
  idempotent: "task.effect.idempotent",
  once: "task.effect.once",
};

/** Classes of the failures of tasks that took too long. */
const TIMEOUTS: ReadonlySet<string> = new Set(["NodeTimeoutError", "TimeoutError"]);

/** How a result came about that no work was done for. */
const UNWORKED: Record<UnworkedResult, TextKey> = {
  cache: "task.how.cached",
  branch: "task.how.reused",
  answer: "task.how.given",
};

/** Why it ran as it did, or did not: in words, as far as it is known. */
function howItRan(task: TaskView, detail: TaskDetail): string[] {
  const { spans, unworked, instead, effect } = detail;
  const lines: string[] = [];
  const failures = task.attempts?.length ?? 0;
  const last = spans.at(-1);
  if (unworked) lines.push(t(UNWORKED[unworked]));
  else if (instead !== undefined && task.status === "done") lines.push(t("task.how.again"));
  if (task.status === "waiting") lines.push(t("task.how.queued"));
  if (task.status === "asking") lines.push(t("task.how.asking"));
  if (last && !unworked) lines.push(t("task.how.began", { time: clock(last.started) }));
  else if (task.status === "done" && !unworked) lines.push(t("task.how.unrecorded"));
  if (spans.length > 1 && !unworked) lines.push(t("task.how.runs", { n: spans.length }));
  if (task.status === "done" && failures > 0) lines.push(t("task.how.attempts", { n: failures + 1 }));
  if (task.status === "failed" && failures > 0) lines.push(t("task.how.gaveUp", { n: failures + 1 }));
  const { failure } = task;
  if (failure && TIMEOUTS.has(failure.class)) lines.push(t("task.how.timedOut"));
  if (failure?.status !== undefined) lines.push(t("task.how.status", { status: failure.status }));
  if (effect !== undefined) {
    const word = EFFECTS[effect];
    lines.push(t("task.effect", { effect: word ? t(word) : effect }));
  }
  return lines;
}

export function How({ task, detail }: { task: TaskView; detail: TaskDetail }) {
  const lines = howItRan(task, detail);
  if (lines.length === 0) return null;
  return (
    <p className="tabular-nums mt-1 text-text-2" data-testid={taskIds.how}>
      {lines.join(" · ")}
    </p>
  );
}

export function Log({ detail }: { detail: TaskDetail }) {
  const { emitted, moreEmitted } = detail;
  if (emitted.length === 0) return null;
  return (
    <Section
      title={t("task.log")}
      action={
        <CopyButton
          text={() => emitted.map(({ value }) => emittedText(value)).join("\n")}
          label={t("debug.exchanges.copy")}
          size={12}
        />
      }
      data-testid={taskIds.log}
    >
      {moreEmitted && <p className="text-text-3">{t("task.logMore")}</p>}
      <ol className="max-h-60 overflow-y-auto rounded-sm bg-surface-2 px-2 py-1 font-mono">
        {emitted.map(({ at, value }, index) => (
          <li key={index} className="flex gap-2" title={clock(at)}>
            <span className="tabular-nums shrink-0 text-text-3">{clock(at).slice(-6)}</span>
            <span className="select-text min-w-0 whitespace-pre-wrap wrap-anywhere">
              {emittedText(value)}
            </span>
          </li>
        ))}
      </ol>
    </Section>
  );
}

const callsTools = (message: unknown): boolean =>
  roleOf(message) === "tool" ||
  (isObject(message) && Array.isArray(message.tool_calls) && message.tool_calls.length > 0);

/** Messages among the writes that call tools, or are what they answered. */
export function ToolCalls({ result }: { result: ValueView }) {
  if (!isObject(result.value)) return null;
  const messages = Object.values(result.value)
    .flatMap((value): unknown[] => (Array.isArray(value) ? value : [value]))
    .filter(callsTools);
  if (messages.length === 0) return null;
  return (
    <Section title={t("task.toolCalls")}>
      <div className="-mx-3">
        {messages.map((message, index) => (
          <MessageBubble key={index} message={message} />
        ))}
      </div>
    </Section>
  );
}

/** What it wrote, key by key. */
export function Writes({ result }: { result: ValueView }) {
  const { value } = result;
  return (
    <Section
      title={t("debug.tasks.wrote")}
      action={
        value !== undefined && <CopyButton text={() => json(value)} label={t("debug.copyValue")} size={12} />
      }
      data-testid={taskIds.writes}
    >
      {isObject(value) && Object.keys(value).length > 0 ? (
        <dl>
          {Object.entries(value).map(([key, item]) => (
            <div key={key} className="mt-0.5">
              <dt className="font-mono text-text-2">{key}</dt>
              <dd>
                <Pre tone="plain">{json(item)}</Pre>
              </dd>
            </div>
          ))}
        </dl>
      ) : (
        <Pre>{whole(result)}</Pre>
      )}
    </Section>
  );
}

/** Calls of models whose texts are not in this data folder: the thread was imported, or they were too many. */
export function BareCalls({ detail }: { detail: TaskDetail }) {
  const calls = detail.spans.flatMap((span) => span.calls ?? []);
  if (calls.length === 0) return null;
  return (
    <Section title={t("debug.exchanges")} data-testid={taskIds.calls}>
      <ul>
        {calls.map((call) => (
          <li key={call.at} className="tabular-nums">
            <span className="font-medium">{call.model}</span>{" "}
            <span className="text-text-2">
              {[
                t(`debug.exchanges.${call.ended}`),
                duration(call.millis),
                ...(call.tokens
                  ? [
                      t("debug.exchanges.tokens", {
                        input: count(call.tokens.input),
                        output: count(call.tokens.output),
                      }),
                    ]
                  : []),
                ...(call.cost ? [money(call.cost.amount, call.cost.currency)] : []),
              ].join(" · ")}
            </span>
          </li>
        ))}
      </ul>
      <p className="text-text-3">{t("task.callsBare")}</p>
    </Section>
  );
}
