/** On or off, at once. */
import { Switch as Base } from "@base-ui/react/switch";
import { useFieldAria } from "./Field";

export interface SwitchProps {
  checked: boolean;
  onChange(checked: boolean): void;
  disabled?: boolean | undefined;
  readOnly?: boolean | undefined;
  "aria-label"?: string;
  "data-testid"?: string;
}

export function Switch({ checked, onChange, ...rest }: SwitchProps) {
  const aria = useFieldAria();
  return (
    <Base.Root
      {...aria}
      {...rest}
      checked={checked}
      onCheckedChange={(next) => onChange(next)}
      className="relative inline-flex w-7.5 h-4.5 rounded-[9px] bg-line-field shrink-0 transition-[background-color] data-checked:bg-accent data-disabled:opacity-50"
    >
      <Base.Thumb className="absolute top-0.5 left-0.5 rounded-full bg-white transition-[transform] forced-colors:bg-surface-2 size-3.5 data-checked:translate-x-3" />
    </Base.Root>
  );
}
