/** What is other in a request than in the call before it of the same node: the prompt by words, messages put in and taken out. */
import { useMemo } from "react";
import type { ExchangeView } from "../../ipc/bindings/ExchangeView";
import { clock } from "../../lib/intl";
import { taskIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { likeness, wordDiff } from "../parts/diff";
import { WordDiff } from "../parts/WordDiff";
import { Spinner } from "../../components/Spinner";
import { type PromptChange, promptChanges } from "./prompt-changes";
import type { ExchangeOf } from "./playground";
import { useCallBefore } from "./useCallBefore";

interface Props {
  readonly exchange: ExchangeView;
  readonly of: ExchangeOf;
  /** The call before it in its task. */
  readonly inTask: ExchangeView | undefined;
}

/** Texts with less in common than this are shown one under the other. */
const ALIKE = 0.3;

export function PromptChanges({ exchange, of, inTask }: Props) {
  const before = useCallBefore(of, inTask);
  const changes = useMemo(
    () => (before.exchange ? promptChanges(before.exchange, exchange) : []),
    [before.exchange, exchange],
  );
  if (before.state === "loading") return <Spinner label={t("debug.loading")} />;
  if (before.state === "failed") return <p className="mt-1 text-text-2">{before.problem?.message}</p>;
  if (!before.exchange) return <p className="mt-1 text-text-2">{t("debug.exchanges.first")}</p>;
  const time = clock(before.exchange.at);
  return (
    <div className="mt-1" data-testid={taskIds.promptChanges}>
      <p className="text-2xs text-text-3">
        {before.step === undefined
          ? t("debug.exchanges.beforeInTask", { time })
          : t("debug.exchanges.beforeAt", { step: before.step, time })}
      </p>
      {changes.length === 0 && <p className="mt-1 text-text-2">{t("debug.exchanges.same")}</p>}
      {changes.map((change, at) => (
        <Change key={at} change={change} />
      ))}
    </div>
  );
}

function nameOf(change: Exclude<PromptChange, { kind: "equal" }>): string {
  if (change.kind === "setting") return t("debug.exchanges.setting", { name: change.name });
  return t(`debug.exchanges.message.${change.kind}`, { role: t(`debug.exchanges.role.${change.role}`) });
}

interface Sides {
  readonly before: string | null;
  readonly after: string | null;
}

function sidesOf(change: Exclude<PromptChange, { kind: "equal" }>): Sides {
  if (change.kind === "added") return { before: null, after: change.text };
  if (change.kind === "removed") return { before: change.text, after: null };
  return change;
}

function Change({ change }: { change: PromptChange }) {
  if (change.kind === "equal")
    return (
      <p className="mt-1.5 text-2xs text-text-3">
        {tn("debug.exchanges.equalOne", "debug.exchanges.equal", change.count)}
      </p>
    );
  const { before, after } = sidesOf(change);
  return (
    <div className="mt-1.5" data-testid={taskIds.promptChange} data-kind={change.kind}>
      <p className="text-2xs font-semibold text-text-2">{nameOf(change)}</p>
      <div className="max-h-80 overflow-y-auto rounded-sm bg-surface-2 px-2 py-1">
        <Texts before={before} after={after} />
      </div>
    </div>
  );
}

function Texts({ before, after }: Sides) {
  const alike = useMemo(
    () => before !== null && after !== null && likeness(wordDiff(before, after)) >= ALIKE,
    [before, after],
  );
  if (alike && before !== null && after !== null) return <WordDiff before={before} after={after} />;
  return (
    <>
      {before !== null && <WordDiff before={before} after="" whole />}
      {after !== null && <WordDiff before="" after={after} whole />}
    </>
  );
}
