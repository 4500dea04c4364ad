/** The mark of an invariant: how it stands at the moment that is shown. */
import { Shield as Plain, ShieldAlert, ShieldCheck, ShieldQuestionMark } from "lucide-react";
import { useStanding } from "../../debugger/state/invariants";
import { t } from "../../lib/texts";

const MARKS = {
  holds: [ShieldCheck, "text-done"],
  broken: [ShieldAlert, "text-failed"],
  elsewhere: [Plain, "text-text-3"],
  unknown: [ShieldQuestionMark, "text-text-3"],
} as const;

export function Shield({ id, size = 14 }: { id: string; size?: number }) {
  const standing = useStanding((store) => store.of[id]);
  const state = standing?.state ?? null;
  const [Mark, tone] = state === null ? ([Plain, "text-text-3"] as const) : MARKS[state];
  const text = state === null ? t("invariants.invariant") : t(`invariants.state.${state}`);
  const why = standing?.message;
  return (
    <span
      className={`flex shrink-0 ${tone}`}
      data-state={state ?? undefined}
      title={why === undefined ? text : `${text}: ${why}`}
      role="img"
      aria-label={text}
    >
      <Mark size={size} aria-hidden />
    </span>
  );
}
