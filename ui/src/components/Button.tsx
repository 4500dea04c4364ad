/** The push button. `primary` is for the one thing a view is for; `danger` names what will be lost. */
import { Button as BaseButton } from "@base-ui/react/button";
import type { ComponentProps, ReactNode, SyntheticEvent } from "react";
import { Kbd } from "./Kbd";
import { Spinner } from "./Spinner";
import { cx } from "./cx";

export interface ButtonProps extends Omit<ComponentProps<typeof BaseButton>, "className"> {
  variant?: "primary" | "secondary" | "ghost" | "danger";
  size?: "small" | "normal" | "large";
  icon?: ReactNode;
  shortcut?: string;
  busy?: boolean;
  className?: string;
}

const LOOK =
  "inline-flex max-w-full shrink-0 items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap transition-[background-color] data-disabled:opacity-50 [&>svg]:shrink-0";

const VARIANTS = {
  primary: "border-transparent bg-accent text-on-accent not-data-disabled:hover:bg-accent-hover",
  secondary:
    "border-line-strong bg-surface-2 text-text not-data-disabled:hover:bg-surface-3 not-data-disabled:active:bg-surface-4",
  ghost:
    "border-transparent text-text-2 not-data-disabled:hover:bg-surface-3 not-data-disabled:hover:text-text not-data-disabled:active:bg-surface-4 data-popup-open:bg-surface-4",
  danger: "border-failed bg-surface-2 text-failed not-data-disabled:hover:bg-failed-soft",
};

const SIZES = { small: "h-6 px-2 text-xs", normal: "h-7 px-2.5 text-sm/4", large: "h-9 px-4 text-sm/4" };

const stop = (event: SyntheticEvent) => event.preventDefault();

/**
 * A button that does nothing for now and keeps the focus. Base UI's own takes every key but Tab, those of the window, too.
 */
const HELD = {
  "aria-disabled": true,
  "data-disabled": "",
  onClick: stop,
  onPointerDown: stop,
  onMouseDown: undefined,
  onKeyDown: undefined,
  onKeyUp: undefined,
};

export function Button({
  variant = "secondary",
  size = "normal",
  icon,
  shortcut,
  busy = false,
  disabled = false,
  focusableWhenDisabled = false,
  className,
  children,
  ...rest
}: ButtonProps) {
  const isHeld = busy || (disabled && focusableWhenDisabled);
  return (
    <BaseButton
      {...rest}
      {...(isHeld && HELD)}
      disabled={disabled && !isHeld}
      aria-busy={busy || undefined}
      className={cx(
        LOOK,
        VARIANTS[variant],
        SIZES[size],
        busy ? "cursor-progress" : "data-disabled:cursor-not-allowed",
        className,
      )}
      data-variant={variant}
    >
      {busy ? <Spinner /> : icon}
      {children !== undefined && <span className="overflow-hidden text-ellipsis">{children}</span>}
      {shortcut !== undefined && <Kbd keys={shortcut} />}
    </BaseButton>
  );
}
