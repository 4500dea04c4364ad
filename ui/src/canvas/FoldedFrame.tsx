/** A folded frame as one card: its title, how many nodes are in it, and the state of the one that most wants attention. */
import { ChevronsDownUp, ChevronsUpDown, SquareStack } from "lucide-react";
import { Handle, Position } from "@xyflow/react";
import { useSyncExternalStore } from "react";
import { cx } from "../components/cx";
import { IconButton } from "../components/IconButton";
import { useUrgentOverlay } from "../debugger/overlay/overlay";
import { doc, useDiagnostics } from "../document/store";
import { nodeOf, NOTE } from "../document/types";
import { shellIds, structureIds } from "../lib/testIds";
import { t, tn } from "../lib/texts";
import { shortcutOf } from "../state/keymap";
import { toggleFolds } from "./folds";
import { PORT_Y } from "./geometry";
import { cardStyle, NameEditor, ProblemMark, StateMark, stateText } from "./NodeCard";
import type { NoteColour } from "./notes";
import { NodeName } from "./NodeName";
import { cardHeadClass, cardIconClass, cardSubClass, cardWordsClass, noteCards, noteClass } from "./recipes";
import { scene } from "./scene";

const listen = (listener: () => void) => scene.subscribe(listener);

export const useFolded = (name: string): boolean => useSyncExternalStore(listen, () => scene.isFolded(name));

/** Lies above a second card, as a stack does; its state has the outline that cards have. */
const foldedClass =
  "overflow-visible! shadow-[3px_3px_0_-1px_var(--surface-2),3px_3px_0_0_var(--line-field)] data-[state=asking]:outline-2 data-[state=asking]:outline-asking data-[state=failed]:outline-2 data-[state=failed]:outline-failed data-[state=running]:outline-2 data-[state=running]:outline-running";

const PORT_STYLE = { top: PORT_Y };

interface Props {
  readonly name: string;
  readonly colour: NoteColour;
  readonly selected: boolean;
  readonly renaming: boolean;
}

export function FoldedFrame({ name, colour, selected, renaming }: Props) {
  const held = useSyncExternalStore(listen, () => scene.heldBy(name));
  const overlay = useUrgentOverlay(held);
  const count = held.filter((each) => nodeOf(doc.get(`node:${each}`)).kind !== NOTE).length;
  const words = tn("folds.one", "folds.many", count);
  const inside = new Set(held.map((each) => `node:${each}`));
  const problems = useDiagnostics().filter(({ record }) => inside.has(record));
  const failed = problems.some(({ severity }) => severity === "error");
  return (
    <div className="relative size-full">
      <div
        className={cx(noteClass, noteCards[colour], foldedClass)}
        data-selected={selected || undefined}
        data-state={overlay.state}
        data-folded
        data-colour={colour}
        data-testid={shellIds.node(name)}
        style={cardStyle(name, 0, 0)}
        aria-label={t("canvas.node.label", { name, kind: words, state: stateText(overlay) })}
      >
        {/* The place where edges end. A new edge needs the frame unfolded. */}
        <Handle type="target" position={Position.Left} style={PORT_STYLE} isConnectable={false} />
        <Handle type="source" position={Position.Right} style={PORT_STYLE} isConnectable={false} />
        <div className={cx("note-grip", cardHeadClass)} data-testid={structureIds.noteGrip(name)}>
          <span className={cardIconClass}>
            <SquareStack size={16} aria-hidden />
          </span>
          <div className={cardWordsClass}>
            {renaming ? (
              <NameEditor name={name} />
            ) : (
              <NodeName name={name} data-testid={shellIds.nodeName(name)} />
            )}
            <span className={cardSubClass}>{words}</span>
          </div>
          <StateMark overlay={overlay} />
          <FoldButton name={name} folded />
        </div>
      </div>
      {problems.length > 0 && <ProblemMark tone={failed ? "failed" : "asking"} problems={problems} />}
    </div>
  );
}

export function FoldButton({ name, folded }: { name: string; folded: boolean }) {
  const Icon = folded ? ChevronsUpDown : ChevronsDownUp;
  return (
    <IconButton
      size="small"
      className="nodrag nopan flex-none in-data-[drawing=middle]:hidden"
      label={folded ? t("folds.unfold") : t("folds.fold")}
      shortcut={shortcutOf("view.foldFrame")}
      onClick={(event) => {
        event.stopPropagation();
        toggleFolds([name]);
      }}
      onDoubleClick={(event) => event.stopPropagation()}
      data-testid={structureIds.foldFrame(name)}
    >
      <Icon size={14} aria-hidden />
    </IconButton>
  );
}
