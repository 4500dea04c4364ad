/** All invariants of the open graph, each with its shield; a row leads to where it is edited. */
import { Plus, Radar } from "lucide-react";
import { useState } from "react";
import { IconButton } from "../../components/IconButton";
import { PanelSection } from "../../components/PanelSection";
import { askCheck } from "../../debugger/state/asked";
import { useStanding } from "../../debugger/state/invariants";
import { placeOf, saysOf } from "../../document/invariants";
import { queryIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { Shield } from "./Shield";
import { addHere } from "./InvariantKeeper";
import { useInvariants } from "./useStandingAtCursor";

export function InvariantList() {
  const graphId = useSession((session) => session.graphId);
  const invariants = useInvariants();
  const broken = useStanding(
    (store) => Object.values(store.of).filter(({ state }) => state === "broken").length,
  );
  const [open, setOpen] = useState(true);
  if (graphId === null || invariants.length === 0) return null;
  return (
    <PanelSection
      title={t("invariants.title")}
      count={invariants.length}
      open={open}
      onOpen={setOpen}
      data-testid={queryIds.invariantList}
      action={
        <>
          {broken > 0 && (
            <span className="px-1 text-2xs font-semibold text-failed" data-testid={queryIds.broken}>
              {t("invariants.state.broken")} {broken}
            </span>
          )}
          <IconButton size="small" label={t("invariants.check")} onClick={() => askCheck({})}>
            <Radar size={14} aria-hidden />
          </IconButton>
          <IconButton size="small" label={t("invariants.add")} onClick={addHere}>
            <Plus size={14} aria-hidden />
          </IconButton>
        </>
      }
    >
      <ul className="max-h-48 overflow-y-auto pb-1">
        {invariants.map((invariant) => (
          <li key={invariant.id}>
            <button
              type="button"
              className="flex min-h-7 w-full items-center gap-1.5 px-3 text-left text-xs hover:bg-surface-3"
              title={invariant.must}
              onClick={() => {
                useSession.getState().setUse("design");
                useSession.getState().focusField(invariant.record, `/invariants/${invariant.place}/must`);
              }}
              data-testid={queryIds.invariantRow}
            >
              <Shield id={invariant.id} />
              <span
                className="min-w-0 flex-1 truncate data-code:font-mono"
                data-code={invariant.message === "" || undefined}
              >
                {saysOf(invariant)}
              </span>
              <span className="max-w-24 truncate text-2xs text-text-3">
                {placeOf(invariant.record) || t("invariants.graph")}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </PanelSection>
  );
}
