/** A short label beside what the pointer or the keyboard is on, with its shortcut. */
import { Tooltip as Base } from "@base-ui/react/tooltip";
import type { ReactElement, ReactNode } from "react";
import { Kbd } from "./Kbd";

export interface TooltipProps {
  label: ReactNode;
  shortcut?: string | undefined;
  side?: "top" | "bottom" | "left" | "right" | undefined;
  /** One element that takes a ref and props. */
  children: ReactElement;
}

export function Tooltip({ label, shortcut, side = "bottom", children }: TooltipProps) {
  return (
    <Base.Root>
      <Base.Trigger render={children} />
      <Base.Portal>
        <Base.Positioner side={side} sideOffset={6} className="z-80">
          <Base.Popup className="flex items-center gap-2 max-w-80 py-1 px-2 rounded-md text-xs bg-surface-2 text-text border border-line shadow-popup">
            {label}
            {shortcut !== undefined && <Kbd keys={shortcut} />}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

/** Put once around the app: tooltips that follow each other open without delay. */
export function TooltipProvider({ children }: { children: ReactNode }) {
  return (
    <Base.Provider delay={450} closeDelay={0}>
      {children}
    </Base.Provider>
  );
}
