/** A version in a list: what it is, and what is done with it. A click shows it on the canvas, another one hides it. */
import { GitCompareArrows, RotateCcw } from "lucide-react";
import { useState, type ReactNode } from "react";
import { Button } from "../../components/Button";
import { IconButton } from "../../components/IconButton";
import { useGraphMeta } from "../../document/store";
import { t } from "../../lib/texts";
import { showVersion, useVersionOf, type VersionName } from "../../state/shown-version";
import { restoreVersion } from "./actions";
import { VersionDiff } from "./VersionDiff";

export interface VersionRowProps {
  readonly id: string;
  /** What people call it. */
  readonly label: string;
  /** When it was made, as it is shown. */
  readonly time: string;
  /** Under the label. */
  readonly facts: ReactNode;
  /** The whole of what is cut. */
  readonly title?: string;
  /** Beside the label. */
  readonly badge?: ReactNode;
  /** The graph is this version. */
  readonly isCurrent?: boolean;
  /** Before the buttons that all versions have. */
  readonly action?: ReactNode;
  /** All versions, to compare with. */
  readonly versions: readonly VersionName[];
  readonly children?: ReactNode;
  readonly testId: string;
  onRestored(): void;
}

export function VersionRow({
  id,
  label,
  time,
  facts,
  title,
  badge,
  isCurrent = false,
  action,
  versions,
  children,
  testId,
  onRestored,
}: VersionRowProps) {
  const { graphId } = useGraphMeta();
  const shown = useVersionOf(graphId);
  const [busy, setBusy] = useState(false);
  const isShown = shown?.id === id;
  const show = (compare: boolean) => {
    if (graphId !== null) showVersion({ graphId, id, label, compare });
  };
  const restore = async () => {
    setBusy(true);
    await restoreVersion(id, time);
    setBusy(false);
    onRestored();
  };
  return (
    <li
      className="rounded-md px-2 py-1.5 hover:bg-surface-3 data-shown:bg-accent-soft"
      data-shown={isShown || undefined}
      data-testid={testId}
    >
      <div className="flex items-start gap-1">
        <button
          type="button"
          className="flex min-w-0 flex-1 flex-col text-left leading-4.5"
          aria-pressed={isShown}
          title={title}
          onClick={() => (isShown ? showVersion(null) : show(false))}
        >
          <span className="flex max-w-full items-center gap-1.5">
            <span className="truncate font-medium tabular-nums">{label}</span>
            {badge}
          </span>
          {facts}
        </button>
        {action}
        <IconButton size="small" label={t("versions.compare")} onClick={() => show(true)}>
          <GitCompareArrows size={13} aria-hidden />
        </IconButton>
        <Button
          size="small"
          icon={<RotateCcw size={13} aria-hidden />}
          aria-label={t("forms.versions.restoreLabel", { time })}
          busy={busy}
          disabled={isCurrent}
          onClick={() => void restore()}
        >
          {t("forms.versions.restore")}
        </Button>
      </div>
      {children}
      {isShown && shown.compare && <VersionDiff version={shown} versions={versions} />}
    </li>
  );
}
