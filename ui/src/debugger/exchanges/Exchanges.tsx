/** What a task asked of models and what they answered, as it went over the wire. */
import { Check, CircleSlash, FlaskConical, X } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/Button";
import { Fold } from "../../components/Fold";
import { Tabs } from "../../components/Tabs";
import type { ExchangeView } from "../../ipc/bindings/ExchangeView";
import { clock, count, duration, money } from "../../lib/intl";
import { debugIds, taskIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { CopyButton } from "../parts/CopyButton";
import { frames, sum } from "./exchange-text";
import { json, Pre } from "../parts/Pre";
import type { ExchangeOf } from "./playground";
import { PromptChanges } from "./PromptChanges";
import { openPlayground } from "./playground-attempts";
import { useExchanges } from "./useExchanges";

/** Of a task of a thread; nothing when it asked no model. */
export function TaskExchanges({ threadId, taskId }: { threadId: string; taskId: string }) {
  return <Exchanges exchanges={useExchanges(threadId, taskId)} />;
}

export function Exchanges({
  exchanges,
  of,
}: {
  exchanges: readonly ExchangeView[];
  /** Whose they are, where they can be tried again. */
  of?: ExchangeOf;
}) {
  if (exchanges.length === 0) return null;
  const all = sum(exchanges);
  return (
    <section className="mt-2" aria-label={t("debug.exchanges")} data-testid={debugIds.exchanges}>
      <div className="flex items-center justify-between gap-2">
        <h4 className="text-xs font-semibold text-text-2">
          {t("debug.exchanges")}: {tn("debug.exchanges.one", "debug.exchanges.many", exchanges.length)}
        </h4>
        <CopyButton text={() => json(exchanges)} label={t("debug.exchanges.copyAll")} size={12} />
      </div>
      {exchanges.length > 1 && (
        <p className="tabular-nums text-2xs text-text-2">
          {[duration(all.millis), ...used(all)].join(" · ")}
          {all.cost && ` · ${[...all.cost].map(([currency, amount]) => money(amount, currency)).join(" + ")}`}
        </p>
      )}
      <ol className="mt-1 border-l border-line">
        {exchanges.map((exchange, index) => (
          <Row
            key={`${exchange.at}/${index}`}
            exchange={exchange}
            before={exchanges[index - 1]}
            first={exchanges.length === 1}
            of={of}
          />
        ))}
      </ol>
    </section>
  );
}

function used(tokens: { input: number; output: number } | undefined): string[] {
  if (!tokens || tokens.input + tokens.output === 0) return [];
  return [t("debug.exchanges.tokens", { input: count(tokens.input), output: count(tokens.output) })];
}

const MARKS = {
  done: <Check size={12} className="shrink-0 text-done" aria-hidden />,
  failed: <X size={12} className="shrink-0 text-failed" aria-hidden />,
  left: <CircleSlash size={12} className="shrink-0 text-paused" aria-hidden />,
};

interface RowProps {
  readonly exchange: ExchangeView;
  /** The call before it in the task. */
  readonly before: ExchangeView | undefined;
  readonly first: boolean;
  readonly of: ExchangeOf | undefined;
}

function Row({ exchange, before, first, of }: RowProps) {
  return (
    <li data-testid={debugIds.exchange} data-ended={exchange.ended}>
      <Fold
        small
        head={
          <>
            {MARKS[exchange.ended]}
            <span className="flex min-w-0 flex-wrap gap-x-1.5">
              <span className="min-w-0 truncate font-medium text-text">{exchange.model}</span>
              <span className="tabular-nums">
                {[
                  t(`debug.exchanges.${exchange.ended}`),
                  ...(exchange.by ? [t(`playground.by.${exchange.by}`)] : []),
                  duration(exchange.millis),
                  ...used(exchange.tokens),
                  ...(exchange.cost ? [money(exchange.cost.amount, exchange.cost.currency)] : []),
                ].join(" · ")}
              </span>
            </span>
          </>
        }
      >
        {() => <Detail exchange={exchange} before={before} tall={first} of={of} />}
      </Fold>
    </li>
  );
}

const SIDES = ["request", "changes", "response", "raw"] as const;

function Detail({
  exchange,
  before,
  tall,
  of,
}: {
  exchange: ExchangeView;
  before: ExchangeView | undefined;
  tall: boolean;
  of: ExchangeOf | undefined;
}) {
  const [side, setSide] = useState<(typeof SIDES)[number]>("request");
  const text =
    side === "request" || side === "changes"
      ? json(exchange.request)
      : side === "response"
        ? frames(exchange.response === "" ? (exchange.answer ?? "") : exchange.response)
        : exchange.response;
  return (
    <div className="px-2 pb-2 pl-6">
      <p className="select-text text-2xs text-text-3 [overflow-wrap:anywhere]">
        {clock(exchange.at)}
        {exchange.address !== "" && ` · ${exchange.address}`}
      </p>
      {of && (
        <Button
          size="small"
          className="my-1"
          icon={<FlaskConical size={13} aria-hidden />}
          onClick={() => openPlayground({ ...of, exchange })}
          data-testid={taskIds.playgroundOpen}
        >
          {t("playground.open")}
        </Button>
      )}
      <Tabs
        look="segmented"
        label={t("debug.exchanges.side")}
        value={side}
        onChange={(next) => setSide(next as typeof side)}
        tabs={SIDES.filter((id) => id !== "changes" || of !== undefined).map((id) => ({
          id,
          label: t(`debug.exchanges.${id}`),
        }))}
        aside={<CopyButton text={text} label={t("debug.exchanges.copy")} size={12} />}
      />
      {side === "request" && <p className="mt-1 text-2xs text-text-3">{t("debug.exchanges.requestHelp")}</p>}
      {side === "changes" && of ? (
        <PromptChanges exchange={exchange} of={of} inTask={before} />
      ) : (
        <Pre
          height={tall ? "tall" : "normal"}
          tone="plain"
          className="mt-1"
          data-testid={debugIds.exchangeText}
        >
          {text === "" ? t("debug.exchanges.nothing") : text}
        </Pre>
      )}
    </div>
  );
}
