/** A note as a card with its whole text, or as a frame: a title and a border behind the nodes. Its corner changes its size. */
import type { NodeProps } from "@xyflow/react";
import { memo, useRef, type PointerEvent, type ReactNode } from "react";
import { KindIcon } from "../components/KindIcon";
import { Markdown } from "../components/Markdown";
import { cx } from "../components/cx";
import { edit, sealHistory } from "../document/edit";
import { useRecord } from "../document/store";
import { shellIds, structureIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { FoldButton, FoldedFrame, useFolded } from "./FoldedFrame";
import { useKind } from "./kinds";
import { NOTE } from "../document/types";
import { NameEditor } from "./NodeCard";
import { type Note, type NoteColour, noteOf, resizeNote } from "./notes";
import { NodeName } from "./NodeName";
import { noteCards, noteClass } from "./recipes";
import { scene } from "./scene";
import { useCanvas } from "./store";

const FRAMES: Readonly<Record<NoteColour, string>> = {
  yellow: "border-asking bg-asking-soft/35",
  green: "border-done bg-done-soft/35",
  blue: "border-running bg-running-soft/35",
  purple: "border-paused bg-paused-soft/35",
  red: "border-failed bg-failed-soft/35",
  gray: "border-line-field bg-surface-3/35",
};
const noteTextClass =
  "min-h-0 flex-1 overflow-hidden pb-2 text-2xs/4.5 wrap-anywhere text-text-2 in-data-[drawing=middle]:text-[length:min(calc(9px*var(--unzoom)),20px)]/[1.35] [&_.markdown]:select-none [&_a]:pointer-events-auto";
const frameHeadClass = "pointer-events-auto flex h-8 shrink-0 items-center gap-2 px-3";
/** Beside the text in every drawing, so that a note is never an empty box. */
const noteHeadClass =
  "flex min-h-8 shrink-0 items-center gap-2 px-2.5 pt-1 in-data-[drawing=middle]:[&_svg]:hidden";

export const NoteCard = memo(function NoteCard({ id, selected }: NodeProps) {
  const note = noteOf(useRecord(`node:${id}`));
  const renaming = useCanvas((state) => state.renaming === id);
  const folded = useFolded(id);
  if (!note) return null;
  if (folded) return <FoldedFrame name={id} colour={note.colour} selected={selected} renaming={renaming} />;
  return (
    <div className="relative size-full">
      <NoteFace
        name={id}
        note={note}
        selected={selected}
        testId={shellIds.node(id)}
        action={note.frame && <FoldButton name={id} folded={false} />}
      >
        {renaming && <NameEditor name={id} />}
      </NoteFace>
      {selected && <Corner name={id} />}
    </div>
  );
});

/** Read again when the text changes, and not whenever the note is drawn. */
const Words = memo(function Words({ text }: { text: string }) {
  return <Markdown text={text} lines />;
});

interface FaceProps {
  readonly name: string;
  readonly note: Note;
  readonly selected?: boolean;
  readonly testId: string;
  /** What can be done to it, at the end of its head. */
  readonly action?: ReactNode;
  /** What is shown in place of the name. */
  readonly children?: ReactNode;
}

/** What a note looks like, without what can be done to it. */
export function NoteFace({ name, note, selected = false, testId, action, children }: FaceProps) {
  const kind = useKind(NOTE);
  const { frame, colour, text } = note;
  const words = t("notes.of", {
    kind: t(frame ? "notes.asFrame" : "notes.kind"),
    colour: t(`notes.colour.${colour}`),
  });
  return (
    <div
      className={cx(noteClass, frame ? FRAMES[colour] : noteCards[colour])}
      data-selected={selected || undefined}
      data-frame={frame || undefined}
      data-colour={colour}
      data-testid={testId}
      aria-label={t("canvas.node.label", { name, kind: words, state: "" })}
    >
      <div
        className={cx("note-grip", frame ? frameHeadClass : noteHeadClass)}
        data-testid={structureIds.noteGrip(name)}
      >
        {!frame && <KindIcon icon={kind?.icon ?? "sticky-note"} />}
        <div className="flex min-w-0 flex-1">
          {children || <NodeName name={name} data-testid={shellIds.nodeName(name)} />}
        </div>
        {action}
      </div>
      {text !== "" && (
        <div
          className={cx(noteTextClass, frame ? "px-3" : "px-2.5", selected && "nowheel overflow-y-auto")}
          data-testid={structureIds.noteText(name)}
        >
          <Words text={text} />
        </div>
      )}
    </div>
  );
}

/** The corner that changes the size; one drag is one step of undo. */
function Corner({ name }: { name: string }) {
  const begin = useRef<{ x: number; y: number; width: number; height: number; zoom: number } | null>(null);
  const onDown = (event: PointerEvent<HTMLSpanElement>) => {
    const [rect, drawn] = [scene.standing(name), scene.rect(name)];
    const box = event.currentTarget.parentElement?.getBoundingClientRect();
    if (event.button !== 0 || !rect || !drawn || !box) return;
    event.stopPropagation();
    event.currentTarget.setPointerCapture(event.pointerId);
    const { width, height } = rect;
    begin.current = { x: event.clientX, y: event.clientY, width, height, zoom: box.width / drawn.width };
  };
  const onMove = (event: PointerEvent<HTMLSpanElement>) => {
    const from = begin.current;
    if (!from) return;
    const size = {
      width: from.width + (event.clientX - from.x) / from.zoom,
      height: from.height + (event.clientY - from.y) / from.zoom,
    };
    edit(t("notes.edit.size", { name }), (document) => resizeNote(document, name, size), {
      merge: `node:${name}/size`,
    });
  };
  const onEnd = () => {
    if (begin.current) sealHistory();
    begin.current = null;
  };
  return (
    <span
      className="nodrag nopan pointer-events-auto absolute -right-1.5 -bottom-1.5 size-3.5 cursor-nwse-resize rounded-sm border-2 border-surface-2 bg-accent"
      title={t("notes.resize")}
      onPointerDown={onDown}
      onPointerMove={onMove}
      onPointerUp={onEnd}
      onPointerCancel={onEnd}
      onLostPointerCapture={onEnd}
      data-testid={structureIds.noteResize(name)}
    />
  );
}
