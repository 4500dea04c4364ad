/** A box to tick, with its text. */
import { Checkbox as Base } from "@base-ui/react/checkbox";
import { Check, Minus } from "lucide-react";
import type { ReactNode } from "react";

export interface CheckboxProps {
  checked: boolean;
  onChange(checked: boolean): void;
  indeterminate?: boolean;
  disabled?: boolean | undefined;
  children?: ReactNode;
  "aria-label"?: string;
  "data-testid"?: string;
}

export function Checkbox({ checked, onChange, indeterminate = false, children, ...rest }: CheckboxProps) {
  return (
    <label className="inline-flex items-center gap-2 min-h-6">
      <Base.Root
        {...rest}
        checked={checked}
        indeterminate={indeterminate}
        onCheckedChange={(next) => onChange(next)}
        className="inline-flex items-center justify-center rounded-sm border border-line-field bg-surface-2 shrink-0 size-4 data-checked:bg-accent data-checked:border-accent data-checked:text-on-accent data-indeterminate:bg-accent data-indeterminate:border-accent data-indeterminate:text-on-accent"
      >
        <Base.Indicator className="flex">
          {indeterminate ? <Minus size={11} strokeWidth={3} /> : <Check size={11} strokeWidth={3} />}
        </Base.Indicator>
      </Base.Root>
      {children !== undefined && <span>{children}</span>}
    </label>
  );
}
