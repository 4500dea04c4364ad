/** Says that wires are out of sight, how many, and brings them back; and marks the cards whose wires those are. */
import { EyeOff } from "lucide-react";
import { useMemo, useSyncExternalStore } from "react";
import { Button } from "../components/Button";
import { shellIds } from "../lib/testIds";
import { t, tn } from "../lib/texts";
import { useSession } from "../state/session";
import { isOutOfSight } from "./folds";
import { showAllWires, toggleNodes, useHidden } from "./hidden-wires";
import { scene } from "./scene";

export function HiddenWires() {
  const hidden = useHidden();
  const selection = useSession((state) => state.selection);
  const version = useSyncExternalStore(
    (listener) => scene.subscribe(listener),
    () => scene.version,
  );
  const count = useMemo(() => {
    void version;
    if (!hidden.others && hidden.nodes.length === 0) return 0;
    let found = 0;
    for (const line of scene.lines().values()) if (isOutOfSight(line, hidden, selection)) found += 1;
    return found;
  }, [hidden, selection, version]);
  if (!hidden.others && count === 0) return null;
  return (
    <div
      className="absolute top-2 left-1/2 z-10 flex -translate-x-1/2 items-center gap-2 rounded-lg border border-line bg-surface-1 py-0.5 pr-0.5 pl-2.5 text-xs text-text-2"
      role="status"
      data-testid={shellIds.hiddenWires}
    >
      <EyeOff size={13} aria-hidden />
      {tn("wires.hidden.one", "wires.hidden.many", count)}
      <Button size="small" variant="ghost" onClick={showAllWires}>
        {t("wires.hidden.show")}
      </Button>
    </div>
  );
}

/** On a card whose wires are not drawn; a click draws them. */
export function HiddenMark({ name }: { name: string }) {
  const { nodes } = useHidden();
  if (!nodes.includes(name)) return null;
  return (
    <button
      type="button"
      className="nodrag nopan absolute -right-2 -bottom-2 grid size-5 place-items-center rounded-full border border-line-field bg-surface-2 text-text-2 hover:border-accent hover:text-accent-text in-data-[drawing=middle]:origin-bottom-right in-data-[drawing=middle]:[scale:min(var(--unzoom),1.8)]"
      title={t("wires.hidden.node", { name })}
      aria-label={t("wires.hidden.node", { name })}
      onClick={(event) => {
        event.stopPropagation();
        toggleNodes([name]);
      }}
      data-testid={shellIds.hiddenMark(name)}
    >
      <EyeOff size={11} aria-hidden />
    </button>
  );
}
