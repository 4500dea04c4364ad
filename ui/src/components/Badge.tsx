/** A small mark: a count, a type, a state. Its tone is never the only sign; it always has a text. */
import type { ReactNode } from "react";
import { cx } from "./cx";

export type Tone = "neutral" | "accent" | "running" | "done" | "asking" | "failed" | "paused" | "warning";

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
    <span className={cx("ss-badge", className)} data-tone={tone} data-mono={mono || undefined} title={title}>
      {icon}
      {children}
    </span>
  );
}
