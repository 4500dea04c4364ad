/** A dialog, for what can't be undone and for choosing files. It names what will happen; Escape is always "no". */
import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import type { ReactNode, RefObject } from "react";
import { t } from "../lib/texts";
import { Button } from "./Button";
import { iconButton } from "./recipes";
import { useFocusBefore } from "./useFocusBefore";
import { cx } from "./cx";
import { formsIds } from "../lib/testIds";

export interface DialogProps {
  open: boolean;
  onClose(): void;
  title: string;
  description?: ReactNode;
  /** Buttons, the safe one first. */
  actions?: ReactNode;
  size?: "small" | "medium" | "large" | "full";
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
  const finalFocus = useFocusBefore(open);
  return (
    <Base.Root
      open={open}
      onOpenChange={(next) => {
        if (!next) onClose();
      }}
    >
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-50 bg-shade" />
        <Base.Viewport className="fixed inset-0 z-51 grid grid-cols-1 place-items-center p-6 short:p-2 overflow-hidden">
          <Base.Popup
            className="outline-none relative flex flex-col w-full max-w-105 max-h-[calc(100vh-48px)] short:max-h-[calc(100vh-16px)] rounded-[10px] border border-line bg-surface-1 shadow-popup data-[size=medium]:max-w-150 data-[size=large]:max-w-190 data-[size=full]:h-full data-[size=full]:max-w-400"
            data-size={size}
            initialFocus={initialFocus}
            finalFocus={finalFocus}
            {...rest}
          >
            <Base.Title className="pt-4 pr-12 pb-2 pl-5 text-base font-semibold wrap-anywhere shrink-0">
              {title}
            </Base.Title>
            {description !== undefined && (
              <Base.Description
                className="max-h-[40vh] shrink-0 overflow-y-auto px-5 pb-2 text-text-2 text-pretty wrap-anywhere [&>p+p]:mt-2"
                render={<div />}
              >
                {description}
              </Base.Description>
            )}
            {children !== undefined && (
              <div className="flex flex-col flex-1 min-h-0 overflow-x-hidden overflow-y-auto pt-1 px-5 pb-3">
                {children}
              </div>
            )}
            {actions !== undefined && (
              <footer className="flex flex-wrap justify-end gap-2 pt-2 px-5 pb-4 shrink-0">{actions}</footer>
            )}
            {/* Last, so that the first control gets the focus; without a tooltip, which would take the first Escape. */}
            <Base.Close
              className={cx(iconButton("small"), "absolute top-3.5 right-3.5")}
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
            data-testid={formsIds.confirm}
          >
            {confirm}
          </Button>
        </>
      }
    />
  );
}
