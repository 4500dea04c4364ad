/** Over the canvas while it shows a version of the graph: which one, how to compare it, and the way back. */
import { GitCompareArrows, History, RotateCcw, X } from "lucide-react";
import { Button } from "../components/Button";
import { restoreVersion } from "../features/versions";
import { versionsIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { setComparing, showVersion, type ShownVersion } from "../state/shown-version";

export function VersionBar({ version }: { version: ShownVersion }) {
  const { label, compare, against } = version;
  const words =
    compare && against
      ? t("versions.shownTwo", { version: label, other: against.label })
      : t("versions.shown", { version: label });
  return (
    <div
      className="absolute top-2.5 left-1/2 z-6 flex w-max max-w-[calc(100%-20px)] -translate-x-1/2 flex-wrap items-center gap-1.5 rounded-lg border border-line-strong bg-surface-2 py-1 pr-1 pl-2.5 text-xs shadow-md"
      role="status"
      data-testid={versionsIds.bar}
    >
      <span className="flex max-w-full min-w-0 items-center gap-1.5" title={words}>
        <History size={14} className="shrink-0 text-text-3" aria-hidden />
        <span className="truncate font-semibold">{words}</span>
      </span>
      <Button
        size="small"
        variant={version.compare ? "secondary" : "ghost"}
        icon={<GitCompareArrows size={14} aria-hidden />}
        aria-pressed={version.compare}
        onClick={() => setComparing(!version.compare)}
        data-testid={versionsIds.compare}
      >
        {t("versions.compare")}
      </Button>
      <Button
        size="small"
        variant="ghost"
        icon={<RotateCcw size={14} aria-hidden />}
        onClick={() => void restoreVersion(version.id, version.label)}
      >
        {t("forms.versions.restore")}
      </Button>
      <Button
        size="small"
        variant="ghost"
        icon={<X size={14} aria-hidden />}
        onClick={() => showVersion(null)}
        data-testid={versionsIds.current}
      >
        {t("versions.showCurrent")}
      </Button>
    </div>
  );
}
