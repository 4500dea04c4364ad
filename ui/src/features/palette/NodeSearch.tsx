/**
 * The search that opens on an empty spot of the canvas and where a wire is dropped: new nodes by kind and by what people
 * call them, patterns, blocks, graphs of the folder, and, for a wire, the nodes that are there already.
 */
import { Flag, Play } from "lucide-react";
import { useEffect, useId, useLayoutEffect, useRef, useState, type KeyboardEvent } from "react";
import type { NodeSearchProps } from "../../canvas/NodeSearchSlot";
import { Button } from "../../components/Button";
import { KindIcon } from "../../components/KindIcon";
import { END, START } from "../../document/types";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { hasPreview, Preview } from "./Preview";
import { ranked } from "./ranking";
import { useEntries, type Entry } from "./search-entries";
import { menuHeadingClass, popupClass, searchCategoryClass } from "../../components/recipes";
import { cx } from "../../components/cx";

const WIDTH = 300;
const HEIGHT = 360;
/** Rows of the list: typing finds the others. */
const MOST = 100;

/** Rows of the short list of the usual kinds. */
const USUAL = 6;

/** The usual kinds alone, and the way to everything else. */
function usualOf(entries: readonly Entry[], more: () => void): Entry[] {
  const usual = entries.filter(({ id }) => id.startsWith("kind:")).slice(0, USUAL);
  const last = { id: "more", group: "", icon: "search", title: t("wires.search.more"), text: "", words: [] };
  return [...usual, { ...last, stays: true, run: more }];
}

export function NodeSearch(props: NodeSearchProps) {
  const { at, fromWire, places, onClose } = props;
  const [usual, setUsual] = useState(props.usual === true);
  const [query, setQuery] = useState("");
  const [active, setActive] = useState(0);
  const listId = useId();
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const popup = useRef<HTMLDivElement>(null);
  const [shift, setShift] = useState({ x: 0, y: 0 });

  useLayoutEffect(() => {
    const focus = () => (input.current ?? list.current)?.focus({ preventScroll: true });
    // At once, so that the next key of who types on is not the canvas's; and again, as the pointer that opened it has
    // often still the focus of its own to give.
    focus();
    const frame = requestAnimationFrame(focus);
    return () => cancelAnimationFrame(frame);
  }, [usual]);
  useLayoutEffect(() => {
    const box = popup.current?.getBoundingClientRect();
    const height = box?.height ?? HEIGHT;
    setShift({
      x: Math.min(0, window.innerWidth - 8 - (at.x + WIDTH)),
      y: Math.min(0, window.innerHeight - 8 - (at.y + height)),
    });
  }, [at.x, at.y, query, usual]);

  const entries = useEntries(props);
  const searching = query.trim() !== "";
  const all = usual ? usualOf(entries, () => setUsual(false)) : searching ? ranked(entries, query) : entries;
  const found = all.slice(0, MOST);
  const chosen = Math.min(active, found.length - 1);
  useEffect(() => {
    document.getElementById(`${listId}${chosen}`)?.scrollIntoView({ block: "nearest" });
  }, [chosen, listId]);

  const shown = found[chosen];
  const run = (entry: Entry | undefined) => {
    if (!entry) return;
    entry.run();
    if (entry.stays !== true) onClose();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key === "ArrowDown") setActive((chosen + 1) % Math.max(1, found.length));
    else if (event.key === "ArrowUp") setActive((chosen - 1 + found.length) % Math.max(1, found.length));
    else if (event.key === "Enter") run(found[chosen]);
    else if (event.key === "Escape" || event.key === "Tab") onClose();
    else if (usual && event.key.length === 1 && !event.ctrlKey && !event.metaKey) {
      // Who types searches.
      setUsual(false);
      setQuery(event.key);
    } else return;
    event.preventDefault();
  };

  return (
    <>
      <div className="fixed inset-0 z-60" onPointerDown={onClose} />
      <div
        ref={popup}
        className={cx(popupClass, "fixed z-61 flex flex-col")}
        role="dialog"
        aria-label={fromWire ? t("forms.search.wireLabel", { node: fromWire.node }) : t("forms.search.label")}
        style={{
          left: at.x + shift.x,
          top: at.y + shift.y,
          width: WIDTH,
          maxHeight: `min(${HEIGHT}px, 100vh - 16px)`,
        }}
        data-testid={formsIds.nodeSearch}
        onKeyDown={onKeyDown}
      >
        {!usual && (
          <input
            ref={input}
            className="outline-none h-9 shrink-0 px-3 bg-transparent border-b border-line"
            role="combobox"
            aria-expanded
            aria-controls={listId}
            aria-activedescendant={found.length > 0 ? `${listId}${chosen}` : undefined}
            aria-label={t("forms.search.label")}
            placeholder={
              places
                ? t("wires.move.placeholder")
                : fromWire
                  ? t("forms.search.wirePlaceholder")
                  : t("forms.search.placeholder")
            }
            spellCheck={false}
            value={query}
            onChange={(event) => {
              setQuery(event.target.value);
              setActive(0);
            }}
          />
        )}
        <div
          className="flex-1 min-h-0 overflow-y-auto p-1 scroll-p-1 outline-none"
          ref={list}
          role="listbox"
          tabIndex={usual ? 0 : undefined}
          aria-activedescendant={usual ? `${listId}${chosen}` : undefined}
          id={listId}
          aria-label={t("forms.search.label")}
        >
          {found.length === 0 && (
            <div className="flex items-center justify-between gap-2 py-1.5 px-2 text-xs/inherit text-text-2">
              {t("forms.search.none")}
              <Button
                size="small"
                variant="ghost"
                onClick={() => {
                  setQuery("");
                  input.current?.focus();
                }}
              >
                {t("forms.search.all")}
              </Button>
            </div>
          )}
          {found.map((entry, index) => (
            <div key={entry.id}>
              {!searching && entry.group !== "" && entry.group !== found[index - 1]?.group && (
                <p className={menuHeadingClass}>{entry.group}</p>
              )}
              <div
                id={`${listId}${index}`}
                role="option"
                aria-selected={index === chosen}
                className="flex items-center gap-2 min-h-7 px-2 rounded-[5px] [&>svg]:shrink-0 [&>svg]:text-text-2 data-active:bg-accent-soft"
                data-active={index === chosen || undefined}
                data-testid={formsIds.searchEntry(entry.id)}
                onPointerMove={() => setActive(index)}
                onClick={() => run(entry)}
              >
                {entry.icon === END ? (
                  <Flag size={15} aria-hidden />
                ) : entry.icon === START ? (
                  <Play size={15} aria-hidden />
                ) : (
                  <KindIcon icon={entry.icon} size={15} />
                )}
                <span className="shrink-0 max-w-[60%] truncate">{entry.title}</span>
                {searching && entry.category?.[0] !== undefined && (
                  <span className={searchCategoryClass}>{entry.category[0]}</span>
                )}
                <span className="flex-1 min-w-0 text-2xs/inherit text-text-3 text-right truncate">
                  {entry.text}
                </span>
              </div>
            </div>
          ))}
        </div>
        {shown && hasPreview(shown) && (
          <div className="shrink-0 border-t border-line p-2">
            <Preview item={shown} />
          </div>
        )}
      </div>
    </>
  );
}
