/** A small mark: a count, a type, a state. Its tone is never the only sign; it always has a text. */
import type { ReactNode } from "react";
import { cx } from "./cx";

type Tone = "neutral" | "accent" | "running" | "done" | "asking" | "failed" | "paused" | "warning";

export interface BadgeProps {
  tone?: Tone;
  icon?: ReactNode;
  mono?: boolean;
  title?: string;
  className?: string;
  children?: ReactNode;
}

export function Badge({ tone = "neutral", icon, mono = false, title, className, children }: BadgeProps) {
  return (
    <span
      className={cx(
        "inline-flex items-center gap-1 h-4.5 px-1.5 rounded-sm text-2xs tabular-nums bg-surface-4 text-text-2 shrink-0 max-w-full truncate [&>svg]:shrink-0 data-mono:font-mono data-[tone=accent]:bg-accent-soft data-[tone=accent]:text-accent-text data-[tone=running]:bg-running-soft data-[tone=running]:text-running data-[tone=done]:bg-done-soft data-[tone=done]:text-done data-[tone=asking]:bg-asking-soft data-[tone=asking]:text-asking data-[tone=warning]:bg-asking-soft data-[tone=warning]:text-asking data-[tone=failed]:bg-failed-soft data-[tone=failed]:text-failed data-[tone=paused]:bg-paused-soft data-[tone=paused]:text-paused",
        className,
      )}
      data-tone={tone}
      data-mono={mono || undefined}
      title={title}
    >
      {icon}
      {children}
    </span>
  );
}
