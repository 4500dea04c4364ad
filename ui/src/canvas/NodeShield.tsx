/** The shield of a node that has invariants: how many, and whether one is broken at the moment that is shown. */
import { Shield, ShieldAlert } from "lucide-react";
import { anyBroken, useStanding } from "../debugger/state/invariants";
import { invariantsOf, saysOf } from "../document/invariants";
import type { Json } from "../document/types";
import { queryIds } from "../lib/testIds";
import { t, tn } from "../lib/texts";

export function NodeShield({ name, record }: { name: string; record: Json | undefined }) {
  const invariants = invariantsOf(`node:${name}`, record);
  const broken = useStanding(({ of }) =>
    anyBroken(
      of,
      invariants.map(({ id }) => id),
    ),
  );
  const first = useStanding(({ of }) => invariants.find(({ id }) => of[id]?.state === "broken")?.id);
  if (invariants.length === 0) return null;
  const invariant = invariants.find(({ id }) => id === first);
  const text = invariant
    ? t("invariants.shieldBroken", { text: saysOf(invariant) })
    : tn("invariants.shieldOne", "invariants.shield", invariants.length);
  const Mark = broken ? ShieldAlert : Shield;
  return (
    <span
      className="absolute -bottom-2 left-3 grid size-4.5 place-items-center rounded-full border border-line bg-surface-2 text-text-2 data-broken:border-failed data-broken:bg-failed-soft data-broken:text-failed"
      data-broken={broken || undefined}
      title={text}
      role="img"
      aria-label={text}
      data-testid={queryIds.shield(name)}
    >
      <Mark size={11} aria-hidden />
    </span>
  );
}
