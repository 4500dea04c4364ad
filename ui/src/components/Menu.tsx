/** Menus: one that opens from a button, one that opens where the pointer is. Both take the same list of entries. */
import { Menu as Base } from "@base-ui/react/menu";
import { Check, ChevronRight } from "lucide-react";
import { Fragment, type ReactElement, type ReactNode } from "react";
import { Kbd } from "./Kbd";
import { menuHeadingClass, popupClass } from "./recipes";
import { cx } from "./cx";
import { formsIds } from "../lib/testIds";

const menuClass = "min-w-50 max-w-85 p-1 max-h-(--available-height) overflow-y-auto";
const menuItemClass =
  "outline-none flex items-center gap-2 h-7 pr-2 pl-1.5 rounded-[5px] w-full data-highlighted:bg-surface-3 data-popup-open:bg-surface-3 data-disabled:opacity-45 data-danger:text-failed";
const menuReasonClass = "h-auto data-disabled:opacity-70";
const menuIconClass = "inline-flex w-4 justify-center text-text-2 shrink-0 in-data-danger:text-inherit";

export type MenuEntry =
  | {
      id: string;
      label: string;
      icon?: ReactNode;
      shortcut?: string | undefined;
      disabled?: boolean | undefined;
      /** Why it can not be used; null or absent when it can. It is shown below the label. */
      off?: string | null;
      danger?: boolean;
      /** Shown with a tick; makes the entry a switch. */
      checked?: boolean;
      run(): void;
    }
  | { id: string; label: string; icon?: ReactNode; entries: MenuEntry[] }
  | { id: string; heading: string }
  | { id: string; separator: true };

function Entries({ entries }: { entries: MenuEntry[] }) {
  return (
    <>
      {entries.map((entry) => {
        if ("separator" in entry)
          return <Base.Separator key={entry.id} className="h-px my-1 -mx-1 bg-line" />;
        if ("heading" in entry) {
          return (
            <Base.Group key={entry.id}>
              <Base.GroupLabel className={menuHeadingClass}>{entry.heading}</Base.GroupLabel>
            </Base.Group>
          );
        }
        if ("entries" in entry) {
          return (
            <Base.SubmenuRoot key={entry.id}>
              <Base.SubmenuTrigger className={menuItemClass}>
                <span className={menuIconClass}>{entry.icon}</span>
                <span className="flex-1 min-w-0 truncate">{entry.label}</span>
                <ChevronRight size={13} aria-hidden />
              </Base.SubmenuTrigger>
              <Base.Portal>
                <Base.Positioner className="outline-none z-60" sideOffset={2}>
                  <Base.Popup className={cx(popupClass, menuClass)}>
                    <Entries entries={entry.entries} />
                  </Base.Popup>
                </Base.Positioner>
              </Base.Portal>
            </Base.SubmenuRoot>
          );
        }
        const inside = (
          <>
            <span className={menuIconClass}>
              {entry.checked === true ? <Check size={14} aria-hidden /> : entry.icon}
            </span>
            {entry.off ? (
              <span className="flex min-w-0 flex-1 flex-col py-1">
                <span className="truncate">{entry.label}</span>
                <span className="text-2xs whitespace-normal">{entry.off}</span>
              </span>
            ) : (
              <span className="flex-1 min-w-0 truncate">{entry.label}</span>
            )}
            {entry.shortcut !== undefined && <Kbd keys={entry.shortcut} />}
          </>
        );
        if (entry.checked !== undefined) {
          return (
            <Base.CheckboxItem
              key={entry.id}
              className={cx(menuItemClass, entry.off && menuReasonClass)}
              checked={entry.checked}
              disabled={entry.disabled === true || !!entry.off}
              onCheckedChange={() => entry.run()}
              closeOnClick
            >
              {inside}
            </Base.CheckboxItem>
          );
        }
        return (
          <Base.Item
            key={entry.id}
            className={cx(menuItemClass, entry.off && menuReasonClass)}
            data-danger={entry.danger || undefined}
            disabled={entry.disabled === true || !!entry.off}
            onClick={() => entry.run()}
            data-testid={formsIds.menuEntry(entry.id)}
          >
            {inside}
          </Base.Item>
        );
      })}
    </>
  );
}

export interface MenuProps {
  /** The button; takes a ref and props. */
  trigger: ReactElement;
  /** A function is asked when the menu opens. */
  entries: MenuEntry[] | (() => MenuEntry[]);
  align?: "start" | "center" | "end";
  /** What has the focus after the menu; the trigger when absent. */
  finalFocus?: () => HTMLElement | null;
  side?: "top" | "bottom" | "left" | "right";
  /** For menus that a command opens too. */
  open?: boolean;
  onOpenChange?(open: boolean): void;
}

export function Menu({
  trigger,
  entries,
  align = "start",
  side = "bottom",
  finalFocus,
  ...opening
}: MenuProps) {
  return (
    <Base.Root modal={false} {...opening}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className="outline-none z-60" sideOffset={4} align={align} side={side}>
          <Base.Popup className={cx(popupClass, menuClass)} {...(finalFocus && { finalFocus })}>
            <Lazy entries={entries} />
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

function Lazy({ entries }: { entries: MenuEntry[] | (() => MenuEntry[]) }) {
  return <Entries entries={typeof entries === "function" ? entries() : entries} />;
}

export interface PointMenuProps {
  /** Where on the screen; null closes it. */
  at: { x: number; y: number } | null;
  entries: MenuEntry[];
  onClose(): void;
}

/** A menu at a point that the caller knows: what the canvas uses, which has its own pointer handling. */
export function PointMenu({ at, entries, onClose }: PointMenuProps) {
  const anchor = at && {
    getBoundingClientRect: () => DOMRect.fromRect({ x: at.x, y: at.y, width: 0, height: 0 }),
  };
  return (
    <Base.Root
      open={at !== null}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
      modal={false}
    >
      <Base.Portal>
        <Base.Positioner className="outline-none z-60" anchor={anchor} align="start" side="bottom">
          <Base.Popup className={cx(popupClass, menuClass)}>
            <Fragment>{at !== null && <Entries entries={entries} />}</Fragment>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
