/** The state of the nested graph that the canvas shows, at its newest step: what changed in that step comes first. */
import { type Level } from "../../debugger/model/nested";
import { viewText, Pre } from "../../debugger/parts/Pre";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { useWithin } from "../../debugger/timeline/useWithin";
import type { WithinStep } from "../../ipc/bindings/WithinStep";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";

/** Keys with those first that the newest step changed. */
function nestedKeys(
  now: WithinStep,
  before: WithinStep | undefined,
): { readonly key: string; readonly changed: boolean }[] {
  const keys = Object.keys(now.state).map((key) => ({
    key,
    changed: before !== undefined && viewText(before.state[key]) !== viewText(now.state[key]),
  }));
  return keys.toSorted((a, b) => Number(b.changed) - Number(a.changed) || a.key.localeCompare(b.key, "en"));
}

export function NestedState({ threadId, levels }: { threadId: string; levels: readonly Level[] }) {
  const { steps, problem, loading, again } = useWithin(threadId, levels.at(-1)?.ns ?? null);
  const [now, before] = steps;
  const path = levels.map(({ node }) => node).join(" › ");
  return (
    <section
      className="min-h-0 flex-1 overflow-y-auto pb-4 text-xs"
      aria-label={t("debug.within.stateOf", { path })}
      data-testid={debugIds.nestedState}
    >
      <h3 className="px-3 py-1 font-semibold [overflow-wrap:anywhere]">
        {t("debug.within.stateOf", { path })}
        {now && (
          <span className="tabular-nums ml-2 font-normal text-text-2">
            {now.checkpoint.step < 0
              ? t("debug.within.input")
              : t("debug.within.step", { step: now.checkpoint.step })}
          </span>
        )}
      </h3>
      {problem && <ProblemNote problem={problem} onRetry={again} />}
      {!now && !problem && (
        <p className="px-3 text-text-2">{t(loading ? "debug.loading" : "debug.within.none")}</p>
      )}
      {now && Object.keys(now.state).length === 0 && (
        <p className="px-3 text-text-2">{t("debug.within.empty")}</p>
      )}
      {now && (
        <dl className="px-3">
          {nestedKeys(now, before).map(({ key, changed }) => (
            <div key={key} className="mt-1" data-changed={changed || undefined}>
              <dt className="flex items-center gap-1.5 font-mono text-text-2">
                {key}
                {changed && (
                  <span className="rounded-sm bg-accent-soft px-1 font-sans text-2xs text-accent-text">
                    {t("debug.within.changed")}
                  </span>
                )}
              </dt>
              <dd>
                <Pre height="short" tone="plain">
                  {viewText(now.state[key])}
                </Pre>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}
