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
      className={cx("ss-empty", compact && "ss-empty-compact")}
      data-tone={tone}
      role={tone === "failed" ? "alert" : undefined}
    >
      {icon !== undefined && <div className="ss-empty-icon">{icon}</div>}
      <p className="ss-empty-title">{title}</p>
      {children !== undefined && <div className="ss-empty-text">{children}</div>}
      {action !== undefined && <div className="ss-empty-action">{action}</div>}
    </div>
  );
}
