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
      className="ss-switch"
    >
      <Base.Thumb className="ss-switch-thumb" />
    </Base.Root>
  );
}
