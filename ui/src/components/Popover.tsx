/** Something small that opens beside its button and closes on Escape or a click elsewhere. */
import { Popover as Base } from "@base-ui/react/popover";
import type { ReactElement, ReactNode } from "react";
import { cx } from "./cx";
import { popupClass } from "./recipes";

export interface PopoverProps {
  trigger: ReactElement;
  label: string;
  children: ReactNode;
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  side?: "top" | "bottom" | "left" | "right";
  align?: "start" | "center" | "end";
  className?: string;
}

export function Popover({
  trigger,
  label,
  children,
  open,
  onOpenChange,
  side = "bottom",
  align = "start",
  className,
}: PopoverProps) {
  return (
    <Base.Root {...(open !== undefined && { open })} onOpenChange={(next) => onOpenChange?.(next)}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className="outline-none z-60" sideOffset={6} side={side} align={align}>
          <Base.Popup
            className={cx(
              popupClass,
              "p-3 max-w-[min(360px,var(--available-width))] max-h-(--available-height) overflow-y-auto",
              className,
            )}
            aria-label={label}
          >
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
