/** The ways to two moments, side by side since they parted: what ran on both, and what on one side only. */
import { GitFork } from "lucide-react";
import { Fold } from "../../components/Fold";
import { nodeName } from "../../debugger/parts/format";
import type { PathComparison } from "../../ipc/bindings/PathComparison";
import type { PathStep } from "../../ipc/bindings/PathStep";
import type { PathStretch } from "../../ipc/bindings/PathStretch";
import { listed } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { describeStep } from "./describe";

/** Steps of a side that are listed of one stretch. */
const MOST = 50;

interface Props {
  paths: PathComparison;
  /** The threads. */
  left: string;
  right: string;
}

export function PathDiff({ paths, left, right }: Props) {
  const { stretches, onlyLeft, onlyRight, cut } = paths;
  if (stretches.length === 0) return null;
  const first = stretches.findIndex((stretch) => !stretch.same);
  const names = (nodes: readonly string[]) => listed(nodes.map(nodeName));
  return (
    <div className="border-b border-line" data-testid={debugIds.comparePath}>
      <Fold
        begin={first >= 0}
        head={
          <>
            <span className="shrink-0 text-xs font-semibold">
              {t(first < 0 ? "debug.compare.samePath" : "debug.compare.path")}
            </span>
            <span className="flex min-w-0 flex-wrap gap-x-3 text-2xs text-text-2">
              {onlyLeft.length > 0 && <span>{t("debug.compare.onlyLeft", { nodes: names(onlyLeft) })}</span>}
              {onlyRight.length > 0 && (
                <span>{t("debug.compare.onlyRight", { nodes: names(onlyRight) })}</span>
              )}
            </span>
          </>
        }
      >
        {() => (
          <div className="flex flex-col gap-1 px-3 pb-2 pl-7">
            {cut && <p className="text-xs text-text-2">{t("debug.compare.cutPath")}</p>}
            {stretches.map((stretch, index) => (
              <Stretch key={index} stretch={stretch} left={left} right={right} diverges={index === first} />
            ))}
          </div>
        )}
      </Fold>
    </div>
  );
}

function Stretch({
  stretch,
  left,
  right,
  diverges,
}: {
  stretch: PathStretch;
  left: string;
  right: string;
  diverges: boolean;
}) {
  const sides = (
    <div className="grid grid-cols-2 gap-2">
      <Steps steps={stretch.left} threadId={left} />
      <Steps steps={stretch.right} threadId={right} />
    </div>
  );
  if (stretch.same) {
    const count = tn("debug.compare.sameStepsOne", "debug.compare.sameSteps", stretch.left.length);
    return (
      <div>
        <Fold small head={count}>
          {() => sides}
        </Fold>
      </div>
    );
  }
  return (
    <div className="rounded-sm border border-line-field p-1">
      {diverges && (
        <p className="flex items-center gap-1 px-1 text-2xs text-text-2">
          <GitFork size={12} aria-hidden />
          {t("debug.compare.diverges")}
        </p>
      )}
      {sides}
    </div>
  );
}

function Steps({ steps, threadId }: { steps: readonly PathStep[]; threadId: string }) {
  const setCursor = useSession((session) => session.setCursor);
  if (steps.length === 0) return <p className="px-1 text-xs text-text-3">{t("debug.compare.noSteps")}</p>;
  return (
    <ol className="min-w-0">
      {steps.slice(0, MOST).map((step) => (
        <li key={step.id}>
          <button
            type="button"
            className="flex min-h-6 w-full min-w-0 items-center gap-2 rounded-sm px-1 text-left text-xs hover:bg-surface-3"
            onClick={() => setCursor({ threadId, checkpointId: step.id })}
            data-testid={debugIds.compareStep}
            data-step={step.step}
          >
            <span className="tabular-nums shrink-0 text-text-2">{t("debug.stepN", { n: step.step })}</span>
            <span className="truncate">{describeStep(step)}</span>
          </button>
        </li>
      ))}
      {steps.length > MOST && (
        <li className="px-1 text-xs text-text-2">
          {tn("debug.compare.moreStepsOne", "debug.compare.moreSteps", steps.length - MOST)}
        </li>
      )}
    </ol>
  );
}
