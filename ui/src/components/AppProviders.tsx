/** What every component expects around it: the stylesheet, grouped tooltips and the place where notes appear. */
import type { ReactNode } from "react";
import { ToastProvider } from "./Toast";
import { TooltipProvider } from "./Tooltip";

export function AppProviders({ children }: { children: ReactNode }) {
  return (
    <TooltipProvider>
      <ToastProvider>{children}</ToastProvider>
    </TooltipProvider>
  );
}
