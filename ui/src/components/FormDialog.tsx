/** A dialog with a form: Cancel, one button that saves, and Enter in a field saves as well. */
import { useId, type ReactNode } from "react";
import { t } from "../lib/texts";
import { Button } from "./Button";
import { Dialog, type DialogProps } from "./Dialog";
import { cx } from "./cx";

export interface FormDialogProps extends Omit<DialogProps, "open" | "actions"> {
  /** Text of the button that saves. */
  save: ReactNode;
  /** What is in the fields can be saved. */
  isDone: boolean;
  busy?: boolean;
  onSave(): void;
  saveTestId?: string;
  className?: string;
}

export function FormDialog({
  save,
  isDone,
  busy = false,
  onSave,
  saveTestId,
  className,
  children,
  ...dialog
}: FormDialogProps) {
  const form = useId();
  return (
    <Dialog
      open
      {...dialog}
      actions={
        <>
          <Button onClick={dialog.onClose}>{t("forms.cancel")}</Button>
          {/* Below the form and yet its submit button: without one, Enter does nothing in a form of several fields. */}
          <Button
            type="submit"
            form={form}
            variant="primary"
            disabled={!isDone}
            busy={busy}
            data-testid={saveTestId}
          >
            {save}
          </Button>
        </>
      }
    >
      <form
        id={form}
        className={cx("flex flex-col", className)}
        onSubmit={(event) => {
          event.preventDefault();
          if (isDone && !busy) onSave();
        }}
      >
        {children}
      </form>
    </Dialog>
  );
}
