/** Settings: what was allowed, by project, and how to take it back. */
import { useState } from "react";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { Spinner } from "../../components/Spinner";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import type { AccessView } from "../../ipc/bindings/AccessView";
import type { TrustProject } from "../../ipc/bindings/TrustProject";
import { rpc } from "../../ipc/client";
import { day } from "../../lib/intl";
import { safetyIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { showProblem } from "../../state/toasts";
import { useAnswer } from "../../debugger/model/useAnswer";
import { keyOf } from "./groups";
import { ICONS, nameOf } from "./WantList";
import { hintClass } from "../../components/recipes";

export function TrustSettings() {
  const list = useAnswer("trust", (signal) => rpc("trust.list", {}, signal), true);
  const [busy, setBusy] = useState(false);
  const revoke = async (project: string, accesses?: AccessView[]) => {
    setBusy(true);
    try {
      await rpc("trust.revoke", accesses === undefined ? { project } : { project, accesses });
    } catch (problem) {
      showProblem(problem);
    } finally {
      setBusy(false);
      list.again();
    }
  };
  if (list.problem) return <ProblemNote problem={list.problem} onRetry={list.again} />;
  if (!list.value) return <Spinner label={t("trust.loading")} />;
  if (list.value.projects.length === 0)
    return (
      <EmptyState compact title={t("trust.list.none")}>
        {t("trust.list.noneText")}
      </EmptyState>
    );
  return (
    <>
      <p className={hintClass}>{t("trust.list")}</p>
      {list.value.projects.map((project) => (
        <Project key={project.project} project={project} busy={busy} revoke={revoke} />
      ))}
    </>
  );
}

interface ProjectProps {
  project: TrustProject;
  busy: boolean;
  revoke(project: string, accesses?: AccessView[]): Promise<void>;
}

function Project({ project: { project, exists, granted }, busy, revoke }: ProjectProps) {
  const draft = project.startsWith("draft-");
  return (
    <section
      className="py-2 [&+&]:border-t [&+&]:border-line [&_header]:flex [&_header]:items-center [&_header]:gap-2 [&_header]:min-h-7 [&_li]:flex [&_li]:items-center [&_li]:gap-2 [&_li]:min-h-7 [&_header_code]:flex-1 [&_header_code]:min-w-0 [&_header_code]:wrap-anywhere [&_header_code]:font-semibold [&_li_code]:flex-1 [&_li_code]:min-w-0 [&_li_code]:wrap-anywhere [&_svg]:shrink-0 [&_svg]:text-text-3"
      data-testid={safetyIds.project}
    >
      <header>
        <code className="select-text">
          {draft ? t("trust.list.draft", { id: project.slice(6, 14) }) : project}
        </code>
        {!exists && <Badge>{t("trust.list.gone")}</Badge>}
        <Button size="small" disabled={busy} onClick={() => void revoke(project)}>
          {t("trust.revoke.all")}
        </Button>
      </header>
      <ul>
        {granted.map(({ access, at }) => {
          const Icon = ICONS[access.what];
          return (
            <li key={keyOf(access)} data-testid={safetyIds.grant(access.what, access.name)}>
              <Icon size={14} aria-label={t(`trust.what.${access.what}`)} />
              <code>{nameOf(access)}</code>
              <span className="text-xs/inherit text-text-3">{t("trust.list.at", { when: day(at) })}</span>
              <Button
                size="small"
                variant="ghost"
                disabled={busy}
                aria-label={t("trust.revoke.one", { name: nameOf(access) })}
                onClick={() => void revoke(project, [access])}
              >
                {t("trust.revoke")}
              </Button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
