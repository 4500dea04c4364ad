/** The answers: the one in the thread, and each that was tried, beside it with its differences, time and cost. */
import { GitFork, PencilLine, Trash2, Undo2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "../../components/Button";
import { IconButton } from "../../components/IconButton";
import { Tabs } from "../../components/Tabs";
import {
  changesOf,
  type Draft,
  forkValues,
  nodeFields,
  type Subject,
} from "../../debugger/exchanges/playground";
import { closePlayground, keyOf, removeTry, type Try } from "../../debugger/exchanges/playground-attempts";
import { CopyButton } from "../../debugger/parts/CopyButton";
import { isObject } from "../../debugger/parts/diff";
import { nodeList } from "../../debugger/parts/format";
import { Pre } from "../../debugger/parts/Pre";
import { WordDiff } from "../../debugger/parts/WordDiff";
import { makeFork } from "../../debugger/run/update-state";
import { inTurn, setField } from "../../document/edits";
import { doc, useRecord } from "../../document/store";
import { edit } from "../../document/edit";
import type { ExchangeView } from "../../ipc/bindings/ExchangeView";
import { count, duration, money } from "../../lib/intl";
import { taskIds } from "../../lib/testIds";
import { problemText, t } from "../../lib/texts";
import { isBusyElsewhere } from "../../state/take-over";
import { showProblem, showToast } from "../../state/toasts";
import { configOf } from "./subject";

function facts(millis: number | undefined, exchange: ExchangeView | undefined): string {
  const { tokens, cost } = exchange ?? {};
  return [
    ...(millis === undefined ? [] : [duration(millis)]),
    ...(tokens
      ? [t("debug.exchanges.tokens", { input: count(tokens.input), output: count(tokens.output) })]
      : []),
    ...(cost ? [money(cost.amount, cost.currency)] : []),
    ...(exchange?.by ? [t(`playground.by.${exchange.by}`)] : []),
  ].join(" · ");
}

interface Props {
  readonly subject: Subject;
  readonly tries: readonly Try[];
  onRestore(draft: Draft): void;
}

export function Tries({ subject, tries, onRestore }: Props) {
  const { exchange } = subject;
  return (
    <div className="flex flex-col gap-3">
      <Card title={t("playground.recorded")} facts={facts(exchange.millis, exchange)}>
        {exchange.answer === undefined ? (
          <p className="text-xs text-text-2">{t("playground.recordedText")}</p>
        ) : (
          <Pre prose height="tall" data-testid={taskIds.playgroundAnswer}>
            {exchange.answer}
          </Pre>
        )}
      </Card>
      {tries.length === 0 && <p className="text-xs text-text-2">{t("playground.none")}</p>}
      {tries.map((one) => (
        <Tried key={one.id} subject={subject} one={one} onRestore={onRestore} />
      ))}
    </div>
  );
}

function Card({
  title,
  facts: line,
  actions,
  children,
  ...rest
}: {
  title: string;
  facts: string;
  actions?: ReactNode;
  children: ReactNode;
  "data-testid"?: string;
  "data-state"?: string;
}) {
  return (
    <section className="rounded-md border border-line" aria-label={title} {...rest}>
      <div className="flex min-h-8 items-center gap-2 border-b border-line px-2">
        <h3 className="shrink-0 text-xs font-semibold">{title}</h3>
        <span className="tabular-nums min-w-0 flex-1 truncate text-2xs text-text-2" title={line}>
          {line}
        </span>
        {actions}
      </div>
      <div className="px-2 py-1.5">{children}</div>
    </section>
  );
}

function Tried({ subject, one, onRestore }: { subject: Subject; one: Try; onRestore(draft: Draft): void }) {
  const before = subject.exchange.answer;
  const [look, setLook] = useState<"diff" | "plain">("diff");
  const comparable = before !== undefined && one.state === "done";
  const same = comparable && before === one.text;
  return (
    <Card
      title={t("playground.try", { n: one.n })}
      facts={[facts(one.millis, one.exchange), changesOf(subject.exchange, one.draft)]
        .filter((text) => text !== "")
        .join(" · ")}
      data-testid={taskIds.playgroundTry}
      data-state={one.state}
      actions={
        <>
          <CopyButton text={one.text} label={t("debug.exchanges.copy")} size={12} />
          <IconButton size="small" label={t("playground.restore")} onClick={() => onRestore(one.draft)}>
            <Undo2 size={13} aria-hidden />
          </IconButton>
          <IconButton
            size="small"
            label={t("playground.remove")}
            onClick={() => removeTry(keyOf(subject), one.id)}
          >
            <Trash2 size={13} aria-hidden />
          </IconButton>
        </>
      }
    >
      {comparable && !same && (
        <div className="pb-1">
          <Tabs
            look="segmented"
            label={t("debug.exchanges.side")}
            value={look}
            onChange={(next) => setLook(next === "plain" ? "plain" : "diff")}
            tabs={[
              { id: "diff", label: t("playground.diff") },
              { id: "plain", label: t("playground.plain") },
            ]}
          />
        </div>
      )}
      {same && <p className="pb-1 text-xs text-text-2">{t("playground.same")}</p>}
      {one.reasoning !== "" && (
        <details className="text-xs text-text-3">
          <summary>{t("debug.reasoning")}</summary>
          <Pre prose height="short">
            {one.reasoning}
          </Pre>
        </details>
      )}
      <div data-testid={taskIds.playgroundAnswer}>
        {comparable && !same && look === "diff" ? (
          <WordDiff before={before} after={one.text} whole />
        ) : (
          <Pre prose height="tall">
            {one.text}
          </Pre>
        )}
      </div>
      {one.state === "stopped" && <p className="text-xs text-text-2">{t("playground.stopped")}</p>}
      {one.problem && (
        <p className="rounded-sm bg-failed-soft px-2 py-1 text-xs text-failed" role="alert">
          {problemText(one.problem).message} {problemText(one.problem).remedy}
        </p>
      )}
      <TakeOver subject={subject} one={one} />
    </Card>
  );
}

function TakeOver({ subject, one }: { subject: Subject; one: Try }) {
  const [busy, setBusy] = useState(false);
  const { node } = subject;
  // Taking a try over, and taking that back, changes what there is to take over.
  useRecord(`node:${node ?? ""}`);
  const config = configOf(subject);
  if (config === null || node === null || one.state === "running") return null;
  const fields = nodeFields(subject.exchange, config, one.draft);
  const asMessage = isMessages(config.into);
  const values = forkValues(config, one, { taskId: subject.taskId, asMessage });
  const toNode = () => {
    const done = edit(t("playground.edit", { node }), (document) =>
      inTurn(
        document,
        ...fields.map(
          ({ pointer, value }) =>
            (current: typeof document) =>
              setField(current, `node:${node}`, pointer, value),
        ),
      ),
    );
    showToast({
      tone: done ? "done" : "info",
      text: t(done ? "playground.tookNode" : "playground.tookNothing", { node }),
    });
  };
  const toFork = async () => {
    if (!values) return;
    setBusy(true);
    try {
      const { threadId, from } = subject;
      const updated = await makeFork({ threadId, checkpointId: from, values, overwrite: [], asNode: node });
      closePlayground();
      showToast({
        tone: "done",
        text: t("playground.tookFork", { node }),
        ...(updated.next.length > 0 && {
          detail: t("playground.tookForkNext", { nodes: nodeList(updated.next) }),
        }),
      });
    } catch (thrown) {
      if (!isBusyElsewhere(thrown)) showProblem(thrown);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="flex flex-wrap gap-2 pt-1.5">
      <Button
        size="small"
        icon={<PencilLine size={13} aria-hidden />}
        title={t("playground.toNodeText")}
        disabled={fields.length === 0}
        onClick={toNode}
        data-testid={taskIds.playgroundNode}
      >
        {t("playground.toNode")}
      </Button>
      <Button
        size="small"
        icon={<GitFork size={13} aria-hidden />}
        title={
          subject.packet === undefined
            ? t("playground.toForkText")
            : `${t("playground.toForkText")}. ${t("playground.forkOthers")}`
        }
        disabled={values === null}
        busy={busy}
        onClick={() => void toFork()}
        data-testid={taskIds.playgroundFork}
      >
        {t("playground.toFork")}
      </Button>
    </div>
  );
}

function isMessages(key: unknown): boolean {
  if (typeof key !== "string") return false;
  const record = doc.get(`key:${key}`);
  return isObject(record) && record.reducer === "add_messages";
}
