/** The node kinds. A click puts one into the view; a drag carries it to its place. */
import { Search, Workflow } from "lucide-react";
import { useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import { addGraph, addNodeAt, dragKind, overCanvas } from "../../canvas/actions";
import { EmptyState } from "../../components/EmptyState";
import { fuzzyFilter } from "../../components/fuzzy";
import { KindIcon } from "../../components/KindIcon";
import { TextField } from "../../components/TextField";
import type { Example } from "../../ipc/bindings/Example";
import type { NodeKind } from "../../ipc/bindings/NodeKind";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { kindGroups } from "./groups";
import { panelBarClass, panelClass } from "../../components/recipes";

const paletteHeadingClass = "pt-1 px-2 pb-0.5 text-2xs font-semibold text-text-3";
const paletteRowClass =
  "flex gap-2.5 w-full py-1.5 px-2 rounded-md text-left touch-none cursor-grab hover:bg-surface-3 focus-visible:-outline-offset-2 data-dragging:opacity-50 data-dragging:cursor-grabbing";
const paletteIconClass =
  "flex items-center justify-center rounded-md border border-line bg-surface-2 text-text-2 shrink-0 mt-0.5 size-7";

/** How far the pointer must go before a press becomes a drag. */
const DRAG_START = 4;

const NONE: readonly Example[] = [];

export interface PaletteProps {
  onPick?: (kind: string) => void;
}

export function Palette({ onPick = (kind) => void addNodeAt(kind) }: PaletteProps) {
  const kinds = useSession((state) => state.appInfo?.kinds);
  const examples = useSession((state) => state.appInfo?.examples);
  const [query, setQuery] = useState("");
  const list = useRef<HTMLDivElement>(null);
  const found = fuzzyFilter(kinds ?? [], query, (kind) => [kind.title, kind.kind, kind.summary]);
  // What an example needs beside its graph would not come along.
  const patterns = fuzzyFilter(examples?.filter((example) => example.alone) ?? NONE, query, (example) => [
    example.name,
    example.id,
    example.summary,
  ]);
  const groups = query.trim() === "" ? kindGroups(found) : [{ id: "found", title: "", kinds: found }];

  const walk = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const rows = [...(list.current?.querySelectorAll<HTMLElement>("button") ?? [])];
    const at = rows.indexOf(document.activeElement as HTMLElement);
    const next = rows[event.key === "ArrowDown" ? at + 1 : at - 1];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };

  return (
    <div className={panelClass} data-testid={formsIds.palette}>
      <div className={panelBarClass}>
        <TextField
          prefix={<Search size={14} aria-hidden />}
          aria-label={t("forms.palette.search")}
          placeholder={t("forms.palette.search")}
          value={query}
          onChange={setQuery}
          onKeyDown={walk}
          onCommit={() => {
            if (found[0]) onPick(found[0].kind);
          }}
        />
      </div>
      <div className="flex-1 min-h-0 overflow-x-hidden overflow-y-auto px-2 pb-3" ref={list} onKeyDown={walk}>
        {found.length === 0 && patterns.length === 0 && (
          <EmptyState compact title={t("forms.palette.none")}>
            {t("forms.palette.noneHelp")}
          </EmptyState>
        )}
        {groups.map((group) => (
          <section
            key={group.id}
            className="[&+&]:mt-2"
            aria-label={group.title || t("forms.palette.results")}
          >
            {group.title !== "" && <h2 className={paletteHeadingClass}>{group.title}</h2>}
            {group.kinds.map((kind) => (
              <PaletteRow key={kind.kind} kind={kind} onPick={onPick} />
            ))}
          </section>
        ))}
        {patterns.length > 0 && (
          <section className="[&+&]:mt-2" aria-label={t("forms.palette.patterns")}>
            <h2 className={paletteHeadingClass} title={t("forms.palette.patternsHelp")}>
              {t("forms.palette.patterns")}
            </h2>
            {patterns.map((example) => (
              <button
                key={example.id}
                type="button"
                className={paletteRowClass}
                data-testid={formsIds.pattern(example.id)}
                onClick={() => addGraph(example.name, example.records)}
              >
                <span className={paletteIconClass}>
                  <Workflow size={16} aria-hidden />
                </span>
                <span className="flex flex-col min-w-0">
                  <span className="font-medium leading-4.5">{example.name}</span>
                  <span className="text-2xs/[15px] text-text-3 text-pretty">{example.summary}</span>
                </span>
              </button>
            ))}
          </section>
        )}
        <p className="pt-3 px-2 text-2xs text-text-3 text-pretty">{t("forms.palette.help")}</p>
      </div>
    </div>
  );
}

function PaletteRow({ kind, onPick }: { kind: NodeKind; onPick(kind: string): void }) {
  const start = useRef<{ x: number; y: number; id: number } | null>(null);
  const dragged = useRef(false);
  const [dragging, setDragging] = useState(false);

  const move = (event: PointerEvent<HTMLElement>) => {
    const from = start.current;
    if (from === null || event.pointerId !== from.id) return;
    if (!dragged.current) {
      if (Math.hypot(event.clientX - from.x, event.clientY - from.y) < DRAG_START) return;
      dragged.current = true;
      setDragging(true);
      event.currentTarget.setPointerCapture(event.pointerId);
    }
    dragKind(kind.kind, { x: event.clientX, y: event.clientY });
  };
  const end = (event: PointerEvent<HTMLElement>, drop: boolean) => {
    if (start.current === null) return;
    start.current = null;
    if (!dragged.current) return;
    setDragging(false);
    const point = { x: event.clientX, y: event.clientY };
    dragKind(kind.kind, null);
    if (drop && overCanvas(point)) addNodeAt(kind.kind, point);
  };

  return (
    <button
      type="button"
      className={paletteRowClass}
      data-testid={formsIds.paletteKind(kind.kind)}
      data-dragging={dragging || undefined}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        start.current = { x: event.clientX, y: event.clientY, id: event.pointerId };
        dragged.current = false;
      }}
      onPointerMove={move}
      onPointerUp={(event) => end(event, true)}
      onPointerCancel={(event) => end(event, false)}
      onKeyDown={(event) => {
        if (event.key === "Escape" && dragging) {
          start.current = null;
          setDragging(false);
          dragKind(kind.kind, null);
        }
      }}
      onClick={() => {
        // A drag ends with a click of its own, which is not meant.
        if (dragged.current) dragged.current = false;
        else onPick(kind.kind);
      }}
    >
      <span className={paletteIconClass}>
        <KindIcon icon={kind.icon} />
      </span>
      <span className="flex flex-col min-w-0">
        <span className="font-medium leading-4.5">{kind.title}</span>
        <span className="text-2xs/[15px] text-text-3 text-pretty">{kind.summary}</span>
      </span>
    </button>
  );
}
