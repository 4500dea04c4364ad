/** Menus: one that opens from a button, one that opens where the pointer is. Both take the same list of entries. */
import { ContextMenu as BaseContext } from "@base-ui/react/context-menu";
import { Menu as Base } from "@base-ui/react/menu";
import { Check, ChevronRight } from "lucide-react";
import { Fragment, type ReactElement, type ReactNode } from "react";
import { Kbd } from "./Kbd";

export type MenuEntry =
  | {
      id: string;
      label: string;
      icon?: ReactNode;
      shortcut?: string | undefined;
      disabled?: boolean | undefined;
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
        if ("separator" in entry) return <Base.Separator key={entry.id} className="ss-menu-separator" />;
        if ("heading" in entry) {
          return (
            <Base.Group key={entry.id}>
              <Base.GroupLabel className="ss-menu-heading">{entry.heading}</Base.GroupLabel>
            </Base.Group>
          );
        }
        if ("entries" in entry) {
          return (
            <Base.SubmenuRoot key={entry.id}>
              <Base.SubmenuTrigger className="ss-menu-item">
                <span className="ss-menu-icon">{entry.icon}</span>
                <span className="ss-menu-label">{entry.label}</span>
                <ChevronRight size={13} aria-hidden />
              </Base.SubmenuTrigger>
              <Base.Portal>
                <Base.Positioner className="ss-layer-popup" sideOffset={2}>
                  <Base.Popup className="ss-popup ss-menu">
                    <Entries entries={entry.entries} />
                  </Base.Popup>
                </Base.Positioner>
              </Base.Portal>
            </Base.SubmenuRoot>
          );
        }
        const inside = (
          <>
            <span className="ss-menu-icon">
              {entry.checked === true ? <Check size={14} aria-hidden /> : entry.icon}
            </span>
            <span className="ss-menu-label">{entry.label}</span>
            {entry.shortcut !== undefined && <Kbd keys={entry.shortcut} />}
          </>
        );
        if (entry.checked !== undefined) {
          return (
            <Base.CheckboxItem
              key={entry.id}
              className="ss-menu-item"
              checked={entry.checked}
              disabled={entry.disabled}
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
            className="ss-menu-item"
            data-danger={entry.danger || undefined}
            disabled={entry.disabled}
            onClick={() => entry.run()}
            data-testid={`menu-${entry.id}`}
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
  side?: "top" | "bottom" | "left" | "right";
}

export function Menu({ trigger, entries, align = "start", side = "bottom" }: MenuProps) {
  return (
    <Base.Root modal={false}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className="ss-layer-popup" sideOffset={4} align={align} side={side}>
          <Base.Popup className="ss-popup ss-menu">
            <Lazy entries={entries} />
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

export interface ContextMenuProps {
  entries: MenuEntry[] | (() => MenuEntry[]);
  children: ReactNode;
  className?: string;
  onOpenChange?: (open: boolean) => void;
}

/** Opens on right click, long press or the menu key over its children. */
export function ContextMenu({ entries, children, className, onOpenChange }: ContextMenuProps) {
  return (
    <BaseContext.Root onOpenChange={(open) => onOpenChange?.(open)}>
      <BaseContext.Trigger className={className}>{children}</BaseContext.Trigger>
      <BaseContext.Portal>
        <BaseContext.Positioner className="ss-layer-popup">
          <BaseContext.Popup className="ss-popup ss-menu">
            <Lazy entries={entries} />
          </BaseContext.Popup>
        </BaseContext.Positioner>
      </BaseContext.Portal>
    </BaseContext.Root>
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
        <Base.Positioner className="ss-layer-popup" anchor={anchor} align="start" side="bottom">
          <Base.Popup className="ss-popup ss-menu">
            <Fragment>{at !== null && <Entries entries={entries} />}</Fragment>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
