/** A button that is only an icon. The label is not optional: it is the tooltip and what a screen reader says. */
import { Button as BaseButton } from "@base-ui/react/button";
import type { ComponentProps, ReactNode } from "react";
import { Tooltip } from "./Tooltip";
import { cx } from "./cx";
import { iconButton } from "./recipes";

export interface IconButtonProps extends Omit<ComponentProps<typeof BaseButton>, "className" | "children"> {
  label: string;
  shortcut?: string;
  /** The icon. */
  children: ReactNode;
  /** Shown as pressed, for toggles. */
  pressed?: boolean;
  size?: "small" | "normal";
  variant?: "ghost" | "secondary" | "primary" | "danger";
  side?: "top" | "bottom" | "left" | "right";
  className?: string;
}

export function IconButton({
  label,
  shortcut,
  children,
  pressed,
  size = "normal",
  variant = "ghost",
  side,
  className,
  ...rest
}: IconButtonProps) {
  return (
    <Tooltip label={label} shortcut={shortcut} side={side}>
      <BaseButton
        {...rest}
        aria-label={label}
        aria-pressed={pressed}
        className={cx(iconButton(size, variant), className)}
      >
        {children}
      </BaseButton>
    </Tooltip>
  );
}
