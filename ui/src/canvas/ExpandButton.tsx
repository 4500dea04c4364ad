/** The button on the card of a node that runs another graph: draws that graph in the card, or folds it again. */
import { ChevronsDownUp, ChevronsUpDown } from "lucide-react";
import { useCallback, useSyncExternalStore } from "react";
import { IconButton } from "../components/IconButton";
import { structureIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { shortcutOf } from "../state/keymap";
import { isExpanded, onExpanded, toggleExpanded } from "./expansions";

export function ExpandButton({ name }: { name: string }) {
  const expanded = useSyncExternalStore(
    onExpanded,
    useCallback(() => isExpanded(name), [name]),
  );
  const Icon = expanded ? ChevronsDownUp : ChevronsUpDown;
  return (
    <IconButton
      size="small"
      className="nodrag nopan -mr-1 flex-none in-data-[drawing=middle]:hidden"
      label={t(expanded ? "expand.fold" : "expand.expand")}
      shortcut={shortcutOf("view.expandNode")}
      aria-expanded={expanded}
      onClick={(event) => {
        event.stopPropagation();
        toggleExpanded([name]);
      }}
      onDoubleClick={(event) => event.stopPropagation()}
      data-testid={structureIds.expandNode(name)}
    >
      <Icon size={14} aria-hidden />
    </IconButton>
  );
}
