/** Every problem of the document, by the record it belongs to. A click goes there and puts the cursor into the field. */
import { CircleAlert, CircleCheck, TriangleAlert } from "lucide-react";
import { useRef, type KeyboardEvent } from "react";
import { goToRecord } from "../../canvas/go-to";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { InlineCode } from "../../components/InlineCode";
import { useDiagnostics } from "../../document/store";
import { useWaits } from "../../canvas/waiting-problems";
import { sectionOf } from "../../document/types";
import type { Diagnostic } from "../../ipc/bindings/Diagnostic";
import { formsIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { quickFixOf } from "../../document/quick-fixes";
import { panelClass } from "../../components/recipes";

/** The record in words. */
function placeText(record: string): string {
  const place = sectionOf(record);
  switch (place?.section) {
    case "node":
      return t("forms.problems.node", { name: place.name });
    case "edge":
      return t("forms.problems.edge", {
        name: place.name.replaceAll("__start__", t("forms.start")).replaceAll("__end__", t("forms.end")),
      });
    case "key":
      return t("forms.problems.key", { name: place.name });
    case "layout":
      return t("forms.problems.layout", { name: place.name });
    default:
      return t("forms.problems.graph");
  }
}

/** By record, the worst first, otherwise in the order they were found. */
function groupProblems(problems: readonly Diagnostic[]): { record: string; problems: Diagnostic[] }[] {
  const groups = new Map<string, Diagnostic[]>();
  for (const problem of problems) {
    const group = groups.get(problem.record);
    if (group) group.push(problem);
    else groups.set(problem.record, [problem]);
  }
  const rank = (problem: Diagnostic) => (problem.severity === "error" ? 0 : 1);
  return [...groups]
    .map(([record, list]) => ({ record, problems: list.toSorted((a, b) => rank(a) - rank(b)) }))
    .sort((a, b) => rank(a.problems[0]!) - rank(b.problems[0]!));
}

export function ProblemsPanel() {
  const problems = useDiagnostics();
  const waits = useWaits();
  const list = useRef<HTMLDivElement>(null);
  if (problems.length === 0) {
    return (
      <EmptyState compact icon={<CircleCheck size={20} />} title={t("forms.problems.none")}>
        {t("forms.problems.noneHelp")}
      </EmptyState>
    );
  }
  const waiting = problems.filter(waits).length;
  const errors = problems.filter((problem) => problem.severity === "error" && !waits(problem)).length;
  const warnings = problems.length - errors - waiting;
  const walk = (event: KeyboardEvent) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const rows = [...(list.current?.querySelectorAll<HTMLElement>("button") ?? [])];
    const next =
      rows[rows.indexOf(document.activeElement as HTMLElement) + (event.key === "ArrowDown" ? 1 : -1)];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };
  let index = 0;
  return (
    <div className={panelClass} data-testid={formsIds.problems}>
      <p className="flex gap-1.5 pt-2 px-3 pb-1 shrink-0" role="status">
        {errors > 0 && (
          <Badge tone="failed" icon={<CircleAlert size={12} aria-hidden />}>
            {tn("forms.problems.errors.one", "forms.problems.errors.many", errors)}
          </Badge>
        )}
        {warnings > 0 && (
          <Badge tone="warning" icon={<TriangleAlert size={12} aria-hidden />}>
            {tn("forms.problems.warnings.one", "forms.problems.warnings.many", warnings)}
          </Badge>
        )}
        {waiting > 0 && (
          <Badge>{tn("forms.problems.waiting.one", "forms.problems.waiting.many", waiting)}</Badge>
        )}
      </p>
      <div
        className="flex-1 min-h-0 overflow-x-hidden overflow-y-auto"
        ref={list}
        onKeyDown={walk}
        aria-label={t("forms.problems.list")}
      >
        {groupProblems(problems).map((group) => (
          <section key={group.record} aria-label={placeText(group.record)}>
            <h3 className="pt-1.5 px-3 pb-0.5 text-2xs font-semibold text-text-2 wrap-anywhere">
              {placeText(group.record)}
            </h3>
            {group.problems.map((problem) => {
              const Icon = problem.severity === "error" ? CircleAlert : TriangleAlert;
              const at = index++;
              const mend = quickFixOf(problem.code, problem);
              return (
                <div
                  key={`${problem.code}${problem.pointer ?? ""}${problem.message}`}
                  className="flex items-center pr-3"
                >
                  <button
                    type="button"
                    className="min-w-0 flex gap-2 w-full py-1 px-3 text-left text-xs/4.5 hover:bg-surface-3 focus-visible:-outline-offset-2 [&>svg]:shrink-0 [&>svg]:mt-0.5 [&>svg]:text-failed data-[severity=warning]:[&>svg]:text-asking data-[severity=hint]:[&>svg]:text-text-3"
                    data-severity={waits(problem) ? "hint" : problem.severity}
                    data-testid={formsIds.problem(at)}
                    onClick={() => goToRecord(problem.record, problem.pointer ?? null)}
                  >
                    <Icon
                      size={14}
                      aria-label={t(
                        waits(problem)
                          ? "forms.problems.hint"
                          : problem.severity === "error"
                            ? "forms.problems.error"
                            : "forms.problems.warning",
                      )}
                    />
                    <span className="[&_code]:text-2xs/inherit [&_code]:px-0.75 [&_code]:rounded-[3px] [&_code]:bg-surface-4 [&_code]:text-text-2 flex-1 min-w-0 wrap-anywhere">
                      <InlineCode text={problem.message} />{" "}
                      <span className="text-text-2">
                        <InlineCode text={problem.remedy} />
                      </span>
                    </span>
                    <code className="text-2xs/inherit text-text-3 shrink-0 mt-px">{problem.code}</code>
                  </button>
                  {mend && (
                    <Button size="small" onClick={mend.run} data-testid={formsIds.mend}>
                      {mend.label}
                    </Button>
                  )}
                </div>
              );
            })}
          </section>
        ))}
      </div>
    </div>
  );
}
