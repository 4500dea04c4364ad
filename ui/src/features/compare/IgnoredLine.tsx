/** How many differences are left out, and the places that are; each comes back by its cross. */
import { EyeOff, X } from "lucide-react";
import { Fold } from "../../components/Fold";
import { IconButton } from "../../components/IconButton";
import { readablePath } from "../../debugger/parts/diff";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";

interface Props {
  readonly rules: readonly string[];
  /** Differences that they leave out here. */
  readonly count: number;
  onChange(rules: readonly string[]): void;
}

export function IgnoredLine({ rules, count, onChange }: Props) {
  if (rules.length === 0) return null;
  return (
    <div className="border-b border-line text-xs text-text-2" data-testid={debugIds.compareIgnored}>
      <Fold
        head={
          <span className="flex items-center gap-1.5">
            <EyeOff size={13} aria-hidden />
            {tn("debug.compare.ignoredOne", "debug.compare.ignored", count)}
          </span>
        }
      >
        {() => (
          <ul className="px-7 pb-2" aria-label={t("debug.compare.rules")}>
            {rules.map((rule) => (
              <li key={rule} className="flex items-center gap-1">
                <code className="min-w-0 truncate font-mono">{readablePath(rule)}</code>
                <IconButton
                  size="small"
                  label={t("debug.compare.include")}
                  onClick={() => onChange(rules.filter((each) => each !== rule))}
                >
                  <X size={12} aria-hidden />
                </IconButton>
              </li>
            ))}
          </ul>
        )}
      </Fold>
    </div>
  );
}
