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
    <label className="ss-checkbox-row">
      <Base.Root
        {...rest}
        checked={checked}
        indeterminate={indeterminate}
        onCheckedChange={(next) => onChange(next)}
        className="ss-checkbox"
      >
        <Base.Indicator className="ss-checkbox-mark">
          {indeterminate ? <Minus size={11} strokeWidth={3} /> : <Check size={11} strokeWidth={3} />}
        </Base.Indicator>
      </Base.Root>
      {children !== undefined && <span>{children}</span>}
    </label>
  );
}
