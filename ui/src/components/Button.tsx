/** The push button. `primary` is for the one thing a view is for; `danger` names what will be lost. */
import { Button as BaseButton } from "@base-ui/react/button";
import type { ComponentProps, ReactNode } from "react";
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

export function Button({
  variant = "secondary",
  size = "normal",
  icon,
  shortcut,
  busy = false,
  disabled,
  className,
  children,
  ...rest
}: ButtonProps) {
  return (
    <BaseButton
      {...rest}
      disabled={disabled === true || busy}
      focusableWhenDisabled={busy}
      aria-busy={busy || undefined}
      className={cx("ss-button", className)}
      data-variant={variant}
      data-size={size}
    >
      {busy ? <Spinner /> : icon}
      {children !== undefined && <span className="ss-button-text">{children}</span>}
      {shortcut !== undefined && <Kbd keys={shortcut} />}
    </BaseButton>
  );
}
