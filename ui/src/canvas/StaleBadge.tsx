/** Says in words that a node would do something else if it ran again: what has changed since the run that is shown. */
import { CircleDashed } from "lucide-react";
import { useNodeOverlay } from "../debugger/overlay/overlay";
import type { Stale } from "../debugger/state/stale";
import { useStaleNode } from "../debugger/state/stale-nodes";
import { listed } from "../lib/intl";
import { debugIds } from "../lib/testIds";
import { t } from "../lib/texts";

/** Names that are said of each cause. */
const NAMED = 4;

const firstOf = (names: readonly string[]): string =>
  names.length > NAMED ? listed([...names.slice(0, NAMED), "…"]) : listed(names);

/** The shortest first: what the card has room for. */
function short({ settings, edges, keys }: Stale): string {
  if (settings.length > 0) return t("debug.stale.settings");
  return edges ? t("debug.stale.edges") : t("debug.stale.keys", { keys: firstOf(keys) });
}

function whole({ settings, edges, keys }: Stale): string {
  const fields = settings.map((pointer) => pointer.slice(1).replaceAll("/", " "));
  return [
    t("debug.stale.title"),
    ...(settings.length > 0 ? [t("debug.stale.settingsOf", { fields: firstOf(fields) })] : []),
    ...(edges ? [t("debug.stale.edgesTitle")] : []),
    ...(keys.length > 0 ? [t("debug.stale.keysTitle", { keys: firstOf(keys) })] : []),
  ].join("\n");
}

export function StaleBadge({ name }: { name: string }) {
  const stale = useStaleNode(name);
  const { runs } = useNodeOverlay(name);
  if (stale === undefined || runs === 0) return null;
  const text = whole(stale);
  return (
    <span
      className="absolute -top-2 left-2 z-1 inline-flex h-4 max-w-[75%] in-data-[drawing=middle]:max-w-[55%] items-center gap-1 rounded-lg border border-dashed border-paused bg-paused-soft px-1.5 text-[10px] font-semibold text-text in-data-[drawing=middle]:origin-bottom-left in-data-disabled:left-24 in-data-lit:left-20 in-data-[drawing=middle]:[scale:min(var(--unzoom),1.8)]"
      title={text}
      role="img"
      aria-label={text}
      data-testid={debugIds.stale(name)}
    >
      <CircleDashed size={11} strokeWidth={2.5} className="shrink-0 text-paused" aria-hidden />
      <span className="truncate">{short(stale)}</span>
    </span>
  );
}
