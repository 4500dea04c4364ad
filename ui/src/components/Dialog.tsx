/** A dialog, for what can't be undone and for choosing files. It names what will happen; Escape is always "no". */
import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import type { ReactNode, RefObject } from "react";
import { t } from "../lib/texts";
import { Button } from "./Button";

export interface DialogProps {
  open: boolean;
  onClose(): void;
  title: string;
  description?: ReactNode;
  /** Buttons, the safe one first. */
  actions?: ReactNode;
  size?: "small" | "medium" | "large";
  /** What takes the focus; the first control otherwise. */
  initialFocus?: RefObject<HTMLElement | null>;
  children?: ReactNode;
  "data-testid"?: string;
}

export function Dialog({
  open,
  onClose,
  title,
  description,
  actions,
  size = "small",
  initialFocus,
  children,
  ...rest
}: DialogProps) {
  return (
    <Base.Root
      open={open}
      onOpenChange={(next) => {
        if (!next) onClose();
      }}
    >
      <Base.Portal>
        <Base.Backdrop className="ss-backdrop" />
        <Base.Viewport className="ss-dialog-viewport">
          <Base.Popup className="ss-dialog" data-size={size} initialFocus={initialFocus} {...rest}>
            <Base.Title className="ss-dialog-title">{title}</Base.Title>
            {description !== undefined && (
              <Base.Description className="ss-dialog-text" render={<div />}>
                {description}
              </Base.Description>
            )}
            {children !== undefined && <div className="ss-dialog-body">{children}</div>}
            {actions !== undefined && <footer className="ss-dialog-actions">{actions}</footer>}
            {/* Last, so that the first control gets the focus; without a tooltip, which would take the first Escape. */}
            <Base.Close
              className="ss-icon-button ss-dialog-close"
              data-size="small"
              data-variant="ghost"
              aria-label={t("forms.close")}
            >
              <X size={15} aria-hidden />
            </Base.Close>
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}

export interface ConfirmProps {
  open: boolean;
  title: string;
  /** What will be lost. */
  text: ReactNode;
  confirm: string;
  cancel?: string;
  danger?: boolean;
  onConfirm(): void;
  onCancel(): void;
  busy?: boolean;
}

/** Asks before something is lost. */
export function ConfirmDialog({
  open,
  title,
  text,
  confirm,
  cancel,
  danger = true,
  onConfirm,
  onCancel,
  busy,
}: ConfirmProps) {
  return (
    <Dialog
      open={open}
      onClose={onCancel}
      title={title}
      description={text}
      actions={
        <>
          <Button onClick={onCancel}>{cancel ?? t("forms.cancel")}</Button>
          <Button
            variant={danger ? "danger" : "primary"}
            onClick={onConfirm}
            busy={busy ?? false}
            data-testid="confirm"
          >
            {confirm}
          </Button>
        </>
      }
    />
  );
}
