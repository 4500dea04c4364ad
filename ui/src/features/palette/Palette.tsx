/** The node kinds. A click puts one into the view; a drag carries it to its place. */
import { Search, Star } from "lucide-react";
import { useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import { addNodeAt, dragKind, overCanvas } from "../../canvas/actions";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { IconButton } from "../../components/IconButton";
import { KindIcon } from "../../components/KindIcon";
import { TextField } from "../../components/TextField";
import { Tooltip } from "../../components/Tooltip";
import type { NodeKind } from "../../ipc/bindings/NodeKind";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { toggleFavourite, useFavourites } from "./favourites";
import { kindGroups } from "./groups";
import { addChosen, useAddable, type Addable } from "./addable";
import { hasPreview, Preview } from "./Preview";
import { ranked } from "./ranking";
import { countUse } from "./use-counts";
import { panelBarClass, panelClass, searchCategoryClass } from "../../components/recipes";

const paletteHeadingClass = "pt-1 px-2 pb-0.5 text-2xs font-semibold text-text-3";
const paletteRowClass =
  "flex gap-2.5 w-full py-1.5 px-2 rounded-md text-left touch-none cursor-grab hover:bg-surface-3 focus-visible:-outline-offset-2 data-dragging:opacity-50 data-dragging:cursor-grabbing";
const paletteIconClass =
  "flex items-center justify-center rounded-md border border-line bg-surface-2 text-text-2 shrink-0 mt-0.5 size-7";

/** How far the pointer must go before a press becomes a drag. */
const DRAG_START = 4;

export interface PaletteProps {
  onPick?: (kind: string) => void;
}

export function Palette({ onPick = (kind) => void addNodeAt(kind) }: PaletteProps) {
  const kinds = useSession((state) => state.appInfo?.kinds);
  const [query, setQuery] = useState("");
  const list = useRef<HTMLDivElement>(null);
  const addable = useAddable();
  const searching = query.trim() !== "";
  const found = searching ? ranked(addable, query) : addable;
  const categoryOf = ({ kind }: NodeKind) => addable.find(({ id }) => id === `kind:${kind}`)?.category?.[0];
  const kindOf = ({ id }: Addable) => kinds?.find((kind) => id === `kind:${kind.kind}`);
  const foundKinds = found.flatMap((item) => kindOf(item) ?? []);
  const favourites = useFavourites((state) => state.kinds);
  const marked = foundKinds.filter(({ kind }) => favourites.includes(kind));
  const groups = searching
    ? [{ id: "found", title: "", kinds: foundKinds }]
    : [
        ...(marked.length > 0
          ? [{ id: "favourites", title: t("forms.palette.group.favourites"), kinds: marked }]
          : []),
        ...kindGroups(foundKinds.filter((kind) => !marked.includes(kind))),
      ];
  const graphs = found.filter((item) => item.id.startsWith("graph:"));
  const patterns = found.filter((item) => "pattern" in item.add);
  const blocks = found.filter((item) => "block" in item.add);

  const add = (item: Addable) =>
    addChosen(item, (kind, config) => {
      if (config) addNodeAt(kind, undefined, config);
      else onPick(kind);
    });

  const walk = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const rows = [...(list.current?.querySelectorAll<HTMLElement>("button:not([aria-pressed])") ?? [])];
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
            if (searching && found[0]) add(found[0]);
          }}
        />
      </div>
      <div className="flex-1 min-h-0 overflow-x-hidden overflow-y-auto px-2 pb-3" ref={list} onKeyDown={walk}>
        {found.length === 0 && (
          <EmptyState
            compact
            title={t("forms.palette.none")}
            action={
              <Button size="small" onClick={() => setQuery("")}>
                {t("forms.search.all")}
              </Button>
            }
          >
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
              <PaletteRow
                key={kind.kind}
                kind={kind}
                favourite={favourites.includes(kind.kind)}
                category={searching ? categoryOf(kind) : undefined}
                onPick={() => {
                  countUse(`kind:${kind.kind}`);
                  onPick(kind.kind);
                }}
              />
            ))}
          </section>
        ))}
        <Others
          title={t("forms.palette.patterns")}
          help={t("forms.palette.patternsHelp")}
          items={patterns}
          onAdd={add}
        />
        <Others title={t("blocks.title")} help={t("blocks.help")} items={blocks} onAdd={add} />
        <Others
          title={t("forms.search.graphs")}
          help={t("forms.search.graphText")}
          items={graphs}
          onAdd={add}
        />
        <p className="pt-3 px-2 text-2xs text-text-3 text-pretty">{t("forms.palette.help")}</p>
      </div>
    </div>
  );
}

function idOf({ id, title, add }: Addable): string {
  if ("pattern" in add) return formsIds.pattern(add.pattern.id);
  return "block" in add ? formsIds.block(title) : formsIds.searchEntry(id);
}

/** What is added by a click and not dragged. */
function Others({
  title,
  help,
  items,
  onAdd,
}: {
  title: string;
  help: string;
  items: readonly Addable[];
  onAdd(item: Addable): void;
}) {
  if (items.length === 0) return null;
  return (
    <section className="[&+&]:mt-2" aria-label={title}>
      <h2 className={paletteHeadingClass} title={help}>
        {title}
      </h2>
      {items.map((item) => {
        const row = (
          <button
            key={item.id}
            type="button"
            className={paletteRowClass}
            data-testid={idOf(item)}
            onClick={() => onAdd(item)}
          >
            <span className={paletteIconClass}>
              <KindIcon icon={item.icon} />
            </span>
            <span className="flex flex-col min-w-0">
              <span className="font-medium leading-4.5">{item.title}</span>
              <span className="text-2xs/[15px] text-text-3 text-pretty">{item.text}</span>
            </span>
          </button>
        );
        return hasPreview(item) ? (
          <Tooltip key={item.id} side="right" label={<Preview item={item} />}>
            {row}
          </Tooltip>
        ) : (
          row
        );
      })}
    </section>
  );
}

interface PaletteRowProps {
  readonly kind: NodeKind;
  readonly favourite: boolean;
  /** Said where the list has no headings. */
  readonly category: string | undefined;
  onPick(kind: string): void;
}

/** A kind, and the star that keeps it at the top. */
function PaletteRow({ kind, favourite, category, onPick }: PaletteRowProps) {
  return (
    <div className="group relative">
      <KindButton kind={kind} category={category} onPick={onPick} />
      <IconButton
        size="small"
        className="absolute top-1 right-1 not-aria-pressed:opacity-0 group-hover:opacity-100 focus-visible:opacity-100"
        label={t("forms.palette.favourite", { name: kind.title })}
        pressed={favourite}
        onClick={() => toggleFavourite(kind.kind)}
        data-testid={formsIds.favourite(kind.kind)}
      >
        <Star size={13} fill={favourite ? "currentColor" : "none"} />
      </IconButton>
    </div>
  );
}

function KindButton({ kind, category, onPick }: Omit<PaletteRowProps, "favourite">) {
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
        <span className="font-medium leading-4.5">
          {kind.title}
          {category !== undefined && <span className={searchCategoryClass}>{category}</span>}
        </span>
        <span className="text-2xs/[15px] text-text-3 text-pretty">{kind.summary}</span>
      </span>
    </button>
  );
}
