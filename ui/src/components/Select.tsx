/** One of a few. Values may be any JSON; options are found again by their place in the list. */
import { Select as Base } from "@base-ui/react/select";
import { Check, ChevronsUpDown } from "lucide-react";
import type { ReactNode } from "react";
import { cx } from "./cx";
import { useFieldAria } from "./Field";
import { inputClass, optionClass, popupClass } from "./recipes";

interface SelectOption<V> {
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
      <Base.Trigger
        {...aria}
        {...rest}
        className={cx(
          inputClass,
          "cursor-default px-2 focus-visible:border-focus focus-visible:outline-1 focus-visible:outline-offset-0 focus-visible:outline-focus data-popup-open:border-focus data-popup-open:outline-1 data-popup-open:outline-offset-0 data-popup-open:outline-focus [&>svg]:shrink-0",
          size === "small" ? "min-h-6! text-xs/4.5" : "text-sm/4.5",
          className,
        )}
      >
        {chosen >= 0 && options[chosen]?.icon}
        <span
          className="flex-1 min-w-0 truncate data-placeholder:text-text-3"
          data-placeholder={chosen < 0 || options[chosen]?.absent || undefined}
        >
          {chosen >= 0 ? options[chosen]?.label : (placeholder ?? "")}
        </span>
        <Base.Icon className="flex text-text-3 shrink-0">
          <ChevronsUpDown size={13} aria-hidden />
        </Base.Icon>
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner className="outline-none z-60" sideOffset={4} alignItemWithTrigger={false}>
          <Base.Popup
            className={cx(
              popupClass,
              "w-max min-w-(--anchor-width) max-w-[min(420px,var(--available-width))]",
            )}
          >
            <Base.List className="max-h-[min(320px,var(--available-height,320px))] overflow-y-auto p-1 scroll-p-1">
              {options.map((option, index) => (
                <Base.Item
                  key={index}
                  value={String(index)}
                  disabled={option.disabled}
                  className={optionClass}
                >
                  <Base.ItemIndicator
                    className="flex w-3.5 shrink-0 mt-0.5 text-accent-text invisible data-selected:visible in-data-selected:visible"
                    keepMounted
                  >
                    <Check size={13} aria-hidden />
                  </Base.ItemIndicator>
                  {option.icon}
                  <span className="flex flex-col flex-1 min-w-0">
                    <Base.ItemText data-label>{option.label}</Base.ItemText>
                    {option.description !== undefined && (
                      <span className="text-2xs/[15px] text-text-3">{option.description}</span>
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
