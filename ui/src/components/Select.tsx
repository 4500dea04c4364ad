/** One of a few. Values may be any JSON; options are found again by their place in the list. */
import { Select as Base } from "@base-ui/react/select";
import { Check, ChevronsUpDown } from "lucide-react";
import type { ReactNode } from "react";
import { cx } from "./cx";
import { useFieldAria } from "./Field";

export interface SelectOption<V> {
  value: V;
  label: string;
  description?: string | undefined;
  icon?: ReactNode;
  disabled?: boolean;
  /** Stands for nothing that was chosen. */
  absent?: boolean;
}

export interface SelectProps<V> {
  value: V | undefined;
  options: SelectOption<V>[];
  onChange(value: V): void;
  placeholder?: string;
  disabled?: boolean | undefined;
  size?: "small" | "normal";
  className?: string;
  same?: (a: V, b: V) => boolean;
  "aria-label"?: string;
  "data-testid"?: string;
}

export function Select<V>({
  value,
  options,
  onChange,
  placeholder,
  disabled,
  size = "normal",
  className,
  same = Object.is,
  ...rest
}: SelectProps<V>) {
  const aria = useFieldAria();
  const chosen = value === undefined ? -1 : options.findIndex((option) => same(option.value, value));
  return (
    <Base.Root
      value={chosen < 0 ? null : String(chosen)}
      onValueChange={(index) => {
        const option = options[Number(index)];
        if (index !== null && option) onChange(option.value);
      }}
      disabled={disabled}
      modal={false}
      items={options.map((option, index) => ({ value: String(index), label: option.label }))}
    >
      <Base.Trigger {...aria} {...rest} className={cx("ss-input ss-select", className)} data-size={size}>
        {chosen >= 0 && options[chosen]?.icon}
        <span
          className="ss-select-value"
          data-placeholder={chosen < 0 || options[chosen]?.absent || undefined}
        >
          {chosen >= 0 ? options[chosen]?.label : (placeholder ?? "")}
        </span>
        <Base.Icon className="ss-select-icon">
          <ChevronsUpDown size={13} aria-hidden />
        </Base.Icon>
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner className="ss-layer-popup" sideOffset={4} alignItemWithTrigger={false}>
          <Base.Popup className="ss-popup ss-list-popup">
            <Base.List className="ss-list">
              {options.map((option, index) => (
                <Base.Item key={index} value={String(index)} disabled={option.disabled} className="ss-option">
                  <Base.ItemIndicator className="ss-option-check" keepMounted>
                    <Check size={13} aria-hidden />
                  </Base.ItemIndicator>
                  {option.icon}
                  <span className="ss-option-texts">
                    <Base.ItemText className="ss-option-label">{option.label}</Base.ItemText>
                    {option.description !== undefined && (
                      <span className="ss-option-text">{option.description}</span>
                    )}
                  </span>
                </Base.Item>
              ))}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
