/** What a panel shows when it has nothing: what would be here, and the one step that brings it. */
import type { ReactNode } from "react";
import { cx } from "./cx";

export interface EmptyStateProps {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
  /** The one step, usually a button. */
  action?: ReactNode;
  tone?: "neutral" | "failed";
  compact?: boolean;
}

export function EmptyState({
  icon,
  title,
  children,
  action,
  tone = "neutral",
  compact = false,
}: EmptyStateProps) {
  return (
    <div
      className={cx(
        "flex min-h-0 flex-col items-center justify-center gap-1 text-center text-text-2",
        compact ? "px-3 py-4" : "h-full px-6 py-8",
      )}
      data-tone={tone}
      role={tone === "failed" ? "alert" : undefined}
    >
      {icon !== undefined && <div className="text-text-3 mb-1 in-data-[tone=failed]:text-failed">{icon}</div>}
      <p className="font-semibold text-text">{title}</p>
      {children !== undefined && (
        <div className="max-w-[40ch] text-xs/4.5 text-pretty [&_code]:text-2xs/inherit [&_code]:px-0.75 [&_code]:rounded-[3px] [&_code]:bg-surface-4 [&_code]:text-text-2">
          {children}
        </div>
      )}
      {action !== undefined && <div className="flex gap-2 mt-2.5">{action}</div>}
    </div>
  );
}
