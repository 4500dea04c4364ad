/** Tool calls that wait for a decision: each with its arguments, what its asker says about it, and what may be decided. */
import { Wrench } from "lucide-react";
import type { AskedCall } from "../../ipc/bindings/AskedCall";
import type { CallDecision } from "../../ipc/bindings/CallDecision";
import { listed } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, type TextKey } from "../../lib/texts";
import { isObject } from "../parts/diff";
import { AskedText, Context } from "./AskedQuestion";

const DECISIONS: Readonly<Record<CallDecision, TextKey>> = {
  approve: "debug.calls.approve",
  edit: "debug.calls.edit",
  reject: "debug.calls.reject",
  respond: "debug.calls.respond",
};

export function Calls({ calls, compact }: { calls: readonly AskedCall[]; compact: boolean }) {
  return (
    <ol className="flex flex-col gap-3">
      {calls.map((call, at) => (
        <li key={at} className="flex flex-col gap-1.5" data-testid={debugIds.askedCall}>
          <p className="flex flex-wrap items-baseline gap-x-3 text-sm">
            <span className="flex min-w-0 items-center gap-1.5">
              <Wrench size={14} className="shrink-0 text-text-2" aria-hidden />
              {calls.length > 1 && <span className="tabular-nums text-text-2">{at + 1}.</span>}
              <span className="select-text font-mono font-semibold [overflow-wrap:anywhere]">
                {call.name}
              </span>
            </span>
            <span className="text-xs text-text-2">
              {t("debug.calls.allowed", { decisions: listed(call.allowed.map((one) => t(DECISIONS[one]))) })}
            </span>
          </p>
          {calls.length > 1 && call.description !== undefined && (
            <div className="select-text text-sm text-text-2 [overflow-wrap:anywhere]">
              <AskedText text={call.description} />
            </div>
          )}
          <Arguments args={call.args} compact={compact} />
        </li>
      ))}
    </ol>
  );
}

function Arguments({ args, compact }: { args: unknown; compact: boolean }) {
  const entries = isObject(args) ? Object.entries(args) : [];
  if (entries.length === 0) return <p className="text-xs text-text-3">{t("debug.calls.noArguments")}</p>;
  return <Context entries={entries} compact={compact} />;
}
