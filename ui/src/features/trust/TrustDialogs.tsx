/** Asks before a graph touches something outside of itself, and shows what an open graph may touch. */
import { useEffect, useMemo, useRef, useState } from "react";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { EmptyState } from "../../components/EmptyState";
import { Spinner } from "../../components/Spinner";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { flush } from "../../document/open-graph";
import type { AccessView } from "../../ipc/bindings/AccessView";
import type { TrustNeeded } from "../../ipc/bindings/TrustNeeded";
import type { TrustView } from "../../ipc/bindings/TrustView";
import { rpc } from "../../ipc/client";
import { safetyIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { registerCommands } from "../../state/commands";
import { useSession } from "../../state/session";
import { decideTrust, showTrust, type TrustFor, useTrustAsked } from "../../state/trust";
import { isGrave, keyOf } from "./groups";
import { WantList } from "./WantList";

export function TrustDialogs() {
  const needed = useTrustAsked((asked) => asked.needed);
  const purpose = useTrustAsked((asked) => asked.purpose);
  const shown = useTrustAsked((asked) => asked.shown);
  useEffect(
    () =>
      registerCommands([
        {
          id: "trust.open",
          title: t("trust.open"),
          group: t("safety.group"),
          enabled: () => useSession.getState().graphId !== null,
          run: () => {
            const { graphId } = useSession.getState();
            if (graphId !== null) showTrust(graphId);
          },
        },
      ]),
    [],
  );
  return (
    <>
      {needed !== null && (
        <NeededDialog
          key={needed.project + needed.wants.map((w) => keyOf(w.access)).join()}
          needed={needed}
          purpose={purpose}
        />
      )}
      {shown !== null && <ShownDialog graphId={shown} />}
    </>
  );
}

function Place({ project }: { project: string }) {
  return (
    <p className="pb-2 text-xs/inherit text-text-2 wrap-anywhere">
      {t("trust.folder")} <code>{project.startsWith("draft-") ? t("trust.draft") : project}</code>
    </p>
  );
}

function NeededDialog({ needed, purpose }: { needed: TrustNeeded; purpose: TrustFor }) {
  const [checked, setChecked] = useState<ReadonlySet<string>>(
    () => new Set(needed.wants.filter((want) => !isGrave(want)).map((want) => keyOf(want.access))),
  );
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const later = useRef<HTMLButtonElement>(null);
  const all = needed.wants.every((want) => checked.has(keyOf(want.access)));
  const allow = async () => {
    setBusy(true);
    setProblem(null);
    try {
      await rpc("trust.grant", {
        project: needed.project,
        accesses: needed.wants.map((want) => want.access),
      });
      decideTrust(true);
    } catch (thrown) {
      setProblem(asProblem(thrown));
      setBusy(false);
    }
  };
  return (
    <Dialog
      open
      onClose={() => decideTrust(false)}
      title={t("trust.needed.title", { name: needed.name })}
      description={t(`trust.needed.text.${purpose}`)}
      size="medium"
      initialFocus={later}
      data-testid={safetyIds.trust}
      actions={
        <>
          {!all && (
            <span className="flex-1 self-center text-xs/inherit text-text-2">
              {t(`trust.rest.${purpose}`)}
            </span>
          )}
          <Button ref={later} onClick={() => decideTrust(false)} data-testid={safetyIds.later}>
            {t("trust.later")}
          </Button>
          <Button
            variant="primary"
            disabled={!all}
            busy={busy}
            onClick={() => void allow()}
            data-testid={safetyIds.allow}
          >
            {t(`trust.allow.${purpose}`)}
          </Button>
        </>
      }
    >
      <Place project={needed.project} />
      {problem && <ProblemNote problem={problem} />}
      <WantList
        wants={needed.wants}
        checked={checked}
        onChange={(access, next) => setChecked(changed(checked, access, next))}
      />
    </Dialog>
  );
}

function changed(set: ReadonlySet<string>, access: AccessView, has: boolean): Set<string> {
  const next = new Set(set);
  if (has) next.add(keyOf(access));
  else next.delete(keyOf(access));
  return next;
}

function ShownDialog({ graphId }: { graphId: string }) {
  const [view, setView] = useState<TrustView | null>(null);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const close = () => useTrustAsked.setState({ shown: null });
  useEffect(() => {
    let open = true;
    flush()
      .then(() => rpc("trust.show", { graphId }))
      .then(
        (shown) => open && setView(shown),
        (thrown: unknown) => open && setProblem(asProblem(thrown)),
      );
    return () => {
      open = false;
    };
  }, [graphId]);
  const earlier = useMemo(() => {
    if (view === null) return [];
    const wanted = new Set(view.wants.map((want) => keyOf(want.access)));
    return view.project.granted
      .filter((grant) => !wanted.has(keyOf(grant.access)))
      .map((grant) => ({ access: grant.access, inside: false, granted: true, nodes: [] }));
  }, [view]);
  const set = async (access: AccessView, granted: boolean) => {
    if (view === null) return;
    setProblem(null);
    try {
      const { project } = view.project;
      if (granted) await rpc("trust.grant", { project, accesses: [access] });
      else await rpc("trust.revoke", { project, accesses: [access] });
      setView(await rpc("trust.show", { graphId }));
    } catch (thrown) {
      setProblem(asProblem(thrown));
    }
  };
  return (
    <Dialog
      open
      onClose={close}
      title={t("trust.title", { name: view?.name ?? "" })}
      description={t("trust.shown.text")}
      size="medium"
      data-testid={safetyIds.trust}
      actions={<Button onClick={close}>{t("trust.close")}</Button>}
    >
      {problem && <ProblemNote problem={problem} />}
      {view === null && problem === null && <Spinner label={t("trust.loading")} />}
      {view !== null && (
        <>
          <Place project={view.project.project} />
          {view.wants.length === 0 ? (
            <EmptyState compact title={t("trust.none")}>
              {t("trust.noneText")}
            </EmptyState>
          ) : (
            <WantList
              wants={view.wants}
              checked={new Set(view.wants.filter((want) => want.granted).map((want) => keyOf(want.access)))}
              onChange={(access, next) => void set(access, next)}
            />
          )}
          {earlier.length > 0 && (
            <>
              <h3 className="pt-4 pb-1 text-xs/inherit font-semibold">{t("trust.earlier")}</h3>
              <WantList
                wants={earlier}
                checked={new Set(earlier.map((want) => keyOf(want.access)))}
                onChange={(access, next) => void set(access, next)}
              />
            </>
          )}
        </>
      )}
    </Dialog>
  );
}
